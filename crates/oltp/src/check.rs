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

/// Number, rule, and a query that counts what violates it.
type Rule = (u8, &'static str, &'static str);

/// The conditions that are fast enough to be checked after every run.
const FAST: [Rule; 4] = [
    (
        1,
        "W_YTD is the sum of D_YTD",
        "SELECT COUNT(*) FROM WAREHOUSE W WHERE W_YTD IS DISTINCT FROM (SELECT SUM(D_YTD) FROM DISTRICT WHERE D_W_ID = W.W_ID)",
    ),
    (
        2,
        "D_NEXT_O_ID - 1 is the last O_ID and the last NO_O_ID",
        "SELECT COUNT(*) FROM DISTRICT D
         LEFT JOIN (SELECT O_W_ID, O_D_ID, MAX(O_ID) M FROM ORDERS GROUP BY 1, 2) O
           ON O.O_W_ID = D.D_W_ID AND O.O_D_ID = D.D_ID
         LEFT JOIN (SELECT NO_W_ID, NO_D_ID, MAX(NO_O_ID) M FROM NEW_ORDER GROUP BY 1, 2) N
           ON N.NO_W_ID = D.D_W_ID AND N.NO_D_ID = D.D_ID
         WHERE D.D_NEXT_O_ID - 1 IS DISTINCT FROM O.M OR (N.M IS NOT NULL AND N.M <> O.M)",
    ),
    (
        3,
        "open orders of a district have no gaps",
        "SELECT COUNT(*) FROM (SELECT NO_W_ID, NO_D_ID, MAX(NO_O_ID) - MIN(NO_O_ID) + 1 X, COUNT(*) C FROM NEW_ORDER GROUP BY 1, 2) WHERE X <> C",
    ),
    (
        4,
        "a district has as many lines as its orders say",
        "SELECT COUNT(*) FROM (SELECT O_W_ID W, O_D_ID D, SUM(O_OL_CNT) S FROM ORDERS GROUP BY 1, 2) O
         FULL JOIN (SELECT OL_W_ID W, OL_D_ID D, COUNT(*) C FROM ORDER_LINE GROUP BY 1, 2) L ON L.W = O.W AND L.D = O.D
         WHERE O.S IS DISTINCT FROM L.C",
    ),
];

/// The others, which read everything.
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
        "SELECT COUNT(*) FROM WAREHOUSE W
         LEFT JOIN (SELECT H_W_ID, SUM(H_AMOUNT) S FROM HISTORY GROUP BY 1) H ON H.H_W_ID = W.W_ID
         WHERE W.W_YTD IS DISTINCT FROM H.S",
    ),
    (
        9,
        "D_YTD is the sum of H_AMOUNT",
        "SELECT COUNT(*) FROM DISTRICT D
         LEFT JOIN (SELECT H_W_ID, H_D_ID, SUM(H_AMOUNT) S FROM HISTORY GROUP BY 1, 2) H
           ON H.H_W_ID = D.D_W_ID AND H.H_D_ID = D.D_ID
         WHERE D.D_YTD IS DISTINCT FROM H.S",
    ),
    (
        10,
        "C_BALANCE is what was delivered less what was paid",
        "SELECT COUNT(*) FROM CUSTOMER C
         LEFT JOIN (SELECT O_W_ID, O_D_ID, O_C_ID, SUM(OL_AMOUNT) S FROM ORDERS JOIN ORDER_LINE
             ON OL_W_ID = O_W_ID AND OL_D_ID = O_D_ID AND OL_O_ID = O_ID
             WHERE OL_DELIVERY_D IS NOT NULL GROUP BY 1, 2, 3) D
           ON D.O_W_ID = C.C_W_ID AND D.O_D_ID = C.C_D_ID AND D.O_C_ID = C.C_ID
         LEFT JOIN (SELECT H_C_W_ID, H_C_D_ID, H_C_ID, SUM(H_AMOUNT) S FROM HISTORY GROUP BY 1, 2, 3) H
           ON H.H_C_W_ID = C.C_W_ID AND H.H_C_D_ID = C.C_D_ID AND H.H_C_ID = C.C_ID
         WHERE C.C_BALANCE <> COALESCE(D.S, 0) - COALESCE(H.S, 0)",
    ),
    (
        11,
        "a district has 2,100 delivered orders and those that were delivered since",
        "SELECT COUNT(*) FROM (SELECT O_W_ID W, O_D_ID D, COUNT(O_CARRIER_ID) C, COUNT(*) N FROM ORDERS GROUP BY 1, 2) O
         LEFT JOIN (SELECT NO_W_ID W, NO_D_ID D, COUNT(*) C FROM NEW_ORDER GROUP BY 1, 2) N ON N.W = O.W AND N.D = O.D
         WHERE O.N - O.C <> COALESCE(N.C, 0)",
    ),
    (
        12,
        "C_BALANCE + C_YTD_PAYMENT is what was delivered",
        "SELECT COUNT(*) FROM CUSTOMER C
         LEFT JOIN (SELECT O_W_ID, O_D_ID, O_C_ID, SUM(OL_AMOUNT) S FROM ORDERS JOIN ORDER_LINE
             ON OL_W_ID = O_W_ID AND OL_D_ID = O_D_ID AND OL_O_ID = O_ID
             WHERE OL_DELIVERY_D IS NOT NULL GROUP BY 1, 2, 3) D
           ON D.O_W_ID = C.C_W_ID AND D.O_D_ID = C.C_D_ID AND D.O_C_ID = C.C_ID
         WHERE C.C_BALANCE + C.C_YTD_PAYMENT <> COALESCE(D.S, 0)",
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
