//! One query read by several connections at once, in the order in which one would have read it.
//!
//! The engine reads a table page by page. Ranges of pages that give about a batch each are handed out in order to the
//! readers, threads with a connection each, which read them at the snapshot of the query's transaction. The batches
//! are handed on in the order of the ranges.

mod course;
mod ranges;
mod reader;
mod why;
mod window;

pub(crate) use course::{Charted, Course};
pub use why::{Parallelism, WhyPlain};

use crate::cancel::{CancelToken, Operation};
use crate::error::{Error, Kind, Result};
use crate::stats::Meter;
use arrow::array::RecordBatch;
use ranges::Ranges;
use reader::Reader;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use window::Window;

/// The readers of a query. Dropping it ends them, without waiting for it.
pub(crate) struct Crew {
    window: Arc<Window>,
    token: CancelToken,
    readers: usize,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Crew {
    /// Lets the readers connect.
    pub(crate) fn start(course: Course, meters: &[Meter]) -> Result<Self> {
        let readers = course.readers;
        let ranges = Ranges::new(course.end, readers, course.how.limits.rows);
        let window = Arc::new(Window::new(ranges, readers));
        let token = CancelToken::new();
        token.set_time_limit(course.timeout);
        let course = Arc::new(course);
        let mut threads = Vec::with_capacity(readers);
        let crew = Self { window, token, readers, threads: Mutex::default() };
        for started in 0..readers {
            let reader = Reader {
                window: Arc::clone(&crew.window),
                course: Arc::clone(&course),
                token: crew.token.clone(),
                meters: meters.to_vec(),
            };
            let spawned = thread::Builder::new().name("firearrow-reader".into()).spawn(move || reader.work());
            match spawned {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    (started..readers).for_each(|_| crew.window.gone());
                    return Err(Error::new(Kind::Io, format!("could not start a reader thread: {error}")));
                }
            }
        }
        crew.lock().extend(threads);
        Ok(crew)
    }

    pub(crate) fn readers(&self) -> usize {
        self.readers
    }

    /// Waits until all readers can read. The inner error is that of a reader, the outer one that of the operation.
    pub(crate) fn wait_ready(&self, operation: &Operation) -> Result<Result<()>> {
        self.window.wait_ready(self.readers, operation)
    }

    /// Returns the next batch; `None` at the end, when all readers have gone. After an error they end.
    pub(crate) fn wait_next(&self, operation: &Operation) -> Result<Option<RecordBatch>> {
        self.window.wait_next(operation).inspect_err(|_| self.stop())
    }

    /// Ends the readers, wherever they are, and waits for their connections to be closed.
    pub(crate) fn wait_end(&self) {
        self.stop();
        if self.window.wait_gone() {
            self.lock().drain(..).for_each(|thread| drop(thread.join()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// [`wait_ready`](Self::wait_ready) in a task.
    #[cfg(feature = "tokio")]
    pub(crate) async fn until_ready(&self, operation: &Operation) -> Result<Result<()>> {
        self.window.until_ready(self.readers, operation).await
    }

    /// [`wait_next`](Self::wait_next) in a task.
    #[cfg(feature = "tokio")]
    pub(crate) async fn until_next(&self, operation: &Operation) -> Result<Option<RecordBatch>> {
        self.window.until_next(operation).await.inspect_err(|_| self.stop())
    }

    /// [`wait_end`](Self::wait_end) in a task.
    #[cfg(feature = "tokio")]
    pub(crate) async fn until_end(&self) {
        self.stop();
        self.window.until_gone().await;
    }

    fn stop(&self) {
        self.window.stop();
        self.token.cancel();
    }

    /// Time that all readers have spent decoding.
    pub(crate) fn decoding(&self) -> Duration {
        self.window.decoding()
    }

    /// The most batches that waited or were being made at a time.
    pub(crate) fn peak(&self) -> usize {
        self.window.peak()
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.stop();
    }
}
