//! Reading ahead: a thread that reads a result while its consumer works on earlier batches.

use crate::activity::Task;
use crate::error::{Error, Result};
use arrow::array::RecordBatch;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long the end of a result waits for the thread that reads it before it interrupts it. If that does not help
/// either, the thread is abandoned.
const PATIENCE: Duration = Duration::from_millis(100);

/// A thread that reads a result ahead. It ends with the result, or when nobody takes its batches.
pub(crate) struct Ahead {
    /// `None` at the very end only.
    batches: Option<Receiver<Result<Option<RecordBatch>>>>,
    thread: JoinHandle<()>,
    task: Option<Arc<Task>>,
}

impl Ahead {
    /// Reads what `next` returns: the thread holds one batch, the others wait here.
    pub(crate) fn start(
        waiting: usize,
        task: Option<Arc<Task>>,
        mut next: impl FnMut() -> Result<Option<RecordBatch>> + Send + 'static,
    ) -> Result<Self> {
        let (sender, receiver) = sync_channel(waiting);
        let read = move || {
            loop {
                let batch = next();
                let is_last = !matches!(batch, Ok(Some(_)));
                if sender.send(batch).is_err() || is_last {
                    break;
                }
            }
        };
        let thread = thread::Builder::new().name("firearrow-prefetch".into()).spawn(read);
        let thread = thread.map_err(|error| Error::internal(format!("no thread to read ahead: {error}")))?;
        Ok(Self { batches: Some(receiver), thread, task })
    }

    /// Returns the next batch that the thread has read and counted.
    pub(crate) fn next_batch(&self) -> Result<Option<RecordBatch>> {
        let batch = self.batches.as_ref().and_then(|batches| batches.recv().ok());
        let batch = batch.unwrap_or_else(|| Err(Error::internal("the thread that reads ahead is gone")))?;
        self.task.as_ref().map_or(Ok(()), |task| task.check())?;
        Ok(batch)
    }

    fn ends(&self) -> bool {
        let begin = Instant::now();
        while !self.thread.is_finished() && begin.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(1));
        }
        self.thread.is_finished()
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.batches = None;
        if self.ends() {
            return;
        }
        if let Some(task) = &self.task {
            task.cancel();
        }
        self.ends();
    }
}
