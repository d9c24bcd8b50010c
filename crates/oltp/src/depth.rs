//! How deep indexes are: each level costs a look-up a page.

use firearrow::{Connection, Params, TransactionOptions, params};
use firearrow_bench::Result;
use serde::Serialize;

/// An index.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct IndexDepth {
    /// Its name.
    pub index: &'static str,
    /// Its table.
    pub table: &'static str,
    /// Levels, from the root to the leaves.
    pub levels: u64,
}

/// The table of few rows, whose index has one level.
const FLAT: (&str, &str, &str) = ("WAREHOUSE_PK", "WAREHOUSE", "W_ID = ?");

/// Index, table, and a condition for which nothing but the index is read.
const INDEXES: [(&str, &str, &str); 8] = [
    ("CUSTOMER_PK", "CUSTOMER", "C_W_ID = ? AND C_D_ID = 0 AND C_ID = 0"),
    ("CUSTOMER_NAME", "CUSTOMER", "C_W_ID = ? AND C_D_ID = 0 AND C_LAST = '' AND C_FIRST = ''"),
    ("NEW_ORDER_PK", "NEW_ORDER", "NO_W_ID = ? AND NO_D_ID = 0 AND NO_O_ID = 0"),
    ("ORDERS_PK", "ORDERS", "O_W_ID = ? AND O_D_ID = 0 AND O_ID = 0"),
    ("ORDERS_CUST", "ORDERS", "O_W_ID = ? AND O_D_ID = 0 AND O_C_ID = 0 AND O_ID = 0"),
    ("ORDER_LINE_PK", "ORDER_LINE", "OL_W_ID = ? AND OL_D_ID = 0 AND OL_O_ID = 0 AND OL_NUMBER = 0"),
    ("ITEM_PK", "ITEM", "I_ID = ?"),
    ("STOCK_PK", "STOCK", "S_W_ID = ? AND S_I_ID = 0"),
];

/// Measures the depths of the indexes by the pages that a look-up of a key that is not there fetches, less those of an index with one
/// level. Nobody else may use the database.
pub(crate) fn depths(connection: &Connection) -> Result<Vec<IndexDepth>> {
    let flat = fetches(connection, FLAT)?;
    let depth = |of: (&'static str, &'static str, &str)| {
        let levels = (1 + fetches(connection, of)?).saturating_sub(flat);
        Ok(IndexDepth { index: of.0, table: of.1, levels })
    };
    INDEXES.into_iter().map(depth).collect()
}

/// Pages that a look-up fetches, after one that has made the statement known.
fn fetches(connection: &Connection, (index, table, condition): (&str, &str, &str)) -> Result<u64> {
    let transaction = connection.begin(TransactionOptions::reading())?;
    let sql = format!("SELECT 1 FROM {table} WHERE {condition} PLAN ({table} INDEX ({index}))");
    let statement = transaction.prepare(&sql)?;
    let look = || -> Result<()> {
        let key: Params = params![0];
        statement.one_row(&transaction, key, |_| Ok(()))?;
        Ok(())
    };
    look()?;
    let before = connection.counters()?;
    look()?;
    Ok(connection.counters()?.since(&before).page_fetches)
}
