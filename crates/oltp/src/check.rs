//! The consistency conditions of TPC-C 3.3.2, and what must be true right after loading.

use crate::scale::{DISTRICTS, Scale};
use firearrow::{Connection, Transaction, TransactionOptions};
use firearrow_bench::{Error, Result};
use serde::Serialize;

/// A condition and how often it is violated.
#[derive(Clone, Debug, Serialize)]
pub struct Condition {
    /// Its number in TPC-C 3.3.2.
    pub number: u8,
    /// What must be so.
    pub rule: &'static str,
    /// Rows that violate it.
    pub violations: u64,
}

impl Condition {
    /// What is wrong, if it is violated.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let Self { number, rule, violations } = self;
        (*violations > 0).then(|| format!("condition {number} is violated {violations} times: {rule}"))
    }
}

/// A table whose scan finds fewer rows than its primary key.
///
/// Firebird skips data pages that the pointer page calls empty. A server of 4.0.5 that was killed may leave that mark on a
/// page whose rows are committed: `gfix -validate -full` warns that the bits of the pointer page are not consistent with the
/// data page, and `gfix -mend -full` corrects them (docs/oltp.md).
#[derive(Clone, Debug, Serialize)]
pub struct Hidden {
    /// The table.
    pub table: &'static str,
    /// Rows that a scan misses.
    pub rows: u64,
}

impl Hidden {
    /// What is wrong, and the remedy.
    #[must_use]
    pub fn problem(&self) -> String {
        let Self { table, rows } = self;
        format!(
            "a scan of {table} misses {rows} rows that its primary key finds: the engine has lost the mark of a page, and \
             gfix -mend -full repairs it"
        )
    }
}

/// The tables that have a primary key, and its first column, which is above 0.
const KEYS: [(&str, &str); 8] = [
    ("ITEM", "I_ID"),
    ("WAREHOUSE", "W_ID"),
    ("STOCK", "S_W_ID"),
    ("DISTRICT", "D_W_ID"),
    ("CUSTOMER", "C_W_ID"),
    ("ORDERS", "O_W_ID"),
    ("NEW_ORDER", "NO_W_ID"),
    ("ORDER_LINE", "OL_W_ID"),
];

/// Number, rule, and a query that counts what violates it.
type Rule = (u8, &'static str, &'static str);

/// The conditions that are checked after every run. Sums of two tables are compared by adding one and subtracting the
/// other, because joining what was grouped would read the second table again for each row of the first.
const FAST: [Rule; 4] = [
    (
        1,
        "W_YTD is the sum of D_YTD",
        "SELECT COUNT(*) FROM WAREHOUSE W
         WHERE W_YTD IS DISTINCT FROM (SELECT SUM(D_YTD) FROM DISTRICT WHERE D_W_ID = W.W_ID)",
    ),
    (
        2,
        "D_NEXT_O_ID - 1 is the last O_ID and the last NO_O_ID",
        "SELECT COUNT(*) FROM DISTRICT D
         WHERE D_NEXT_O_ID - 1 IS DISTINCT FROM
             (SELECT MAX(O_ID) FROM ORDERS WHERE O_W_ID = D.D_W_ID AND O_D_ID = D.D_ID)
           OR D_NEXT_O_ID - 1 <> (SELECT MAX(NO_O_ID) FROM NEW_ORDER WHERE NO_W_ID = D.D_W_ID AND NO_D_ID = D.D_ID)",
    ),
    (
        3,
        "open orders of a district have no gaps",
        "SELECT COUNT(*) FROM
           (SELECT NO_W_ID, NO_D_ID, MAX(NO_O_ID) - MIN(NO_O_ID) + 1 X, COUNT(*) C FROM NEW_ORDER GROUP BY 1, 2)
         WHERE X <> C",
    ),
    (
        4,
        "a district has as many lines as its orders say",
        "SELECT COUNT(*) FROM
           (SELECT W, D, SUM(N) S FROM
             (SELECT O_W_ID W, O_D_ID D, O_OL_CNT N FROM ORDERS UNION ALL SELECT OL_W_ID, OL_D_ID, -1 FROM ORDER_LINE)
            GROUP BY 1, 2)
         WHERE S <> 0",
    ),
];

