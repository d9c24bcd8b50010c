//! Many rows of parameters into one statement.

use super::Transaction;
use super::shared::Call;
use super::statement::{Inner, Statement};
use crate::backend::RowFailure;
use crate::error::{Error, Result};
use crate::rows::{OnFailure, RowsExecuted};
use crate::session::run::name_parameter;
use crate::session::write::Writing;
use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use std::collections::VecDeque;
use std::slice;

impl Statement {
    /// Executes the statement for each parameter row and reports every row that failed. Rows are sent together, so rows
    /// after a failed one may have been tried even with [`OnFailure::Stop`]: all of the first
    /// [`rows`](RowsExecuted::rows) were tried, and those among them without a failure are done.
    ///
    /// # Errors
    /// A row that fails is not an error of this call, even with `Stop`: look at [`failures`](RowsExecuted::failures).
    /// Errors are those that concern no single row: parameters that do not fit, a transaction that has ended, a lost connection.
    /// [`Error::rows_executed`] reports what was done by then.
    pub fn execute_rows(
        &self,
        transaction: &mut Transaction,
        rows: &RecordBatch,
        on_failure: OnFailure,
    ) -> Result<RowsExecuted> {
        self.write(transaction, &rows.schema(), std::iter::once(Ok(rows.clone())), on_failure)
    }

    /// Like [`execute_rows`](Self::execute_rows), for all rows of a reader, which may be a [`Cursor`](crate::Cursor) of
    /// the same connection. Row numbers count over all batches; memory is bounded by two of them and about
    /// 3 MB; [`OnFailure::Continue`] adds the outcome of each row.
    ///
    /// # Errors
    /// As with `execute_rows`, and those of the reader.
    pub fn execute_stream(
        &self,
        transaction: &mut Transaction,
        reader: impl RecordBatchReader,
        on_failure: OnFailure,
    ) -> Result<RowsExecuted> {
        self.write(transaction, &reader.schema(), reader, on_failure)
    }

    fn write(
        &self,
        transaction: &Transaction,
        schema: &Schema,
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
        on_failure: OnFailure,
    ) -> Result<RowsExecuted> {
        let (inner, stop) = (&*self.inner, on_failure == OnFailure::Stop);
        let call = inner.shared.begin();
        let writing = call.run(&[], async |session| {
            session.start_writing(&inner.prepared, transaction.id, schema, stop, &self.how)
        })?;
        let mut open = Open { inner, call, writing: Some(writing), recent: VecDeque::new() };
        let written = open.write_all(batches);
        open.finish(written)
    }
}

/// Rows in transit. Whatever happens to the caller, their responses are read, so that the connection stays in step.
struct Open<'a> {
    inner: &'a Inner,
    call: Call<'a>,
    writing: Option<Writing>,
    /// Batches with rows whose outcome is still unknown, and the number of the first row of each.
    recent: VecDeque<(usize, RecordBatch)>,
}

impl Open<'_> {
    /// The connection is free while the next batch is awaited: the reader may need it.
    fn write_all(&mut self, batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>) -> Result<()> {
        let Some(writing) = &mut self.writing else { return Ok(()) };
        let mut first = 0;
        for batch in batches {
            let batch = batch.map_err(Error::of_reader)?;
            name_parameters(self.inner, &self.recent, writing);
            let known = writing.known_rows();
            self.recent.retain(|(first, batch)| first + batch.num_rows() > known);
            self.recent.push_back((first, batch.clone()));
            first += batch.num_rows();
            let meters = slice::from_ref(&self.inner.meter);
            self.call.run(meters, async |session| session.write_rows(writing, &batch).await)?;
            if writing.should_stop() {
                break;
            }
        }
        Ok(())
    }

    fn finish(&mut self, result: Result<()>) -> Result<RowsExecuted> {
        let Some(mut writing) = self.writing.take() else { return Ok(RowsExecuted::default()) };
        let meters = slice::from_ref(&self.inner.meter);
        let finished = self.call.finish(meters, async |session| session.finish_writing(&mut writing).await);
        let result = result.and(finished);
        name_parameters(self.inner, &self.recent, &mut writing);
        let done = RowsExecuted::from(writing.into_written());
        match result {
            Ok(()) => Ok(done),
            Err(error) => Err(error.after(done)),
        }
    }
}

/// Names the parameter of each new failure, while its batch is still available.
fn name_parameters(inner: &Inner, recent: &VecDeque<(usize, RecordBatch)>, writing: &mut Writing) {
    for RowFailure { row, error } in writing.new_failures() {
        if let Some((first, batch)) = recent.iter().rfind(|(first, _)| first <= row) {
            name_parameter(&inner.prepared, error, batch, *row - first);
        }
    }
}

impl Drop for Open<'_> {
    /// Does nothing unless a reader panicked.
    fn drop(&mut self) {
        if let Err(error) = self.finish(Ok(())) {
            tracing::debug!(%error, "rows that nobody waits for failed");
        }
    }
}
