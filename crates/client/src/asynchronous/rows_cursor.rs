//! The results of many rows of parameters as one.

use super::call::given_up;
use super::statement::{Inner, Statement};
use super::writing::Once;
use super::{Transaction, flow};
use crate::error::{Error, Result};
use crate::rows::{OnFailure, RowsExecuted};
use crate::session::series::{Querying, Step};
use crate::stats::{Meter, WireStats};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use futures_core::Stream;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// Batches of parameters that are still to come.
type Batches = Pin<Box<dyn Stream<Item = Result<RecordBatch, ArrowError>> + Send>>;

/// The rows that a statement returns for many parameter rows, in the order of the parameters; opened by
/// [`Statement::query_rows`].
///
/// The statement is executed ahead of reading, by some hundred parameter rows or, over a network, by the contents of
/// one round trip: up to 1 MB of parameters, 1 MB of single rows, and 32 open cursors. Dropping it, or closing it
/// early, executes nothing more; what was executed by then is done.
pub struct RowsCursor {
    state: Arc<State>,
    schema: SchemaRef,
    batches: Option<Batches>,
    stops: bool,
    /// The first batch, which was made when this was opened.
    ahead: Option<RecordBatch>,
    done: RowsExecuted,
    failed: Option<Error>,
    /// A call is running, or was given up.
    is_waiting: bool,
}

/// State shared by a result and its running call.
struct State {
    inner: Arc<Inner>,
    /// Locked by whoever has the session, so that nobody waits for it. `None` once it has ended.
    querying: Arc<Mutex<Option<Querying>>>,
    /// Its own, and the statement's.
    meters: Vec<Meter>,
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
    pub async fn query_rows(
        &self,
        transaction: &Transaction,
        rows: &RecordBatch,
        on_failure: OnFailure,
    ) -> Result<RowsCursor> {
        let batches = Box::pin(Once(Some(rows.clone())));
        RowsCursor::open(self, transaction, rows.schema(), batches, on_failure).await
    }

    /// Like [`query_rows`](Self::query_rows), for all batches of a stream, which have this schema. Row numbers count
    /// over all batches.
    ///
    /// # Errors
    /// As with `query_rows`, and those of the stream.
    pub async fn query_stream(
        &self,
        transaction: &Transaction,
        schema: SchemaRef,
        batches: impl Stream<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
        on_failure: OnFailure,
    ) -> Result<RowsCursor> {
        RowsCursor::open(self, transaction, schema, Box::pin(batches), on_failure).await
    }
}

impl RowsCursor {
    async fn open(
        statement: &Statement,
        transaction: &Transaction,
        parameters: SchemaRef,
        batches: Batches,
        on_failure: OnFailure,
    ) -> Result<Self> {
        let (id, stops) = (transaction.id, on_failure == OnFailure::Stop);
        let (inner, how) = (Arc::clone(&statement.inner), statement.how.clone());
        let meters = vec![Meter::default(), inner.meter.clone()];
        let start = flow!(session => {
            let querying = session.start_querying(&inner.prepared, id, &parameters, stops, &how)?;
            let schema = querying.schema();
            Ok((Arc::new(State { inner, querying: Arc::new(Mutex::new(Some(querying))), meters }), schema))
        });
        let (state, schema) = statement.inner.shared.run(start).await?;
        let (done, batches) = (RowsExecuted::default(), Some(batches));
        let mut cursor =
            Self { state, schema, batches, stops, ahead: None, done, failed: None, is_waiting: false };
        cursor.ahead = cursor.next_batch().await?;
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
        self.state.meters.first().map(Meter::read).unwrap_or_default()
    }

    /// Returns the time spent making Arrow values of this result so far.
    pub fn decode_time(&self) -> Duration {
        self.state.meters.first().map(Meter::decoding).unwrap_or_default()
    }

    /// Returns the next batch; `None` at the end, and from then on. A failed result repeats its error. Dropping the
    /// future ends the result.
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if std::mem::replace(&mut self.is_waiting, true) {
            return Err(given_up());
        }
        let batch = self.advance().await;
        self.is_waiting = false;
        batch
    }

    async fn advance(&mut self) -> Result<Option<RecordBatch>> {
        if let Some(batch) = self.ahead.take() {
            return Ok(Some(batch));
        }
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let call = self.state.inner.shared.begin();
        let mut supply = None;
        let advanced = loop {
            let (state, next) = (Arc::clone(&self.state), supply.take());
            let go_on = flow!(session => {
                let mut querying = state.querying.lock().await;
                let Some(querying) = &mut *querying else { return Ok(Step::End) };
                if let Some(batch) = next {
                    querying.supply(batch);
                }
                let step = session.go_on(querying).await;
                if let Some(own) = state.meters.first() {
                    own.note(None, querying.decoding());
                }
                step
            });
            match call.run(self.state.meters.clone(), go_on).await {
                Ok(Step::Batch(batch)) => return Ok(Some(batch)),
                Ok(Step::End) => break Ok(()),
                Err(error) => break Err(error),
                // The connection is free meanwhile: the stream may need it.
                Ok(Step::Parameters) => match self.next_parameters().await {
                    Ok(batch) => supply = Some(batch),
                    Err(error) => break Err(error),
                },
            }
        };
        let is_complete = advanced.is_ok();
        self.finish(advanced, is_complete).await?;
        let failure = self.done.failures.first().filter(|_| self.stops && is_complete);
        let Some(failure) = failure else { return Ok(None) };
        let error = failure.error.clone().in_row(failure.row);
        let error = error.context(format!("row {} of the parameters", failure.row));
        Err(self.fail(error))
    }

    async fn next_parameters(&mut self) -> Result<Option<RecordBatch>> {
        let Some(batches) = &mut self.batches else { return Ok(None) };
        let next = std::future::poll_fn(|context| batches.as_mut().poll_next(context)).await;
        next.transpose().map_err(Error::of_reader)
    }

    /// Reads the outstanding responses; nothing more is executed.
    async fn finish(&mut self, result: Result<()>, is_complete: bool) -> Result<()> {
        self.batches = None;
        let state = Arc::clone(&self.state);
        let finish = flow!(session => {
            let Some(mut querying) = state.querying.lock().await.take() else { return Ok(None) };
            let finished = session.finish_querying(&mut querying, is_complete).await;
            Ok(Some((RowsExecuted::from(querying.into_written()), finished)))
        });
        let finished = self.state.inner.shared.finish(self.state.meters.clone(), finish).await;
        let finished = match finished {
            Ok(Some((done, finished))) => {
                self.done = done;
                finished
            }
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        result.and(finished).map_err(|error| self.fail(error))
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
    pub async fn close(mut self) -> Result<RowsExecuted> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.finish(Ok(()), false).await?;
        Ok(std::mem::take(&mut self.done))
    }
}

impl Drop for RowsCursor {
    fn drop(&mut self) {
        if self.batches.is_none() && !self.is_waiting {
            return;
        }
        let querying = Arc::clone(&self.state.querying);
        self.state.inner.shared.discard(flow!(session => {
            match querying.lock().await.take() {
                Some(mut querying) => session.finish_querying(&mut querying, false).await,
                None => Ok(()),
            }
        }));
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
