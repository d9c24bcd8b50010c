//! Tables that the driver created for rows, and drops again.

use super::Session;
use crate::error::Result;
use firearrow::catalog::{Name, TableKind, quoted};
use firearrow::{Dialect, TransactionOptions};
use std::mem;
use std::sync::{MutexGuard, PoisonError};

/// A table that is dropped with its session. It is known by its number: another one may get its name meanwhile.
#[derive(Debug)]
pub(super) struct Temporary {
    name: String,
    id: i32,
}

/// A table that was made for rows in the transaction of manual mode. It was committed immediately, and is dropped if
/// they do not come.
#[derive(Debug)]
pub(super) struct Made {
    name: String,
    id: i32,
    /// The rows could not be written.
    failed: bool,
}

impl Session {
    /// Remembers a table that was made in manual mode.
    pub(crate) fn remember_made(&self, table: &str) -> Result<()> {
        if let Some(id) = self.number(table)? {
            self.made().push(Made { name: table.to_owned(), id, failed: false });
        }
        Ok(())
    }

    /// Returns the number of a table, if it exists. Another table with the same name has another number.
    pub(crate) fn number(&self, table: &str) -> Result<Option<i32>> {
        Ok(self.table(table)?.map(|(_, id)| id))
    }

    /// Says that the rows for a table that was made could not be written. The transaction of manual mode may hold the table
    /// until it ends; in autocommit mode it is dropped now, if it still has this number.
    pub(crate) fn undo_made(&self, table: &str, id: Option<i32>) {
        if let Some(id) = id.filter(|_| self.is_autocommit()) {
            // Report the original error.
            let _ = self.drop_if_empty(table, id);
        }
        self.made().iter_mut().filter(|made| made.name == table).for_each(|made| made.failed = true);
    }

    /// The transaction of manual mode has ended: drops the tables that were made in it and have no rows now, unless they were
    /// meant to have none.
    pub(super) fn drop_made(&self, committed: bool) {
        let tables = mem::take(&mut *self.made());
        for Made { name, id, failed } in tables {
            if failed || !committed {
                // It may be in use by others, and is empty.
                let _ = self.drop_if_empty(&name, id);
            }
        }
    }

    /// Drops a table, unless it has been replaced, or others have put rows into it.
    fn drop_if_empty(&self, table: &str, id: i32) -> Result<()> {
        if self.number(table)? != Some(id) {
            return Ok(());
        }
        let reader = self.connection()?.begin_lazy(TransactionOptions::reading())?;
        let sql = format!("SELECT FIRST 1 1 FROM {}", quoted(table));
        let mut cursor = reader.query_in(Dialect::Three, &sql)?;
        let is_empty = cursor.next_batch()?.is_none_or(|batch| batch.num_rows() == 0);
        drop(cursor);
        reader.rollback()?;
        if is_empty { self.drop_table(table) } else { Ok(()) }
    }

    fn made(&self) -> MutexGuard<'_, Vec<Made>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The kind of a table, and its number.
    fn table(&self, table: &str) -> Result<Option<(TableKind, i32)>> {
        let tables = self.connection()?.catalog().and_then(|catalog| catalog.tables(Name::Is(table)))?;
        Ok(tables.first().map(|table| (table.kind, table.id)))
    }

    /// Remembers a temporary table that is to be dropped with the session.
    pub(crate) fn remember_temporary(&self, table: &str) -> Result<()> {
        let Some((_, id)) = self.table(table)? else { return Ok(()) };
        let mut temporary = self.temporary.lock().unwrap_or_else(PoisonError::into_inner);
        temporary.push(Temporary { name: table.to_owned(), id });
        Ok(())
    }

    /// Drops the temporary tables of the session.
    pub(super) fn drop_temporary(&self) {
        let tables = mem::take(&mut *self.temporary.lock().unwrap_or_else(PoisonError::into_inner));
        for Temporary { name, id } in tables {
            // It may be in use by others; no caller is left to report this to.
            let _ = self.table(&name).and_then(|found| match found {
                Some((TableKind::GlobalTemporary { .. }, number)) if number == id => self.drop_table(&name),
                _ => Ok(()),
            });
        }
    }
}
