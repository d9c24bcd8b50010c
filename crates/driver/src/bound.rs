//! A query that is run once for each parameter row.

use crate::error::{Error, Result};
use crate::report::Report;
use crate::rows::Rows;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use firearrow::{OnFailure, RowsCursor, RowsExecuted, Statement, Transaction};

/// A query that is run once for each row of parameters; its results follow each other.
pub(crate) struct BoundQuery {
    cursor: RowsCursor,
    /// The transaction of this execution; else it is that of manual mode.
    transaction: Option<Transaction>,
    report: Report,
}

impl BoundQuery {
    /// Runs it until its first rows are there.
    pub(crate) fn open(
        statement: &Statement,
        transaction: &Transaction,
        rows: Rows,
        report: Report,
    ) -> Result<Self> {
        let opened = statement.query_stream(transaction, rows, report.on_failure);
        let cursor = opened.map_err(|error| ended(error, &report))?;
        Ok(Self { cursor, transaction: None, report })
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

    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>> {
        let is_alone = self.transaction.is_some();
        let batch = self.read();
        if let Err(error) = &batch
            && is_alone
        {
            self.report.progress.undo_rows(error);
        }
        batch
    }

    fn read(&mut self) -> Result<Option<RecordBatch>> {
        let batch = self.cursor.next_batch();
        self.report.progress.set_cost(&self.cursor.wire_stats(), self.cursor.decode_time());
        let batch = batch.map_err(|error| ended(error, &self.report))?;
        if batch.is_none() {
            self.report.complete(self.cursor.executed())?;
            // The outcome of an interrupted commit would be unknown.
            self.report.task.limit(None);
            self.transaction.take().map_or(Ok(()), Transaction::commit)?;
        }
        Ok(batch)
    }
}

/// An error that ended an execution for many rows: that of the row, of the reader, or of the whole.
fn ended(error: firearrow::Error, report: &Report) -> Error {
    let failed = error.rows_executed().and_then(|done| done.failures.first());
    match failed.filter(|_| report.on_failure == OnFailure::Stop) {
        Some(failed) => Error::of_row(failed.row, failed.error.clone()),
        None => report.broken_off(error),
    }
}
