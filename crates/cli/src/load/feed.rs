//! Rows on their way: read and converted by one thread, sent by another.
//!
//! ```text
//!  files ─► parts ─► plan ─► channel of few batches ─► Feed ─► ingestion
//!                                                        └─► places: the line of each row
//! ```

use super::convert::Refused;
use super::line_numbers::Places;
use super::mapping::{Plan, Planned};
use super::source::{self, Files, Part};
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::progress::Progress;
use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Rows of one file.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) file: Arc<PathBuf>,
    /// As they are in the file.
    pub(super) part: Part,
    /// As the table gets them.
    pub(super) batch: RecordBatch,
    /// Rows of the part that are not among them.
    pub(super) refused: Vec<Refused>,
}

enum Message {
    Batch(Box<Batch>),
    Failed(Failure),
    End,
}

/// The rows of all files, for the table.
pub(super) struct Feed {
    receiver: Receiver<Message>,
    schema: SchemaRef,
    progress: Shown,
    notes: Arc<Notes>,
    rows: u64,
}

/// What is known about rows that were taken, for whoever has to explain a failure.
#[derive(Debug, Default)]
pub(super) struct Notes {
    places: Mutex<Places>,
    /// Why there were no more rows.
    failure: Mutex<Option<Failure>>,
}

/// How progress is shown.
pub(super) struct Shown {
    progress: Progress,
    /// The bytes read so far, if they are what is shown.
    bytes: Option<Arc<AtomicU64>>,
}

impl Shown {
    /// In bytes that are counted here, or in rows.
    pub(super) fn new(progress: Progress, bytes: Option<Arc<AtomicU64>>) -> Self {
        Self { progress, bytes }
    }
}

impl Feed {
    /// Starts to read. A value that does not fit its column is an error, unless `refuses` is set: then the caller handles it.
    pub(super) fn start(mut files: Files, plan: Plan, progress: Shown, refuses: bool) -> Result<Self> {
        let (sender, receiver) = sync_channel(BATCHES_WAITING);
        let schema = Arc::clone(&plan.schema);
        // It is not waited for: it may be waiting for standard input.
        thread::Builder::new().name("reader".to_owned()).spawn(move || {
            let end = match read(&mut files, &plan, &sender, refuses) {
                Ok(()) => Message::End,
                Err(failure) => Message::Failed(failure),
            };
            // The receiver is gone only after a failure of its own.
            let _ = sender.send(end);
        })?;
        Ok(Self { receiver, schema, progress, notes: Arc::default(), rows: 0 })
    }

    /// What a failure can be explained with.
    pub(super) fn notes(&self) -> Arc<Notes> {
        Arc::clone(&self.notes)
    }

    /// Returns the next rows; `None` at the end. It ends when the command must end.
    pub(super) fn next_batch(&mut self) -> Result<Option<Batch>> {
        loop {
            interrupt::check()?;
            match self.receiver.recv_timeout(OFTEN) {
                Ok(Message::Batch(batch)) => {
                    self.show(batch.batch.num_rows() as u64);
                    return Ok(Some(*batch));
                }
                Ok(Message::Failed(failure)) => return Err(failure),
                Ok(Message::End) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::other("the thread that reads the files panicked"));
                }
            }
        }
    }

    fn show(&mut self, rows: u64) {
        self.rows += rows;
        match &self.progress.bytes {
            Some(bytes) => self.progress.progress.reach(bytes.load(Ordering::Relaxed), self.rows),
            None => self.progress.progress.add(rows),
        }
    }
}

fn read(files: &mut Files, plan: &Plan, sender: &SyncSender<Message>, refuses: bool) -> Result<()> {
    while let Some((file, part)) = files.next()? {
        let Planned { batch, refused } = plan.apply(&part)?;
        if let Some(first) = refused.first().filter(|_| !refuses) {
            let place = part.places.get(first.row).copied().unwrap_or_default();
            return Err(Failure::other(format!(
                "{}: {}",
                source::place(files.unit(), &file, place),
                first.why
            )));
        }
        if sender.send(Message::Batch(Box::new(Batch { file, part, batch, refused }))).is_err() {
            break;
        }
    }
    Ok(())
}

impl Iterator for Feed {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.next_batch() {
            Ok(None) => None,
            Ok(Some(Batch { file, part, batch, .. })) => {
                lock(&self.notes.places).add(&file, part.places);
                Some(Ok(batch))
            }
            Err(failure) => {
                *lock(&self.notes.failure) = Some(failure);
                Some(Err(ArrowError::ComputeError("the files could not be read".to_owned())))
            }
        }
    }
}

impl RecordBatchReader for Feed {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl Notes {
    /// Takes the failure that ended the rows.
    pub(super) fn take_failure(&self) -> Option<Failure> {
        lock(&self.failure).take()
    }

    /// Returns the file of a row, counted from 0 over all, and its place there.
    pub(super) fn place(&self, row: u64) -> Option<(Arc<PathBuf>, u64)> {
        lock(&self.places).of(row)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const BATCHES_WAITING: usize = 2;
/// How often it is asked whether the command must end.
const OFTEN: Duration = Duration::from_millis(50);
