//! The results of many rows of parameters as one.

use super::Transaction;
use super::shared::Call;
use super::statement::{Inner, Statement};
use crate::error::{Error, Result};
use crate::rows::{OnFailure, RowsExecuted};
use crate::session::series::{Querying, Step};
use crate::stats::{Meter, WireStats};
use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Batches of parameters that are still to come.
type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// The rows that a statement returns for many parameter rows, in the order of the parameters; opened by
/// [`Statement::query_rows`].
///
/// The statement is executed ahead of reading, by some hundred parameter rows or, over a network, by the contents of
/// one round trip: up to 1 MB of parameters, 1 MB of single rows, and 32 open cursors. Dropping it, or closing it
/// early, executes nothing more; what was executed by then is done.
pub struct RowsCursor {
    inner: Arc<Inner>,
    schema: SchemaRef,
    batches: Option<Batches>,
    querying: Option<Querying>,
    stops: bool,
    /// The first batch, which was made when this was opened.
    ahead: Option<RecordBatch>,
    done: RowsExecuted,
    /// Time spent decoding, once all is done.
    decoding: Duration,
    failed: Option<Error>,
    /// The statement's, and its own.
    meters: [Meter; 2],
}

impl Statement {
    /// Executes the statement for each parameter row and streams all returned rows in order: INSERT, UPDATE, DELETE and
    /// MERGE with RETURNING, EXECUTE PROCEDURE with output, and queries. Many executions share a round trip. It runs
    /// immediately until the first batch of rows is full; the rest follows as the result is read.
    ///
    /// [`RowsCursor::executed`] reports failed parameter rows as [`execute_rows`](Self::execute_rows) does. With
    /// [`OnFailure::Stop`] the result ends with the error of the first that failed, after the rows of all that were
    /// executed; with [`OnFailure::Continue`] it ends as if there had been none. Failed parameter rows return no rows,
    /// except for queries that fail in the middle of their result.
    ///
    /// Queries run side by side: those whose procedures write should not depend on what the one before has read.
    ///
    /// # Errors
    /// [`Kind::Misuse`](crate::Kind::Misuse) if it gives no rows. What concerns no single row: parameters that do not fit, a transaction that is
    /// dead, values that the columns cannot hold, a lost connection. [`Error::rows_executed`] tells what was done by then.
    pub fn query_rows(
        &self,
        transaction: &Transaction,
        rows: &RecordBatch,
        on_failure: OnFailure,
    ) -> Result<RowsCursor> {
        let batches = Box::new(std::iter::once(Ok(rows.clone())));
        RowsCursor::open(self, transaction, &rows.schema(), batches, on_failure)
    }

    /// Like [`query_rows`](Self::query_rows), for all rows of a reader, which may be a [`Cursor`](crate::Cursor) of the
    /// same connection. Row numbers count over all batches.
    ///
    /// # Errors
    /// As with `query_rows`, and those of the reader.
    pub fn query_stream(
        &self,
        transaction: &Transaction,
        reader: impl RecordBatchReader + Send + 'static,
        on_failure: OnFailure,
    ) -> Result<RowsCursor> {
        RowsCursor::open(self, transaction, &reader.schema(), Box::new(reader), on_failure)
    }
}

impl RowsCursor {
    fn open(
        statement: &Statement,
        transaction: &Transaction,
        parameters: &Schema,
        batches: Batches,
        on_failure: OnFailure,
    ) -> Result<Self> {
        let id = transaction.id;
        let inner = Arc::clone(&statement.inner);
        let stops = on_failure == OnFailure::Stop;
        let querying = inner.shared.run(async |session| {
            session.start_querying(&inner.prepared, id, parameters, stops, &statement.how)
        })?;
        let meters = [inner.meter.clone(), Meter::default()];
        let mut cursor = Self {
            inner,
            schema: querying.schema(),
            batches: Some(batches),
            querying: Some(querying),
            stops,
            ahead: None,
            done: RowsExecuted::default(),
            decoding: Duration::ZERO,
            failed: None,
            meters,
        };
        cursor.ahead = cursor.next_batch()?;
        Ok(cursor)
    }

