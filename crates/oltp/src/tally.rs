//! What terminals count: operations, how long they took, and what they changed.

use crate::input::Operation;
use crate::way::Outcome;
use hdrhistogram::Histogram;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::time::Duration;

/// Warehouse, district and number of an order.
pub(crate) type OrderKey = (i32, i32, i32);

/// Counts of one terminal, or of all together.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Tally {
    /// By operation, within the measured time.
    pub(crate) operations: [OperationTally; 5],
    /// Operations completed by the terminal at any time, by operation; of all terminals, that with the fewest.
    pub(crate) least_completed: [u64; 5],
    /// Everything that was changed, before the measured time as well.
    pub(crate) ledger: Ledger,
    /// The orders made, at any time. Only a crash asks for them.
    #[serde(skip)]
    pub(crate) orders: Vec<OrderKey>,
    /// Repetitions within the measured time, by reason.
    pub(crate) retries: BTreeMap<String, u64>,
    /// Operations that were given up within the measured time, by reason.
    pub(crate) errors: BTreeMap<String, u64>,
    /// Operations completed in each second of the measured time.
    pub(crate) series: Vec<[u32; 5]>,
    /// With a rate: operations that were due and had not begun when the clock stopped.
    pub(crate) backlog: u64,
    /// How long after the clock stopped a terminal was still at work, in microseconds; of all terminals, the longest.
    pub(crate) late_us: u64,
}

/// Counts of one operation.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct OperationTally {
    /// Done and committed.
    pub(crate) committed: u64,
    /// Orders that had to be rolled back.
    pub(crate) refused: u64,
    /// From the first attempt to the end, in microseconds.
    #[serde(serialize_with = "write_histogram", deserialize_with = "read_histogram")]
    pub(crate) latency: Histogram<u64>,
}

/// What operations have changed: the database must show exactly this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Ledger {
    /// Orders made.
    pub orders: u64,
    /// Their lines.
    pub lines: u64,
    /// Payments made.
    pub payments: u64,
    /// Their sum, in hundredths.
    pub paid_cents: i64,
    /// Orders delivered.
    pub delivered: u64,
    /// Operations whose commit was sent, but whose answer was lost: nobody knows.
    pub unknown: u64,
}

impl Ledger {
    /// Adds what an operation did.
    pub(crate) fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Ordered { lines, .. } => {
                self.orders += 1;
                self.lines += lines;
            }
            Outcome::Paid { cents } => {
                self.payments += 1;
                self.paid_cents += cents;
            }
            Outcome::Delivered { orders } => self.delivered += orders,
            Outcome::Refused | Outcome::Read { .. } => {}
        }
    }

    fn join(&mut self, other: &Self) {
        self.orders += other.orders;
        self.lines += other.lines;
        self.payments += other.payments;
        self.paid_cents += other.paid_cents;
        self.delivered += other.delivered;
        self.unknown += other.unknown;
    }
}

/// More than anybody counts.
const MOST: u64 = 1 << 50;
const MOST_REASONS: usize = 1000;

/// As pairs of a value and how often it came.
fn write_histogram<S: Serializer>(histogram: &Histogram<u64>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(histogram.iter_recorded().map(|value| (value.value_iterated_to(), value.count_at_value())))
}

fn read_histogram<'de, D: Deserializer<'de>>(from: D) -> Result<Histogram<u64>, D::Error> {
    let mut histogram = OperationTally::default().latency;
    for (value, count) in Vec::<(u64, u64)>::deserialize(from)? {
        histogram.record_n(value, count).map_err(serde::de::Error::custom)?;
    }
    Ok(histogram)
}

impl OperationTally {
    /// Operations that came to their end.
    pub(crate) fn completed(&self) -> u64 {
        self.committed + self.refused
    }
}

impl Default for OperationTally {
    fn default() -> Self {
        Self { committed: 0, refused: 0, latency: Histogram::new(3).expect("three digits are allowed") }
    }
}

