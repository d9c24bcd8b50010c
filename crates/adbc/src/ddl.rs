//! Definitions, which are committed at once: what has to give way to them, and temporary tables.

use crate::activity::Task;
use crate::attachment::Attachment;
use crate::error::{Result, of};
use crate::option::Purpose;
use crate::sql::name;
use firearrow::catalog::{Name, TableKind, quoted};
use firearrow::{Dialect, Isolation, TransactionOptions, gds};
use std::mem;
use std::sync::{MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a definition is repeated when somebody still uses what it wants to change, and how often: streams of this
/// process may just be about to end.
const IN_USE: Duration = Duration::from_secs(1);
const IN_USE_PAUSE: Duration = Duration::from_millis(50);

/// A table that shall be gone with its attachment. By its number: another one may get its name meanwhile.
#[derive(Debug)]
pub(crate) struct Temporary {
    name: String,
    id: i32,
}

/// A table that was made for rows in the transaction of manual mode. It was committed at once, and goes if they do not come.
#[derive(Debug)]
pub(crate) struct Made {
    name: String,
    id: i32,
    /// The rows could not be written.
    failed: bool,
}

impl Attachment {
    /// What DDL is written in.
    pub(crate) fn dialect(&self) -> Result<Dialect> {
        Ok(self.connection()?.dialect())
    }

    /// Runs DDL in a transaction of its own, and commits. While others are about to leave it alone it is repeated.
    pub(crate) fn define(&self, task: &Task, sql: &str) -> Result<()> {
        self.define_with(task, self.transaction_options(Purpose::Ddl)?, sql)
    }

    fn define_with(&self, task: &Task, options: TransactionOptions, sql: &str) -> Result<()> {
        let connection = self.connection()?;
        let deadline = Instant::now() + IN_USE;
        let mut may_give_way = true;
        loop {
            task.check()?;
            let work = || {
                let transaction = connection.begin_lazy(options)?;
                transaction.prepare(sql)?.execute_last(transaction, ())
            };
            match work() {
                Err(error)
                    if error.gds_codes().contains(&gds::ISC_OBJ_IN_USE) && Instant::now() < deadline =>
                {
                    if !mem::take(&mut may_give_way) || !self.give_way()? {
                        thread::sleep(IN_USE_PAUSE);
                    }
                }
                result => return result.map(drop).map_err(of),
            }
        }
    }

    /// Commits the transaction of manual mode if nobody could tell: it sees what is committed anyway, has changed nothing,
    /// and none of its results is open. What it has read is in use otherwise, by ourselves.
    fn give_way(&self) -> Result<bool> {
        // It may be this thread that works in it.
        let Ok(mut running) = self.manual.try_lock() else { return Ok(false) };
        let Some(manual) = running.as_ref() else { return Ok(false) };
        let sees_committed =
            !matches!(manual.isolation, Isolation::Snapshot | Isolation::SnapshotTableStability);
        if !sees_committed || self.has_open_results() || manual.transaction.has_changes().map_err(of)? {
            return Ok(false);
        }
        match running.take() {
            Some(manual) => self.finish(manual, true).map(|()| true),
            None => Ok(false),
        }
    }

    pub(crate) fn drop_table(&self, options: TransactionOptions, table: &str) -> Result<()> {
        let sql = format!("DROP TABLE {}", name(self.dialect()?, table)?);
        self.define_with(&Task::default(), options, &sql)
    }

    /// Drops a table that was filled by the way of another one, or was to be.
    pub(crate) fn drop_staging(&self, table: &str) -> Result<()> {
        self.drop_table(self.transaction_options(Purpose::Ddl)?, table)
    }

    /// A table was made in manual mode.
    pub(crate) fn remember_made(&self, table: &str) -> Result<()> {
        if let Some(id) = self.number(table)? {
            self.made().push(Made { name: table.to_owned(), id, failed: false });
        }
        Ok(())
    }

    /// The number of a table, if it is there. Another one that gets its name has another number.
    pub(crate) fn number(&self, table: &str) -> Result<Option<i32>> {
        Ok(self.table(table)?.map(|(_, id)| id))
    }

    /// The rows for a table that was made could not be written. The transaction of manual mode may hold it until it ends.
    /// In autocommit it goes now, if it still has this number.
    pub(crate) fn undo_made(&self, table: &str, id: Option<i32>) {
        if let Some(id) = id.filter(|_| self.is_autocommit()) {
            // The failure of the rows is the one to report.
            let _ = self.drop_if_empty(table, id);
        }
        self.made().iter_mut().filter(|made| made.name == table).for_each(|made| made.failed = true);
    }

    /// The transaction of manual mode has ended: tables that were made in it and have no rows now go, unless they were meant
    /// to have none.
    pub(crate) fn drop_made(&self, committed: bool) {
        let tables = mem::take(&mut *self.made());
        for Made { name, id, failed } in tables {
            if failed || !committed {
                // It may be in use by others, and is empty.
                let _ = self.drop_if_empty(&name, id);
            }
        }
    }

    /// Drops a table, unless it is another one by now, or others have put rows into it.
    fn drop_if_empty(&self, table: &str, id: i32) -> Result<()> {
        if self.number(table)? != Some(id) {
            return Ok(());
        }
        let reader = self.connection()?.begin_lazy(TransactionOptions::read_only()).map_err(of)?;
        let sql = format!("SELECT FIRST 1 1 FROM {}", quoted(table));
        let mut cursor = reader.query_in(Dialect::Three, &sql).map_err(of)?;
        let is_empty = cursor.next_batch().map_err(of)?.is_none_or(|batch| batch.num_rows() == 0);
        drop(cursor);
        reader.rollback().map_err(of)?;
        if is_empty { self.drop_staging(table) } else { Ok(()) }
    }

    fn made(&self) -> MutexGuard<'_, Vec<Made>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a table is, and its number.
    fn table(&self, table: &str) -> Result<Option<(TableKind, i32)>> {
        let tables = self.connection()?.catalog().and_then(|catalog| catalog.tables(Name::Is(table)));
        Ok(tables.map_err(of)?.first().map(|table| (table.kind, table.id)))
    }

    /// A temporary table was made that shall be gone with the attachment.
    pub(crate) fn remember_temporary(&self, table: &str) -> Result<()> {
        let Some((_, id)) = self.table(table)? else { return Ok(()) };
        let mut temporary = self.temporary.lock().unwrap_or_else(PoisonError::into_inner);
        temporary.push(Temporary { name: table.to_owned(), id });
        Ok(())
    }

    pub(crate) fn drop_temporary(&self) {
        let tables = mem::take(&mut *self.temporary.lock().unwrap_or_else(PoisonError::into_inner));
        for Temporary { name, id } in tables {
            // It may be in use by others; nobody is left to be told.
            let _ = self.table(&name).and_then(|found| match found {
                Some((TableKind::GlobalTemporary { .. }, number)) if number == id => {
                    self.drop_table(self.transaction_options(Purpose::Ddl)?, &name)
                }
                _ => Ok(()),
            });
        }
    }
}
