//! Many rows of parameters into one statement.

use super::call::Call;
use super::statement::{Inner, Statement};
use super::{Transaction, flow};
use crate::backend::RowFailure;
use crate::error::{Error, Kind, Result};
use crate::rows::{OnFailure, RowsExecuted};
use crate::session::run::name_parameter;
use crate::session::write::Writing;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use futures_core::Stream;
use std::collections::VecDeque;
use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use tokio::sync::Mutex;

/// Batches of parameters.
pub(super) trait Batches: Stream<Item = Result<RecordBatch, ArrowError>> {}

impl<S: Stream<Item = Result<RecordBatch, ArrowError>>> Batches for S {}

/// One batch as a stream.
pub(super) struct Once(pub(super) Option<RecordBatch>);

impl Stream for Once {
    type Item = Result<RecordBatch, ArrowError>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.take().map(Ok))
    }
}

/// The next item of a stream.
pub(super) async fn next<S: Stream + ?Sized>(stream: &mut std::pin::Pin<&mut S>) -> Option<S::Item> {
    std::future::poll_fn(|context| stream.as_mut().poll_next(context)).await
}

impl Statement {
    /// Executes the statement for each parameter row and reports every row that failed. Rows are sent together, so rows
    /// after a failed one may have been tried even with [`OnFailure::Stop`]: all of the first
    /// [`rows`](RowsExecuted::rows) were tried, and those among them without a failure are done.
    ///
    /// # Errors
    /// A row that fails is not an error of this call, even with `Stop`: look at [`failures`](RowsExecuted::failures).
    /// Errors are those that concern no single row: parameters that do not fit, a transaction that has ended, a lost connection.
    /// [`Error::rows_executed`] reports what was done by then.
    pub async fn execute_rows(
        &self,
        transaction: &mut Transaction,
        rows: &RecordBatch,
        on_failure: OnFailure,
    ) -> Result<RowsExecuted> {
        self.write(transaction, rows.schema(), Once(Some(rows.clone())), on_failure).await
    }

    /// Like [`execute_rows`](Self::execute_rows), for all batches of a stream, which have this schema. Row numbers
    /// count over all batches; memory is bounded by two of them and about
    /// 3 MB; [`OnFailure::Continue`] adds the outcome of each row. When the future is dropped, no more
    /// rows are sent; those already sent are part of the transaction.
    ///
    /// # Errors
    /// As with `execute_rows`, and those of the stream.
    pub async fn execute_stream(
        &self,
        transaction: &mut Transaction,
        schema: SchemaRef,
        batches: impl Stream<Item = Result<RecordBatch, ArrowError>> + Send,
        on_failure: OnFailure,
    ) -> Result<RowsExecuted> {
        self.write(transaction, schema, batches, on_failure).await
    }

    async fn write(
        &self,
        transaction: &Transaction,
        schema: SchemaRef,
        batches: impl Batches,
        on_failure: OnFailure,
    ) -> Result<RowsExecuted> {
        let (inner, how, id) = (Arc::clone(&self.inner), self.how.clone(), transaction.id);
        let stop = on_failure == OnFailure::Stop;
        let call = self.inner.shared.begin();
        let open = Open { inner: Arc::clone(&inner), call, rows: Arc::default(), is_finished: false };
        let rows = Arc::clone(&open.rows);
        let start = flow!(session => {
            let writing = session.start_writing(&inner.prepared, id, &schema, stop, &how)?;
            rows.lock().await.writing = Some(writing);
            Ok(())
        });
        open.call.run(Vec::new(), start).await?;
        let written = open.write_all(batches).await;
        open.finish(written).await
    }
}

/// Rows in transit. Whatever happens to the caller, their responses are read, so that the connection stays in step.
struct Open {
    inner: Arc<Inner>,
    call: Call,
    /// Locked by whoever has the session, so that nobody waits for it.
    rows: Arc<Mutex<Rows>>,
    is_finished: bool,
}

#[derive(Default)]
struct Rows {
    writing: Option<Writing>,
    /// Batches with rows whose outcome is still unknown, and the number of the first row of each.
    recent: VecDeque<(usize, RecordBatch)>,
}

impl Rows {
    /// Names the parameter of each new failure, while its batch is still available.
    fn name_parameters(&mut self, inner: &Inner) {
        let Self { writing: Some(writing), recent } = self else { return };
        for RowFailure { row, error } in writing.new_failures() {
            if let Some((first, batch)) = recent.iter().rfind(|(first, _)| first <= row) {
                name_parameter(&inner.prepared, error, batch, *row - first);
            }
        }
        let known = writing.known_rows();
        recent.retain(|(first, batch)| first + batch.num_rows() > known);
    }
}

impl Open {
    /// The connection is free while the next batch is awaited: the stream may need it.
    async fn write_all(&self, batches: impl Batches) -> Result<()> {
        let (mut batches, mut first) = (pin!(batches), 0);
        while let Some(batch) = next(&mut batches).await {
            let batch = batch.map_err(Error::of_reader)?;
            let (rows, inner, start) = (Arc::clone(&self.rows), Arc::clone(&self.inner), first);
            first += batch.num_rows();
            let write = flow!(session => {
                let mut rows = rows.lock().await;
                rows.name_parameters(&inner);
                rows.recent.push_back((start, batch.clone()));
                let Some(writing) = &mut rows.writing else { return Ok(true) };
                session.write_rows(writing, &batch).await?;
                Ok(writing.should_stop())
            });
            if self.call.run(vec![self.inner.meter.clone()], write).await? {
                break;
            }
        }
        Ok(())
    }

    async fn finish(mut self, result: Result<()>) -> Result<RowsExecuted> {
        let (rows, inner) = (Arc::clone(&self.rows), Arc::clone(&self.inner));
        let finish = flow!(session => {
            let mut rows = rows.lock().await;
            let Some(writing) = &mut rows.writing else {
                return Err(Error::new(Kind::Misuse, "nothing was begun"));
            };
            let finished = session.finish_writing(writing).await;
            rows.name_parameters(&inner);
            let done = rows.writing.take().map(|writing| RowsExecuted::from(writing.into_written()));
            Ok((done.unwrap_or_default(), finished))
        });
        self.is_finished = true;
        let (done, finished) = self.call.finish(vec![self.inner.meter.clone()], finish).await?;
        match result.and(finished) {
            Ok(()) => Ok(done),
            Err(error) => Err(error.after(done)),
        }
    }
}

impl Drop for Open {
    /// The caller has gone in the middle of it.
    fn drop(&mut self) {
        if mem::replace(&mut self.is_finished, true) {
            return;
        }
        let rows = Arc::clone(&self.rows);
        self.inner.shared.discard(flow!(session => {
            let mut rows = rows.lock().await;
            match rows.writing.take() {
                Some(mut writing) => session.finish_writing(&mut writing).await,
                None => Ok(()),
            }
        }));
    }
}
