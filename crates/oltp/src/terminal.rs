//! Terminals: connections that do one operation after the other.

use crate::failure::Failure;
use crate::input::{Input, Inputs, Operation};
use crate::pace::{Beat, Start};
use crate::plan::Plan;
use crate::random::Random;
use crate::tally::Tally;
use crate::way::{Outcome, Way};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// How often an operation is tried.
const ATTEMPTS: u32 = 10;

/// How often a pausing terminal looks at the clock.
pub(crate) const GLANCE: Duration = Duration::from_millis(50);

/// Whoever measures sets the clock of the terminals, wherever they are.
pub(crate) trait Conduct {
    /// From now on operations count.
    fn measure(&self) -> Instant;
    /// No more operations.
    fn stop(&self);
    /// How many terminals an error has ended.
    fn failed(&self) -> usize;
}

/// What all terminals of this process look at.
pub(crate) struct Clock {
    phase: AtomicU8,
    /// When measuring began.
    measuring: OnceLock<Instant>,
    stopped: OnceLock<Instant>,
    /// Terminals that an error has ended.
    failed: AtomicUsize,
}

const WARMING_UP: u8 = 0;
const MEASURING: u8 = 1;
const STOPPED: u8 = 2;

impl Clock {
    pub(crate) fn new() -> Self {
        Self {
            phase: AtomicU8::new(WARMING_UP),
            measuring: OnceLock::new(),
            stopped: OnceLock::new(),
            failed: AtomicUsize::new(0),
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.phase.load(Ordering::Acquire) != STOPPED
    }

    pub(crate) fn add_failed(&self) {
        self.failed.fetch_add(1, Ordering::Release);
    }

    /// The second of the measured time that it is now.
    fn second(&self) -> Option<usize> {
        let is_measuring = self.phase.load(Ordering::Acquire) == MEASURING;
        let since = self.measuring.get().filter(|_| is_measuring)?;
        Some(since.elapsed().as_secs() as usize)
    }
}

impl Conduct for Clock {
    fn measure(&self) -> Instant {
        let now = *self.measuring.get_or_init(Instant::now);
        self.phase.store(MEASURING, Ordering::Release);
        now
    }

    fn stop(&self) {
        self.stopped.get_or_init(Instant::now);
        self.phase.store(STOPPED, Ordering::Release);
    }

    fn failed(&self) -> usize {
        self.failed.load(Ordering::Acquire)
    }
}

/// What came of terminals that worked side by side.
pub(crate) struct Worked<T> {
    /// What was done meanwhile.
    pub(crate) during: T,
    /// The counts of all terminals.
    pub(crate) tally: Tally,
    /// The errors that ended terminals before the clock stopped, by terminal.
    pub(crate) ended: Vec<Option<String>>,
}

/// Makes the way of a terminal, which counts from 0. It is called in the terminal's own thread.
pub type Open<'a> = dyn Fn(usize) -> Result<Box<dyn Way>, Failure> + Sync + 'a;

/// Runs terminals in a thread each, and `during` beside them; when that is done, the clock stops.
pub(crate) fn together<T>(
    plan: &Plan,
    open: &Open<'_>,
    during: impl FnOnce(&Clock) -> firearrow_bench::Result<T>,
) -> firearrow_bench::Result<Worked<T>> {
    let clock = &Clock::new();
    let ready = &Barrier::new(plan.terminals + 1);
    let (during, done) = thread::scope(|scope| {
        let terminals: Vec<_> = (0..plan.terminals)
            .map(|terminal| scope.spawn(move || work(plan, terminal, open, clock, ready)))
            .collect();
        ready.wait();
        let during = during(clock);
        clock.stop();
        let done: Vec<_> =
            terminals.into_iter().map(|terminal| terminal.join().expect("no terminal panics")).collect();
        (during, done)
    });
    let (tallies, ended): (Vec<_>, Vec<_>) = done.into_iter().unzip();
    Ok(Worked { during: during?, tally: Tally::sum(&tallies), ended })
}

/// Works until the clock stops; returns what was counted, and the error that ended it earlier.
fn work(
    plan: &Plan,
    terminal: usize,
    open: &Open<'_>,
    clock: &Clock,
    ready: &Barrier,
) -> (Tally, Option<String>) {
    let way = open(terminal);
    ready.wait();
    let mut desk = Desk::new(plan, terminal, clock);
    let ended = way.and_then(|mut way| {
        while let Some((input, start)) = desk.next() {
            if !pause_until(clock, start.at) {
                desk.stopped(start);
                break;
            }
            operate(&mut *way, &input, start, &mut desk)?;
        }
        Ok(())
    });
    desk.end(ended)
}

/// Waits; whether the clock is still running.
fn pause_until(clock: &Clock, at: Instant) -> bool {
    loop {
        let left = at.saturating_duration_since(Instant::now());
        match (clock.is_running(), left.is_zero()) {
            (false, _) => return false,
            (true, true) => return true,
            (true, false) => thread::sleep(left.min(GLANCE)),
        }
    }
}

/// One operation, with its repetitions.
fn operate(way: &mut dyn Way, input: &Input, start: Start, desk: &mut Desk<'_>) -> Result<(), Failure> {
    let mut turn = Turn::new(input, start);
    loop {
        let failure = match way.perform(input) {
            Ok(outcome) => return turn.done(input, outcome, desk),
            Err(failure) => failure,
        };
        // Asking can cost a round trip, and who is told of a conflict is connected.
        let is_lost = !failure.can_be_repeated && way.has_lost_connection();
        match turn.failed(failure, is_lost, desk)? {
            Some(pause) => thread::sleep(pause),
            None => return Ok(()),
        }
    }
}

/// What a terminal has besides its connection.
pub(crate) struct Desk<'a> {
    clock: &'a Clock,
    inputs: Inputs,
    beat: Beat,
    random: Random,
    tally: Tally,
}