impl Tally {
    /// What cannot be, since everything that was measured was also done: programs of others count by themselves.
    pub(crate) fn contradictions(&self, terminals: usize, seconds: f64) -> Vec<String> {
        let done = [Some(self.ledger.orders), Some(self.ledger.payments), None, None, None];
        let mut found = Vec::new();
        if self.series.len() as f64 > seconds.ceil() + 1.0 {
            found.push(format!("there are {} seconds in {seconds:.1} s", self.series.len()));
        }
        for (at, tally) in self.operations.iter().enumerate() {
            let name = Operation::ALL[at].name();
            if done[at].is_some_and(|done| tally.committed > done) {
                found.push(format!("{name}: {} measured, which are more than were done", tally.committed));
            }
            // One order of a hundred is to be refused; five standard deviations more are no accident.
            let orders = if at == Operation::NewOrder as usize { tally.completed() } else { 0 };
            let most = orders as f64 * 0.01 + 5.0 * (orders as f64 * 0.01).sqrt() + terminals as f64;
            if tally.refused > 0 && (orders == 0 || tally.refused as f64 > most) {
                found.push(format!("{name}: {} refused, of {}", tally.refused, tally.completed()));
            }
            let (count, timed) = (tally.completed(), tally.latency.len());
            let series: u64 = self.series.iter().map(|second| u64::from(second[at])).sum();
            if timed != count || series != count {
                found.push(format!("{name}: {count} counted, {timed} timed, {series} in all seconds"));
            }
        }
        found
    }

    /// Counts a completed operation within the measured time.
    pub(crate) fn measured(
        &mut self,
        operation: Operation,
        outcome: Outcome,
        latency: Duration,
        second: usize,
    ) {
        let tally = &mut self.operations[operation as usize];
        match outcome {
            Outcome::Refused => tally.refused += 1,
            _ => tally.committed += 1,
        }
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        tally.latency.record(micros).expect("a histogram that grows");
        if self.series.len() <= second {
            self.series.resize(second + 1, [0; 5]);
        }
        self.series[second][operation as usize] += 1;
    }

    /// Adds up the tallies of all terminals.
    pub(crate) fn sum(all: &[Self]) -> Self {
        let mut sum = Self { least_completed: [u64::MAX; 5], ..Self::default() };
        for each in all {
            for (into, from) in sum.operations.iter_mut().zip(&each.operations) {
                into.committed += from.committed;
                into.refused += from.refused;
                into.latency.add(&from.latency).expect("a histogram that grows");
            }
            for (into, from) in sum.least_completed.iter_mut().zip(each.least_completed) {
                *into = from.min(*into);
            }
            sum.ledger.join(&each.ledger);
            sum.backlog += each.backlog;
            sum.late_us = sum.late_us.max(each.late_us);
            sum.orders.extend(&each.orders);
            for (into, from) in [(&mut sum.retries, &each.retries), (&mut sum.errors, &each.errors)] {
                for (reason, count) in from {
                    *into.entry(reason.clone()).or_default() += count;
                }
            }
            if sum.series.len() < each.series.len() {
                sum.series.resize(each.series.len(), [0; 5]);
            }
            for (into, from) in sum.series.iter_mut().flatten().zip(each.series.iter().flatten()) {
                *into += from;
            }
        }
        sum
    }

    /// Whether all counts are small enough to be added up.
    pub(crate) fn is_countable(&self) -> bool {
        let Ledger { orders, lines, payments, paid_cents, delivered, unknown } = self.ledger;
        let operations =
            self.operations.iter().flat_map(|each| [each.committed, each.refused, each.latency.len()]);
        let reasons = self.errors.values().chain(self.retries.values()).copied();
        let ledger = [orders, lines, payments, paid_cents.unsigned_abs(), delivered, unknown];
        let all = operations.chain(reasons).chain(ledger).chain([self.backlog, self.late_us]);
        all.into_iter().all(|count| count <= MOST) && self.errors.len() + self.retries.len() <= MOST_REASONS
    }

    /// Changes the reasons of repetitions and errors, which others may have written.
    pub(crate) fn map_reasons(&mut self, change: impl Fn(&str) -> String) {
        for reasons in [&mut self.errors, &mut self.retries] {
            for (reason, count) in std::mem::take(reasons) {
                // Some may have become equal.
                *reasons.entry(change(&reason)).or_default() += count;
            }
        }
    }

