//! Rows into a table: in the connection's transaction, in a separate one, or in a series of them.

use super::Ingestion;
use crate::activity::Task;
use crate::error::{Error, Result};
use crate::option::Purpose;
use crate::rows::{Failure, Rows};
use arrow::array::RecordBatchReader;
use firearrow::{CommitOutcome, Dialect, OnFailure, Statement, Transaction};

/// The savepoint that a failed ingestion rolls back to in manual mode.
const SAVEPOINT: &str = "FIREARROW_INGEST";

impl Ingestion<'_> {
    /// Executes `insert` for all rows and commits, after each part of them if that is wanted. `first` is a statement for the
    /// transaction of the first part.
    pub(super) fn write(
        &self,
        mut first: Option<&str>,
        insert: &str,
        mut rows: Rows,
        committed: &mut usize,
    ) -> Result<()> {
        if first.is_none() && rows.look_ahead(1)?.is_empty() {
            return Ok(());
        }
        let failure = rows.failure();
        let statement = self.session.connection()?.prepare_in(Dialect::Three, insert)?;
        let statement = statement.with_read_options(self.read.clone()).with_write_options(self.options.write);
        let most = if self.options.commit_rows > 0 { self.options.commit_rows } else { usize::MAX };
        while first.is_some() || !rows.look_ahead(1)?.is_empty() {
            let mut transaction = self.session.begin(Purpose::Ingest)?;
            if let Some(sql) = first.take() {
                execute(&mut transaction, sql)?;
            }
            let written = write_in(&mut transaction, &statement, rows.part(most), &failure, *committed)?;
            let ended = transaction.commit();
            let lost = ended.as_ref().err().and_then(|error| error.lost_commit()).map(|lost| lost.outcome);
            if ended.is_ok() || lost == Some(CommitOutcome::Committed) {
                *committed += written;
            }
            ended?;
        }
        Ok(())
    }

    /// Executes `insert` for all rows in the transaction of manual mode, after `first`. With `is_whole`, a failure undoes
    /// both.
    pub(super) fn write_in_manual(
        &self,
        first: Option<&str>,
        insert: &str,
        mut rows: Rows,
        is_whole: bool,
    ) -> Result<u64> {
        if first.is_none() && rows.look_ahead(1)?.is_empty() {
            return Ok(0);
        }
        let failure = rows.failure();
        self.session.in_transaction(|transaction| {
            let statement = transaction.prepare_in(Dialect::Three, insert)?;
            let statement =
                statement.with_read_options(self.read.clone()).with_write_options(self.options.write);
            if is_whole {
                transaction.savepoint(SAVEPOINT)?;
            }
            let prepared = first.map_or(Ok(()), |sql| execute(transaction, sql).map(drop));
            let written = prepared.and_then(|()| write_in(transaction, &statement, rows, &failure, 0));
            let written = written.and_then(|written| {
                if is_whole {
                    transaction.release_savepoint(SAVEPOINT)?;
                }
                Ok(written as u64)
            });
            // Report the original error, not a failure here.
            let undo = || transaction.rollback_to_savepoint(SAVEPOINT);
            if is_whole && written.is_err() && Task::spared(undo).is_err() {
                self.session.doom();
            }
            written
        })
    }
}

/// Runs one statement without rows, in the dialect that quotes names.
pub(super) fn execute(transaction: &mut Transaction, sql: &str) -> Result<Option<u64>> {
    let statement = transaction.prepare_in(Dialect::Three, sql)?;
    Ok(statement.execute(transaction, ())?.affected_rows)
}

/// Writes these rows, of which the first has a number.
fn write_in(
    transaction: &mut Transaction,
    statement: &Statement,
    rows: impl RecordBatchReader,
    failure: &Failure,
    first: usize,
) -> Result<usize> {
    let done = statement.execute_stream(transaction, rows, OnFailure::Stop);
    let done = done.map_err(|error| failure.instead_of(error.into()))?;
    match done.failures.into_iter().next() {
        Some(failed) => Err(Error::of_row(first + failed.row, failed.error)),
        None => Ok(done.rows),
    }
}