/// The conditions of `--full-check` besides.
const SLOW: [Rule; 8] = [
    (
        5,
        "an order has no carrier exactly if it is open",
        "SELECT COUNT(*) FROM ORDERS O LEFT JOIN NEW_ORDER N
           ON N.NO_W_ID = O.O_W_ID AND N.NO_D_ID = O.O_D_ID AND N.NO_O_ID = O.O_ID
         WHERE (O.O_CARRIER_ID IS NULL) IS DISTINCT FROM (N.NO_O_ID IS NOT NULL)",
    ),
    (
        6,
        "an order has as many lines as it says",
        "SELECT COUNT(*) FROM ORDERS O WHERE O_OL_CNT <> (SELECT COUNT(*) FROM ORDER_LINE
           WHERE OL_W_ID = O.O_W_ID AND OL_D_ID = O.O_D_ID AND OL_O_ID = O.O_ID)",
    ),
    (
        7,
        "lines have no delivery date exactly if their order has no carrier",
        "SELECT COUNT(*) FROM ORDER_LINE L JOIN ORDERS O
           ON O.O_W_ID = L.OL_W_ID AND O.O_D_ID = L.OL_D_ID AND O.O_ID = L.OL_O_ID
         WHERE (L.OL_DELIVERY_D IS NULL) IS DISTINCT FROM (O.O_CARRIER_ID IS NULL)",
    ),
    (
        8,
        "W_YTD is the sum of H_AMOUNT",
        "SELECT COUNT(*) FROM
           (SELECT W, SUM(X) S FROM
             (SELECT W_ID W, W_YTD X FROM WAREHOUSE UNION ALL SELECT H_W_ID, -H_AMOUNT FROM HISTORY)
            GROUP BY 1)
         WHERE S <> 0",
    ),
    (
        9,
        "D_YTD is the sum of H_AMOUNT",
        "SELECT COUNT(*) FROM
           (SELECT W, D, SUM(X) S FROM
             (SELECT D_W_ID W, D_ID D, D_YTD X FROM DISTRICT UNION ALL SELECT H_W_ID, H_D_ID, -H_AMOUNT FROM HISTORY)
            GROUP BY 1, 2)
         WHERE S <> 0",
    ),
    (
        10,
        "C_BALANCE is what was delivered less what was paid",
        "SELECT COUNT(*) FROM
           (SELECT W, D, C, SUM(X) S FROM
             (SELECT C_W_ID W, C_D_ID D, C_ID C, C_BALANCE X FROM CUSTOMER
              UNION ALL SELECT H_C_W_ID, H_C_D_ID, H_C_ID, H_AMOUNT FROM HISTORY
              UNION ALL SELECT O_W_ID, O_D_ID, O_C_ID, -OL_AMOUNT FROM ORDERS
                JOIN ORDER_LINE ON OL_W_ID = O_W_ID AND OL_D_ID = O_D_ID AND OL_O_ID = O_ID
                WHERE OL_DELIVERY_D IS NOT NULL)
            GROUP BY 1, 2, 3)
         WHERE S <> 0",
    ),
    (
        11,
        "a district has as many orders without carrier as open ones",
        "SELECT COUNT(*) FROM
           (SELECT W, D, SUM(N) S FROM
             (SELECT O_W_ID W, O_D_ID D, IIF(O_CARRIER_ID IS NULL, 1, 0) N FROM ORDERS
              UNION ALL SELECT NO_W_ID, NO_D_ID, -1 FROM NEW_ORDER)
            GROUP BY 1, 2)
         WHERE S <> 0",
    ),
    (
        12,
        "C_BALANCE + C_YTD_PAYMENT is what was delivered",
        "SELECT COUNT(*) FROM
           (SELECT W, D, C, SUM(X) S FROM
             (SELECT C_W_ID W, C_D_ID D, C_ID C, C_BALANCE + C_YTD_PAYMENT X FROM CUSTOMER
              UNION ALL SELECT O_W_ID, O_D_ID, O_C_ID, -OL_AMOUNT FROM ORDERS
                JOIN ORDER_LINE ON OL_W_ID = O_W_ID AND OL_D_ID = O_D_ID AND OL_O_ID = O_ID
                WHERE OL_DELIVERY_D IS NOT NULL)
            GROUP BY 1, 2, 3)
         WHERE S <> 0",
    ),
];

/// Counts what violates the conditions, as a transaction sees them: the first four, or all twelve. In a snapshot all of
/// them see one state.
///
/// # Errors
/// Those of the queries. Violations are no error.
pub fn conditions(transaction: &Transaction, all: bool) -> Result<Vec<Condition>> {
    let slow = if all { &SLOW[..] } else { &[] };
    let check = |&(number, rule, sql): &Rule| {
        let violations: i64 = transaction.query(sql)?.value()?;
        Ok(Condition { number, rule, violations: violations.unsigned_abs() })
    };
    FAST.iter().chain(slow).map(check).collect()
}

/// Finds the tables of which a scan misses rows.
///
/// # Errors
/// Those of the queries.
pub(crate) fn hidden(transaction: &Transaction) -> Result<Vec<Hidden>> {
    let mut found = Vec::new();
    for (table, column) in KEYS {
        let count = |rest: &str| -> Result<i64> {
            Ok(transaction.query(&format!("SELECT COUNT(*) FROM {table} {rest}"))?.value()?)
        };
        let scanned = count(&format!("PLAN ({table} NATURAL)"))?;
        let indexed = count(&format!("WHERE {column} > 0 PLAN ({table} INDEX ({table}_PK))"))?;
        if scanned < indexed {
            found.push(Hidden { table, rows: scanned.abs_diff(indexed) });
        }
    }
    Ok(found)
}

/// Checks a database that was just loaded.
///
/// # Errors
/// If a table has another number of rows than it should have, or a condition is violated.
pub(crate) fn loaded(connection: &Connection, scale: Scale, lines: u64) -> Result<()> {
    let count = |table: &str| -> Result<u64> {
        let count: i64 = connection.query(&format!("SELECT COUNT(*) FROM {table}"))?.value()?;
        Ok(count.unsigned_abs())
    };
    for (table, rows) in scale.rows().into_iter().chain([("ORDER_LINE", lines)]) {
        let found = count(table)?;
        if found != rows {
            return Err(Error::other(format!("{table} has {found} rows, not {rows}")));
        }
    }
    let delivered =
        u64::from(scale.warehouses) * u64::from(DISTRICTS) * u64::from(scale.customers - scale.open_orders);
    let found: i64 = connection.query("SELECT COUNT(O_CARRIER_ID) FROM ORDERS")?.value()?;
    if found.unsigned_abs() != delivered {
        return Err(Error::other(format!("{found} orders are delivered, not {delivered}")));
    }
    match conditions(&connection.begin(TransactionOptions::reading())?, false)?
        .iter()
        .find(|condition| condition.violations > 0)
    {
        Some(Condition { number, rule, violations }) => {
            Err(Error::other(format!("condition {number} is violated {violations} times: {rule}")))
        }
        None => Ok(()),
    }
}
