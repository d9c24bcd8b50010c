//! One query read by several connections at once, in the order in which one would have read it.
//!
//! The engine reads a table page by page. Ranges of pages that give about a batch each are handed out in order to the
//! readers, threads with a connection each, which read them at the snapshot of the query's transaction. The batches
//! are handed on in the order of the ranges.

mod eligibility;
mod ranges;
mod reader;
mod reorder;
mod why;

pub(crate) use eligibility::{ParallelPlan, ReadJob};
pub use why::{Parallelism, WhyPlain};

use crate::cancel::{CancelToken, Operation};
use crate::error::{Error, Kind, Result};
use crate::stats::Meter;
use arrow::array::RecordBatch;
use ranges::Ranges;
use reader::Reader;
use reorder::ReorderBuffer;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The readers of a query. Dropping it ends them, without waiting for it.
pub(crate) struct Readers {
    buffer: Arc<ReorderBuffer>,
    token: CancelToken,
    count: usize,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Readers {
    /// Lets the readers connect.
    pub(crate) fn start(job: ReadJob, meters: &[Meter]) -> Result<Self> {
        let count = job.readers;
        let ranges = Ranges::new(job.end, count, job.how.limits.rows);
        let buffer = Arc::new(ReorderBuffer::new(ranges, count));
        let token = CancelToken::new();
        token.set_time_limit(job.timeout);
        let job = Arc::new(job);
        let mut threads = Vec::with_capacity(count);
        let readers = Self { buffer, token, count, threads: Mutex::default() };
        for started in 0..count {
            let reader = Reader {
                buffer: Arc::clone(&readers.buffer),
                job: Arc::clone(&job),
                token: readers.token.clone(),
                meters: meters.to_vec(),
            };
            let spawned = thread::Builder::new().name("firearrow-reader".into()).spawn(move || reader.work());
            match spawned {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    (started..count).for_each(|_| readers.buffer.gone());
                    return Err(Error::new(Kind::Io, format!("could not start a reader thread: {error}")));
                }
            }
        }
        readers.lock().extend(threads);
        Ok(readers)
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Waits until all readers can read. The inner error is that of a reader, the outer one that of the operation.
    pub(crate) fn wait_ready(&self, operation: &Operation) -> Result<Result<()>> {
        self.buffer.wait_ready(self.count, operation)
    }

    /// Returns the next batch; `None` at the end, when all readers have gone. After an error they end.
    pub(crate) fn wait_next(&self, operation: &Operation) -> Result<Option<RecordBatch>> {
        self.buffer.wait_next(operation).inspect_err(|_| self.stop())
    }

    /// Ends the readers, wherever they are, and waits for their connections to be closed.
    pub(crate) fn wait_end(&self) {
        self.stop();
        if self.buffer.wait_gone() {
            self.lock().drain(..).for_each(|thread| drop(thread.join()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// [`wait_ready`](Self::wait_ready) in a task.
    #[cfg(feature = "tokio")]
    pub(crate) async fn until_ready(&self, operation: &Operation) -> Result<Result<()>> {
        self.buffer.until_ready(self.count, operation).await
    }

    /// [`wait_next`](Self::wait_next) in a task.
    #[cfg(feature = "tokio")]
    pub(crate) async fn until_next(&self, operation: &Operation) -> Result<Option<RecordBatch>> {
        self.buffer.until_next(operation).await.inspect_err(|_| self.stop())
    }

    /// [`wait_end`](Self::wait_end) in a task.
    #[cfg(feature = "tokio")]
    pub(crate) async fn until_end(&self) {
        self.stop();
        self.buffer.until_gone().await;
    }

    fn stop(&self) {
        self.buffer.stop();
        self.token.cancel();
    }

    /// Time that all readers have spent decoding.
    pub(crate) fn decoding(&self) -> Duration {
        self.buffer.decoding()
    }

    /// The most batches that waited or were being made at a time.
    pub(crate) fn peak(&self) -> usize {
        self.buffer.peak()
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.stop();
    }
}