impl<'a> Desk<'a> {
    /// To be called when all terminals are ready: with a rate, time begins now.
    pub(crate) fn new(plan: &Plan, terminal: usize, clock: &'a Clock) -> Self {
        Self {
            clock,
            inputs: Inputs::new(plan.scale, plan.locality, plan.mix, plan.seed, terminal),
            beat: Beat::new(plan.pace, plan.seed, terminal, plan.terminals),
            random: Random::new(plan.seed, &[97, terminal as u64]),
            tally: Tally::default(),
        }
    }

    /// The next operation and when it begins; `None` when the clock has stopped.
    pub(crate) fn next(&mut self) -> Option<(Input, Start)> {
        let input = self.inputs.next();
        let start = self.beat.next(input.operation());
        match self.clock.is_running() {
            true => Some((input, start)),
            false => {
                self.stopped(start);
                None
            }
        }
    }

    /// The clock stopped before an operation could begin.
    pub(crate) fn stopped(&mut self, start: Start) {
        let then = self.clock.stopped.get().copied().unwrap_or_else(Instant::now);
        self.tally.backlog += self.beat.backlog(start, then);
    }

    pub(crate) fn end(mut self, ended: Result<(), Failure>) -> (Tally, Option<String>) {
        let late = self.clock.stopped.get().map_or(Duration::ZERO, Instant::elapsed);
        self.tally.late_us = u64::try_from(late.as_micros()).unwrap_or(u64::MAX);
        if ended.is_err() {
            self.clock.add_failed();
        }
        (self.tally, ended.err().map(|failure| failure.message))
    }
}

/// One operation, from its first attempt to its end.
pub(crate) struct Turn {
    operation: Operation,
    /// From here on its latency counts.
    started: Instant,
    attempts: u32,
}

impl Turn {
    pub(crate) fn new(input: &Input, start: Start) -> Self {
        let started = if start.is_intended { start.at } else { Instant::now() };
        Self { operation: input.operation(), started, attempts: 0 }
    }

    /// Counts what was done.
    ///
    /// # Errors
    /// If it was not what was asked for: a client that says so cannot be believed any more.
    pub(crate) fn done(&self, input: &Input, outcome: Outcome, desk: &mut Desk<'_>) -> Result<(), Failure> {
        let Desk { clock, tally, inputs, .. } = desk;
        if !inputs.allows(input, outcome) {
            let name = self.operation.name();
            return Err(Failure::other(format!("{name}: {outcome:?} is not what was asked for")));
        }
        tally.ledger.add(outcome);
        if let (Input::NewOrder(made), Outcome::Ordered { order, .. }) = (input, outcome) {
            tally.orders.push((made.warehouse, made.district, order));
        }
        tally.least_completed[self.operation as usize] += 1;
        if let Some(second) = clock.second() {
            tally.measured(self.operation, outcome, self.started.elapsed(), second);
        }
        Ok(())
    }

