//! Many rows of parameters for one statement.

use crate::arrow::suspect;
use crate::backend::{RowFailure, Written};
use crate::connection::Call;
use crate::error::{Error, Kind, Result};
use crate::session::Session;
use crate::session::write::Writing;
use crate::statement::{Inner, Statement};
use crate::transaction::Transaction;
use ::arrow::array::{RecordBatch, RecordBatchReader};
use ::arrow::datatypes::Schema;
use ::arrow::error::ArrowError;
use firearrow_proto::api::describe::RecordCounts;
use std::collections::VecDeque;
use std::slice;

/// What to do about the rows behind one that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// Send no more of them.
    #[default]
    Stop,
    /// Go on to the last row.
    Continue,
}

/// What became of rows of parameters.
#[derive(Clone, Debug, Default)]
pub struct RowsExecuted {
    /// Rows that were tried, counted from the first.
    pub rows: usize,
    /// Rows inserted, updated and deleted by those that did not fail; `None` when the engine counts nothing.
    pub affected_rows: Option<u64>,
    /// The same by what was done; `None` also where rows that were not inserted travelled as a batch, which counts them
    /// together.
    pub counts: Option<RecordCounts>,
    /// Rows that failed, in order.
    pub failures: Vec<RowFailure>,
}

impl From<Written> for RowsExecuted {
    fn from(written: Written) -> Self {
        let counts = written.counts();
        Self { rows: written.rows, affected_rows: written.affected, counts, failures: written.failures }
    }
}

impl Statement {
    /// Runs it once for each row of parameters and tells of every row that failed. Rows travel together, so that
    /// some behind a failed one may have been tried although the first failure was to end it: all of the first
    /// [`rows`](RowsExecuted::rows) were tried, and those among them without a failure are done.
    ///
    /// # Errors
    /// What concerns no single row: parameters that do not fit, a transaction that is dead, a lost connection.
    /// [`Error::rows_executed`] tells what was done by then.
    pub fn execute_rows(
        &self,
        transaction: &mut Transaction,
        rows: &RecordBatch,
        on_failure: OnFailure,
    ) -> Result<RowsExecuted> {
        self.write(transaction, &rows.schema(), std::iter::once(Ok(rows.clone())), on_failure)
    }

    /// [`execute_rows`](Self::execute_rows) for all rows of a reader, which may be a [`Cursor`](crate::Cursor) of the same
    /// connection. Row numbers count over all batches; memory is bounded by two of them and about 3 MB.
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
        let id = transaction.id()?;
        let stop = on_failure == OnFailure::Stop;
        let prepared = &self.inner.prepared;
        let inner = &self.inner;
        let write = self.write;
        let call = inner.shared.begin();
        let writing = call.run(async |session| session.start_writing(prepared, id, schema, stop, write))?;
        let mut open = Open { inner, call, writing: Some(writing), recent: VecDeque::new() };
        let written = open.write_all(batches);
        open.finish(written)
    }
}

/// Rows on their way. Whatever becomes of the caller, their answers are taken, so that the connection stays in step.
struct Open<'a> {
    inner: &'a Inner,
    call: Call<'a>,
    writing: Option<Writing>,
    /// Batches with rows of which it is not known yet what became of them, and the number of the first row of each.
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
            let write = async |session: &mut Session<_>| session.write_rows(writing, &batch).await;
            self.call.run(async |session| session.metered(meters, write).await)?;
            if writing.should_stop() {
                break;
            }
        }
        Ok(())
    }

    fn finish(&mut self, result: Result<()>) -> Result<RowsExecuted> {
        let Some(mut writing) = self.writing.take() else { return Ok(RowsExecuted::default()) };
        let meters = slice::from_ref(&self.inner.meter);
        let finish = async |session: &mut Session<_>| session.finish_writing(&mut writing).await;
        let finished = self.call.finish(async |session| session.metered(meters, finish).await);
        let result = result.and(finished);
        name_parameters(self.inner, &self.recent, &mut writing);
        let done = RowsExecuted::from(writing.into_written());
        match result {
            Ok(()) => Ok(done),
            Err(error) => Err(error.after(done)),
        }
    }
}

impl Inner {
    /// Says which parameter the engine has refused, if that can be found out.
    pub(crate) fn name_parameter(&self, error: &mut Error, batch: &RecordBatch, row: usize) {
        if error.status().is_none() {
            return;
        }
        let parameters = &self.prepared.info.parameters;
        let Some(index) = suspect(parameters, batch, row, error.sqlstate()) else { return };
        let name = match batch.schema_ref().field(index).name().as_str() {
            "" => String::new(),
            name => format!(" (\"{name}\")"),
        };
        let told = error.clone().context(format!("parameter {}{name}", index + 1));
        *error = told;
    }
}

/// Says of each new failure which parameter it is about, as long as its batch is here.
fn name_parameters(inner: &Inner, recent: &VecDeque<(usize, RecordBatch)>, writing: &mut Writing) {
    for RowFailure { row, error } in writing.new_failures() {
        if let Some((first, batch)) = recent.iter().rfind(|(first, _)| first <= row) {
            inner.name_parameter(error, batch, *row - first);
        }
    }
}

impl Drop for Open<'_> {
    /// Does nothing but when a reader panicked.
    fn drop(&mut self) {
        if let Err(error) = self.finish(Ok(())) {
            tracing::debug!(%error, "rows that nobody waits for failed");
        }
    }
}

impl Error {
    /// An error of somebody who supplies rows.
    pub(crate) fn of_reader(error: ArrowError) -> Self {
        let text = "reading the rows to be written failed";
        match error {
            ArrowError::ExternalError(error) => match error.downcast::<Self>() {
                Ok(error) => error.context(text),
                Err(error) => Self::new(Kind::Data, format!("{text}: {error}")),
            },
            ArrowError::IoError(..) => Self::new(Kind::Io, format!("{text}: {error}")),
            error => Self::new(Kind::Data, format!("{text}: {error}")),
        }
    }
}
