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

pub(crate) use eligibility::{ParallelPlan, ReadJob, Stop};
pub use why::{Parallelism, WhyPlain};

use crate::cancel::{CancelToken, Operation};
use crate::error::{Error, Kind, Result};
use crate::stats::Meter;
use arrow::array::RecordBatch;
use ranges::Ranges;
use reader::Reader;
use reorder::ReorderBuffer;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The longest that readers take to end: a cancellation has five seconds at most, and so has a detach; a connection that is just
/// being opened ends by itself.
const LEAVE: Duration = Duration::from_secs(15);
/// The longest that a query waits for readers that could not start, before it is read without them.
const LEAVE_START: Duration = Duration::from_secs(1);
/// A connection that waits for others sends a ping this often: servers and routers close those that are idle.
const KEEP_ALIVE: Duration = Duration::from_secs(2);

/// The readers of a query. Dropping it ends them, without waiting for it.
pub(crate) struct Readers {
    buffer: Arc<ReorderBuffer>,
    token: CancelToken,
    count: usize,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// When all readers must be ready to read.
    start_until: Instant,
    /// Since when the connection of the query itself has been idle.
    idle_since: Mutex<Instant>,
    /// Whether the query was interrupted, so that nobody waits for the readers.
    is_given_up: AtomicBool,
}

impl Readers {
    /// Lets the readers connect; says why they cannot.
    pub(crate) fn start(job: ReadJob, meters: &[Meter]) -> Result<Self, WhyPlain> {
        let count = job.readers;
        let ranges = Ranges::new(job.end, count, job.how.limits.rows);
        let buffer = Arc::new(ReorderBuffer::new(ranges, count));
        let token = CancelToken::new();
        token.set_time_limit(job.timeout);
        let job = Arc::new(job);
        let mut threads = Vec::with_capacity(count);
        let now = Instant::now();
        let start = job.timeout.map_or(job.start, |timeout| timeout.min(job.start));
        let readers = Self {
            buffer,
            token,
            count,
            threads: Mutex::default(),
            start_until: now + start,
            idle_since: Mutex::new(now),
            is_given_up: AtomicBool::new(false),
        };
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
                    return Err(WhyPlain::Readers(format!("could not start a reader thread: {error}")));
                }
            }
        }
        readers.lock().extend(threads);
        Ok(readers)
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Waits until all readers can read. The inner error is that of a reader, the outer one that of the operation or the
    /// time limit of the query. After either, the readers end.
    pub(crate) fn wait_ready(&self, operation: &Operation) -> Result<Result<(), WhyPlain>> {
        let ready = self.buffer.wait_ready(self.count, operation, self.start_until)?;
        let Err(why) = self.started(ready)? else { return Ok(Ok(())) };
        self.stop();
        self.wait_gone(operation, LEAVE_START);
        Ok(Err(why))
    }

    fn started(&self, ready: Poll<Result<()>>) -> Result<Result<(), WhyPlain>> {
        let error = match ready {
            Poll::Ready(Ok(())) => return Ok(Ok(())),
            Poll::Ready(Err(error)) => error,
            Poll::Pending => Error::new(Kind::Timeout, "they were not ready in time"),
        };
        // Read without them, the query would get its time again.
        self.token.run(Operation::new).check()?;
        Ok(Err(WhyPlain::Readers(error.to_string())))
    }

    /// Returns the next batch, if one comes before the query's own connection should send a ping; `None` at the end,
    /// when all readers have gone. After an error they end.
    pub(crate) fn wait_next(&self, operation: &Operation) -> Result<Poll<Option<RecordBatch>>> {
        let next = self.buffer.wait_next(operation, Instant::now() + KEEP_ALIVE);
        next.inspect_err(|_| self.failed(operation))
    }

    /// Ends the readers, wherever they are, and waits for their connections to be closed, unless the query or this wait
    /// is interrupted: a server that does not answer would hold it up.
    pub(crate) fn wait_end(&self, operation: &Operation) {
        self.stop();
        if !self.is_given_up.load(Ordering::SeqCst) {
            self.wait_gone(operation, LEAVE);
        }
    }

    fn wait_gone(&self, operation: &Operation, time: Duration) {
        if self.buffer.wait_gone(operation, time) {
            self.lock().drain(..).for_each(|thread| drop(thread.join()));
        }
    }

    fn failed(&self, operation: &Operation) {
        let is_interrupted = operation.interruption().is_some() || self.token.is_cancelled();
        self.is_given_up.fetch_or(is_interrupted, Ordering::SeqCst);
        self.stop();
    }

    /// Whether the query's own connection should send a ping now.
    pub(crate) fn wants_ping(&self) -> bool {
        let mut since = self.idle_since.lock().unwrap_or_else(PoisonError::into_inner);
        let is_idle = since.elapsed() >= KEEP_ALIVE;
        if is_idle {
            *since = Instant::now();
        }
        is_idle
    }

    fn lock(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// [`wait_ready`](Self::wait_ready) in a task.
    #[cfg(feature = "tokio")]
    pub(crate) async fn until_ready(&self, operation: &Operation) -> Result<Result<(), WhyPlain>> {
        let ready = self.buffer.until_ready(self.count, operation, self.start_until).await?;
        let Err(why) = self.started(ready)? else { return Ok(Ok(())) };
        self.stop();
        self.buffer.until_gone(operation, LEAVE_START).await;
        Ok(Err(why))
    }

    /// [`wait_next`](Self::wait_next) in a task.
    #[cfg(feature = "tokio")]
    pub(crate) async fn until_next(&self, operation: &Operation) -> Result<Poll<Option<RecordBatch>>> {
        let next = self.buffer.until_next(operation, Instant::now() + KEEP_ALIVE).await;
        next.inspect_err(|_| self.failed(operation))
    }

    /// [`wait_end`](Self::wait_end) in a task.
    #[cfg(feature = "tokio")]
    pub(crate) async fn until_end(&self, operation: &Operation) {
        self.stop();
        if !self.is_given_up.load(Ordering::SeqCst) {
            self.buffer.until_gone(operation, LEAVE).await;
        }
    }

    fn stop(&self) {
        self.buffer.stop();
        self.token.cancel();
    }

    /// Time that all readers have spent decoding.
    pub(crate) fn decoding(&self) -> Duration {
        self.buffer.decoding()
    }

    /// The share of the table's pages whose rows were handed out.
    pub(crate) fn share(&self) -> f64 {
        self.buffer.share()
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
