//! A query that is run once for each parameter row.

use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::rows::{Failure, Rows};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use firearrow::{OnFailure, RowsCursor, RowsExecuted, Statement, Transaction};

/// A query that is run once for each row of parameters; its results follow each other.
pub(crate) struct BoundQuery {
    cursor: RowsCursor,
    /// The transaction of this execution; else it is that of manual mode.
    transaction: Option<Transaction>,
    failure: Failure,
}

impl BoundQuery {
    /// Runs it until its first rows are there.
    pub(crate) fn open(statement: &Statement, transaction: &Transaction, rows: Rows) -> Result<Self> {
        let failure = rows.failure();
        let opened = statement.query_stream(transaction, rows, OnFailure::Stop);
        let cursor = opened.map_err(|error| of_rows(error, &failure))?;
        Ok(Self { cursor, transaction: None, failure })
    }

    /// Ends `transaction` together with it.
    pub(crate) fn owning(self, transaction: Transaction) -> Self {
        Self { transaction: Some(transaction), ..self }
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        self.cursor.schema()
    }

    /// Ends it early; what it has done until then stays.
    pub(crate) fn close_and_commit(self) -> Result<()> {
        let Self { cursor, transaction, .. } = self;
        drop(cursor);
        Ok(transaction.map_or(Ok(()), Transaction::commit)?)
    }

    /// The outcome of the parameter rows, once all have been read.
    pub(crate) fn executed(&self) -> &RowsExecuted {
        self.cursor.executed()
    }

    pub(crate) fn next(&mut self, progress: &Progress) -> Result<Option<RecordBatch>> {
        let batch = self.cursor.next_batch();
        progress.set_cost(&self.cursor.wire_stats(), self.cursor.decode_time());
        let batch = batch.map_err(|error| of_rows(error, &self.failure))?;
        if batch.is_none()
            && let Some(transaction) = self.transaction.take()
        {
            transaction.commit()?;
        }
        Ok(batch)
    }
}

/// An error that ended an execution for many rows: that of the row, of the reader, or of the whole.
fn of_rows(error: firearrow::Error, failure: &Failure) -> Error {
    match error.rows_executed().and_then(|done| done.failures.first()) {
        Some(failed) => Error::of_row(failed.row, failed.error.clone()),
        None => failure.instead_of(error.into()),
    }
}