    /// Counts an attempt that has failed; `Some` = the pause before the next one, `None` = the operation is given up.
    ///
    /// # Errors
    /// If the terminal cannot go on.
    pub(crate) fn failed(
        &mut self,
        failure: Failure,
        is_lost: bool,
        desk: &mut Desk<'_>,
    ) -> Result<Option<Duration>, Failure> {
        self.attempts += 1;
        let Desk { clock, tally, random, .. } = desk;
        if failure.is_unknown {
            tally.ledger.unknown += 1;
        }
        if is_lost {
            return Err(failure);
        }
        let counts = clock.second().is_some();
        if !failure.can_be_repeated || self.attempts == ATTEMPTS {
            count(&mut tally.errors, failure.reason, counts);
            return Ok(None);
        }
        count(&mut tally.retries, failure.reason, counts);
        // Not all at once again.
        Ok(Some(Duration::from_micros(1000 + (random.fraction() * 49_000.0) as u64)))
    }
}

/// Counts an error within the measured time.
fn count(counts: &mut BTreeMap<String, u64>, reason: String, is_measured: bool) {
    if is_measured {
        *counts.entry(reason).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Delivery, Locality, Mix, NewOrder, OrderStatus, Payment, StockLevel};
    use crate::pace::Pace;
    use crate::plan::Level;
    use crate::scale::Scale;
    use crate::way::Mode;
    use std::cell::Cell;

    /// Fails with these errors, one after the other.
    struct Failing {
        errors: Vec<Failure>,
        asked: Cell<usize>,
        cents: i64,
    }

    impl Failing {
        fn next(&mut self) -> Result<Outcome, Failure> {
            self.errors.pop().map_or(Ok(Outcome::Paid { cents: self.cents }), Err)
        }
    }

    impl Way for Failing {
        fn new_order(&mut self, _: &NewOrder) -> Result<Outcome, Failure> {
            self.next()
        }
        fn payment(&mut self, made: &Payment) -> Result<Outcome, Failure> {
            self.cents += made.cents;
            self.next()
        }
        fn order_status(&mut self, _: &OrderStatus) -> Result<Outcome, Failure> {
            self.next()
        }
        fn delivery(&mut self, _: &Delivery) -> Result<Outcome, Failure> {
            self.next()
        }
        fn stock_level(&mut self, _: &StockLevel) -> Result<Outcome, Failure> {
            self.next()
        }
        fn has_lost_connection(&self) -> bool {
            self.asked.set(self.asked.get() + 1);
            false
        }
    }

    fn plan() -> Plan {
        Plan {
            scale: Scale::tiny(1),
            terminals: 1,
            mode: Mode::Sql,
            locality: Locality::Home,
            mix: Mix::Tpcc,
            pace: Pace::default(),
            isolation: Level::Snapshot,
            seed: 1,
        }
    }

    /// The next payment of a terminal.
    fn payment(desk: &mut Desk<'_>) -> (Input, Start) {
        loop {
            let (input, start) = desk.next().unwrap();
            if matches!(input, Input::Payment(_)) {
                return (input, start);
            }
        }
    }

    #[test]
    fn nobody_asks_for_the_connection_after_a_conflict() {
        let (plan, clock) = (plan(), Clock::new());
        let conflict = || Failure::of_engine(&[firearrow::gds::ISC_UPDATE_CONFLICT], "conflict");
        for (errors, asked) in [(vec![conflict()], 0), (vec![Failure::other("no table")], 1)] {
            let mut desk = Desk::new(&plan, 0, &clock);
            let (input, start) = payment(&mut desk);
            let Input::Payment(made) = &input else { unreachable!() };
            // The second attempt pays.
            let mut way = Failing { errors, asked: Cell::new(0), cents: -made.cents };
            operate(&mut way, &input, start, &mut desk).unwrap();
            assert_eq!(way.asked.get(), asked);
            assert_eq!(desk.tally.ledger.payments, 1 - asked as u64);
        }
    }

    #[test]
    fn what_was_not_asked_for_ends_a_terminal() {
        let (plan, clock) = (plan(), Clock::new());
        let mut desk = Desk::new(&plan, 0, &clock);
        let (input, start) = payment(&mut desk);
        let mut way = Failing { errors: Vec::new(), asked: Cell::new(0), cents: 1 };
        let failure = operate(&mut way, &input, start, &mut desk).unwrap_err();
        assert!(failure.message.ends_with("is not what was asked for"), "{}", failure.message);
        assert_eq!(desk.tally.ledger.payments, 0);
    }

    #[test]
    fn who_is_late_is_noticed() {
        let (plan, clock) = (plan(), Clock::new());
        let desk = Desk::new(&plan, 0, &clock);
        clock.measure();
        clock.stop();
        thread::sleep(Duration::from_millis(20));
        let (tally, _) = desk.end(Ok(()));
        assert!((20_000..10_000_000).contains(&tally.late_us), "{}", tally.late_us);
    }
}
