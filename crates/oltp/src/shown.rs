//! What the database shows of the work, to be compared with what terminals say that they did.

use crate::tally::Ledger;
use firearrow::{Connection, Decimal, TransactionOptions};
use firearrow_bench::Result;

/// Counts and sums of the tables that the work changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    orders: i64,
    lines: i64,
    payments: i64,
    open: i64,
    paid_cents: i128,
}

impl Shown {
    pub(crate) fn read(connection: &Connection) -> Result<Self> {
        let transaction = connection.begin(TransactionOptions::reading())?;
        let count = |table: &str| -> Result<i64> {
            Ok(transaction.query(&format!("SELECT COUNT(*) FROM {table}"))?.value()?)
        };
        let paid: Decimal = transaction.query("SELECT SUM(W_YTD) FROM WAREHOUSE")?.value()?;
        Ok(Self {
            orders: count("ORDERS")?,
            lines: count("ORDER_LINE")?,
            payments: count("HISTORY")?,
            open: count("NEW_ORDER")?,
            paid_cents: paid.unscaled,
        })
    }
}

/// A sum that the work changes.
struct Fact {
    what: &'static str,
    /// How much more the database shows than before.
    shown: i128,
    /// How much terminals say that they did.
    told: i128,
    /// The least and the most by which one operation changes it.
    each: (i128, i128),
}

fn facts(before: Shown, after: Shown, ledger: &Ledger) -> [Fact; 5] {
    let count = |what, before: i64, after: i64, told: i128, each| Fact {
        what,
        shown: i128::from(after - before),
        told,
        each,
    };
    let open = i128::from(ledger.orders) - i128::from(ledger.delivered);
    let paid = Fact {
        what: "hundredths paid",
        shown: after.paid_cents - before.paid_cents,
        told: ledger.paid_cents.into(),
        each: (0, 500_000),
    };
    [
        count("orders", before.orders, after.orders, ledger.orders.into(), (0, 1)),
        count("order lines", before.lines, after.lines, ledger.lines.into(), (0, 15)),
        count("payments", before.payments, after.payments, ledger.payments.into(), (0, 1)),
        // A delivery takes ten away.
        count("open orders", before.open, after.open, open, (-10, 1)),
        paid,
    ]
}

/// Compares what the database shows with what terminals say that they did.
pub(crate) fn ledger_problems(before: Shown, after: Shown, ledger: &Ledger) -> Vec<String> {
    let hint = match ledger.unknown {
        0 => String::new(),
        count => format!(" ({count} commits whose answer was lost)"),
    };
    let wrong = facts(before, after, ledger).into_iter().filter(|fact| fact.shown != fact.told);
    wrong
        .map(|Fact { what, shown, told, .. }| {
            format!("the database shows {shown:+} {what}; the terminals recorded {told:+}{hint}")
        })
        .collect()
}

/// Compares as [`ledger_problems`] does, where the answers of some operations were lost: these may be there or not.
pub(crate) fn bounds(before: Shown, after: Shown, ledger: &Ledger, interrupted: u64) -> Vec<String> {
    let many = i128::from(interrupted);
    let wrong = facts(before, after, ledger).into_iter().filter(|Fact { shown, told, each, .. }| {
        !(told + each.0 * many..=told + each.1 * many).contains(shown)
    });
    wrong
        .map(|Fact { what, shown, told, .. }| {
            format!(
                "the database has {shown:+} {what}, of which {told:+} were acknowledged and {interrupted} operations \
                 were interrupted"
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ledger_that_does_not_balance_is_a_problem() {
        let before = Shown { orders: 100, lines: 1000, payments: 50, open: 30, paid_cents: 1_000_000 };
        let ledger =
            Ledger { orders: 10, lines: 95, payments: 4, paid_cents: 1234, delivered: 20, unknown: 0 };
        let after = Shown { orders: 110, lines: 1095, payments: 54, open: 20, paid_cents: 1_001_234 };
        assert_eq!(ledger_problems(before, after, &ledger), Vec::<String>::new());
        let lost = Shown { lines: 1094, ..after };
        assert_eq!(
            ledger_problems(before, lost, &ledger),
            ["the database shows +94 order lines; the terminals recorded +95"]
        );
        let odd = Shown { paid_cents: 1_001_235, open: 21, ..after };
        assert_eq!(ledger_problems(before, odd, &Ledger { unknown: 2, ..ledger }).len(), 2);
    }

    #[test]
    fn what_was_interrupted_may_be_there_or_not() {
        let before = Shown { orders: 100, lines: 1000, payments: 50, open: 30, paid_cents: 1_000_000 };
        let ledger =
            Ledger { orders: 10, lines: 95, payments: 4, paid_cents: 1234, delivered: 20, unknown: 2 };
        let after = Shown { orders: 110, lines: 1095, payments: 54, open: 20, paid_cents: 1_001_234 };
        assert_eq!(bounds(before, after, &ledger, 0), Vec::<String>::new());
        let more = Shown { orders: 111, lines: 1105, open: 11, ..after };
        assert_eq!(bounds(before, more, &ledger, 2), Vec::<String>::new());
        assert_eq!(bounds(before, more, &ledger, 0).len(), 3);
        // Less than was acknowledged is a loss, whatever was interrupted.
        let less = Shown { orders: 109, payments: 53, ..after };
        let problems = bounds(before, less, &ledger, 20);
        assert_eq!(problems.len(), 2);
        assert!(problems[0].contains("+9 orders, of which +10 were acknowledged"), "{problems:?}");
    }
}
