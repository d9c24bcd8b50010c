//! The WHERE clause that finds rows again.

use super::base_table::BaseTable;
use super::state::Change;
use crate::diagnostics::{Failure, Result, State};
use crate::fetch::Cursor;
use arrow::array::ArrayRef;

/// A condition with markers, and the values for them, one for each row.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub(super) sql: String,
    pub(super) values: Vec<ArrayRef>,
}

impl Condition {
    /// The condition for rows that nobody has changed through the cursor, or for a single one.
    pub(super) fn new(cursor: &Cursor, table: &BaseTable, rows: &[u64], compares: bool) -> Result<Self> {
        let change = match rows {
            [row] => cursor.positioned.changed.get(row),
            _ => None,
        };
        let values = |at: &usize| match change {
            Some(Change::Updated(known)) if known.contains_key(at) => Ok(known[at].clone()),
            _ => cursor.values(*at, rows),
        };
        let key = table.key()?;
        let compared = Self::compared(table, change, compares);
        let values = key.iter().chain(compared).map(values).collect::<Result<_>>()?;
        Ok(Self { sql: Self::text(table, key, compared), values })
    }

    /// The text of the condition for rows that nobody has changed through the cursor.
    pub(super) fn usual(table: &BaseTable, compares: bool) -> Result<String> {
        Ok(Self::text(table, table.key()?, Self::compared(table, None, compares)))
    }

    fn compared<'a>(table: &'a BaseTable, change: Option<&Change>, compares: bool) -> &'a [usize] {
        match change {
            Some(Change::Unknown) => &[],
            _ if compares => &table.compared,
            _ => &[],
        }
    }

    fn text(table: &BaseTable, key: &[usize], compared: &[usize]) -> String {
        let key = key.iter().map(|&at| format!("{} = ?", table.column(at)));
        let compared = compared.iter().map(|&at| format!("{} IS NOT DISTINCT FROM ?", table.column(at)));
        format!("WHERE {}", key.chain(compared).collect::<Vec<_>>().join(" AND "))
    }
}

/// Whether a change of this cursor's rows would wait for the cursor itself.
pub(super) fn check_locks(cursor: &Cursor, table: &BaseTable) -> Result<()> {
    match table.locks && cursor.positioned.is_apart {
        true => Err(Failure::new(
            State::NOT_IMPLEMENTED,
            "the cursor locks its rows in a transaction of its own: set SQL_AUTOCOMMIT_OFF before WITH LOCK",
        )),
        false => Ok(()),
    }
}