    /// Columns of every batch.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Returns the outcome of the parameter rows: complete once the result has been read to its end, and empty until
    /// then.
    pub fn executed(&self) -> &RowsExecuted {
        &self.done
    }

    /// Returns what this result has cost so far, from its first execution on. All zero for an engine in this process.
    pub fn wire_stats(&self) -> WireStats {
        self.meters[1].read()
    }

    /// Returns the time spent making Arrow values of this result so far.
    pub fn decode_time(&self) -> Duration {
        self.querying.as_ref().map_or(self.decoding, Querying::decoding)
    }

    /// Returns the next batch; `None` at the end, and from then on. A failed result repeats its error.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if let Some(batch) = self.ahead.take() {
            return Ok(Some(batch));
        }
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let inner = Arc::clone(&self.inner);
        let call = inner.shared.begin();
        match self.advance(&call) {
            Ok(Some(batch)) => Ok(Some(batch)),
            Ok(None) => {
                self.finish(&call, Ok(()), true)?;
                let failure = self.done.failures.first().filter(|_| self.stops);
                let Some(failure) = failure else { return Ok(None) };
                let error = failure.error.clone().in_row(failure.row);
                let error = error.context(format!("row {} of the parameters", failure.row));
                Err(self.fail(error))
            }
            Err(error) => match self.finish(&call, Err(error), false) {
                Ok(()) => Ok(None),
                Err(error) => Err(error),
            },
        }
    }

    fn advance(&mut self, call: &Call<'_>) -> Result<Option<RecordBatch>> {
        let Some(querying) = &mut self.querying else { return Ok(None) };
        loop {
            match call.run(&self.meters, async |session| session.go_on(querying).await)? {
                Step::Batch(batch) => return Ok(Some(batch)),
                Step::End => return Ok(None),
                // The connection is free meanwhile: the reader may need it.
                Step::Parameters => match self.batches.as_mut().and_then(Iterator::next) {
                    Some(Ok(batch)) => querying.supply(Some(batch)),
                    Some(Err(error)) => return Err(Error::of_reader(error)),
                    None => querying.supply(None),
                },
            }
        }
    }

    /// Reads the outstanding responses; nothing more is executed.
    fn finish(&mut self, call: &Call<'_>, result: Result<()>, is_complete: bool) -> Result<()> {
        self.batches = None;
        let Some(mut querying) = self.querying.take() else { return result };
        let finished = call
            .finish(&self.meters, async |session| session.finish_querying(&mut querying, is_complete).await);
        self.finished(querying);
        result.and(finished).map_err(|error| self.fail(error))
    }

    /// [`finish`](Self::finish) as a separate operation, once the caller wants no more.
    fn stop(&mut self) -> Result<()> {
        let inner = Arc::clone(&self.inner);
        self.finish(&inner.shared.begin(), Ok(()), false)
    }

    fn finished(&mut self, querying: Querying) {
        self.decoding = querying.decoding();
        self.done = RowsExecuted::from(querying.into_written());
    }

    fn fail(&mut self, error: Error) -> Error {
        let error = error.after(self.done.clone());
        self.failed = Some(error.clone());
        error
    }

    /// Ends it. Parameter rows that have not been executed never will be; the report shows which.
    ///
    /// # Errors
    /// The error that ended it earlier, or a lost connection.
    pub fn close(mut self) -> Result<RowsExecuted> {
        self.stop()?;
        match self.failed.take() {
            Some(error) => Err(error),
            None => Ok(std::mem::take(&mut self.done)),
        }
    }
}

impl Drop for RowsCursor {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            tracing::debug!(%error, "rows that nobody waits for failed");
        }
    }
}

impl Iterator for RowsCursor {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.next_batch() {
            Ok(batch) => batch.map(Ok),
            Err(error) => {
                // A stream ends after its error; next_batch would repeat it for ever.
                self.failed = None;
                Some(Err(error.into()))
            }
        }
    }
}

impl RecordBatchReader for RowsCursor {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl fmt::Debug for RowsCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowsCursor")
            .field("done", &self.done)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}