    /// The time that all operations took together, repetitions included, in seconds.
    pub(crate) fn busy_s(&self) -> f64 {
        let of = |each: &OperationTally| each.latency.mean() * each.latency.len() as f64 / 1e6;
        self.operations.iter().map(of).sum()
    }

    /// The longest that an operation took, in microseconds.
    pub(crate) fn longest_us(&self) -> u64 {
        self.operations.iter().map(|each| each.latency.max()).max().unwrap_or(0)
    }

    /// Operations completed within the measured time.
    pub(crate) fn completed(&self) -> u64 {
        self.operations.iter().map(OperationTally::completed).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_was_done() {
        let paid = Outcome::Paid { cents: 150 };
        let mut tally = Tally::default();
        tally.measured(Operation::Payment, paid, Duration::from_millis(2), 0);
        assert_eq!(tally.contradictions(1, 1.0), ["payment: 1 measured, which are more than were done"]);
        tally.ledger.add(paid);
        assert_eq!(tally.contradictions(1, 1.0), [""; 0]);
        assert!(tally.is_countable());
        tally.ledger.paid_cents = i64::MIN;
        assert!(!tally.is_countable());
        tally.operations[3].committed = 5;
        assert_eq!(tally.contradictions(1, 1.0), ["delivery: 5 counted, 0 timed, 0 in all seconds"]);
        tally = Tally::default();
        tally.measured(Operation::StockLevel, Outcome::Refused, Duration::from_millis(2), 3);
        assert_eq!(
            tally.contradictions(1, 1.0),
            ["there are 4 seconds in 1.0 s", "stock level: 1 refused, of 1"]
        );
        tally = Tally::default();
        for _ in 0..40 {
            tally.measured(Operation::NewOrder, Outcome::Refused, Duration::from_millis(2), 0);
        }
        assert_eq!(tally.contradictions(1, 1.0), ["new order: 40 refused, of 40"]);
    }

    #[test]
    fn sums_are_exact() {
        let mut one = Tally { least_completed: [3, 2, 1, 1, 1], ..Tally::default() };
        one.measured(
            Operation::NewOrder,
            Outcome::Ordered { order: 61, lines: 7 },
            Duration::from_millis(2),
            0,
        );
        one.measured(Operation::NewOrder, Outcome::Refused, Duration::from_millis(4), 2);
        one.ledger.add(Outcome::Ordered { order: 61, lines: 7 });
        one.retries.insert("deadlock".into(), 2);
        let mut two = Tally { least_completed: [1, 2, 3, 0, 1], ..Tally::default() };
        two.measured(Operation::Payment, Outcome::Paid { cents: 150 }, Duration::from_secs(1), 1);
        two.ledger.add(Outcome::Paid { cents: 150 });
        two.ledger.add(Outcome::Delivered { orders: 9 });
        two.retries.insert("deadlock".into(), 1);
        let sum = Tally::sum(&[one, two]);
        assert_eq!(sum.completed(), 3);
        assert_eq!((sum.operations[0].committed, sum.operations[0].refused), (1, 1));
        assert_eq!(sum.series, [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [1, 0, 0, 0, 0]]);
        assert_eq!(sum.least_completed, [1, 2, 1, 0, 1]);
        assert_eq!(sum.retries["deadlock"], 3);
        let ledger = Ledger { orders: 1, lines: 7, payments: 1, paid_cents: 150, delivered: 9, unknown: 0 };
        assert_eq!(sum.ledger, ledger);
        assert_eq!(sum.operations[1].latency.max() / 1000, 1000);
        // What another program has counted arrives whole.
        let text = serde_json::to_string(&sum).unwrap();
        let read: Tally = serde_json::from_str(&text).unwrap();
        assert_eq!((read.ledger, read.completed(), &read.series), (sum.ledger, 3, &sum.series));
        for (read, sum) in read.operations.iter().zip(&sum.operations) {
            assert_eq!(read.latency.value_at_quantile(0.9), sum.latency.value_at_quantile(0.9));
        }
    }
}
