//! Work and cost of a statement's last execution, readable while it runs.

use crate::error::Error;
use crate::report::RowOutcome;
use firearrow::{CommitOutcome, RecordCounts, WireStats};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The last execution of a statement, for readers that cannot wait until it has ended.
#[derive(Debug, Default)]
pub struct Latest(Mutex<Arc<Progress>>);

impl Latest {
    /// Another execution begins.
    pub(crate) fn begin(&self) -> Arc<Progress> {
        let progress = Arc::new(Progress::default());
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&progress);
        progress
    }

    /// The counters of the last execution.
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Counters of one execution.
#[derive(Debug, Default)]
pub struct Progress {
    given: AtomicU64,
    taken: AtomicU64,
    batches: AtomicU64,
    bytes_received: AtomicU64,
    round_trips: AtomicU64,
    reading: AtomicU64,
    decoding: AtomicU64,
    records: Mutex<Option<RecordCounts>>,
    row_outcomes: Mutex<Arc<[RowOutcome]>>,
}

impl Progress {
    /// Rows of the result so far.
    pub fn rows_given(&self) -> u64 {
        self.given.load(Ordering::Relaxed)
    }

    /// Rows of parameters that were taken so far.
    pub fn rows_taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Batches of the result or of rows of parameters so far.
    pub fn batches(&self) -> u64 {
        self.batches.load(Ordering::Relaxed)
    }

    /// Bytes that the result brought so far, before decompression.
    pub fn bytes_received(&self) -> u64 {
        self.bytes_received.load(Ordering::Relaxed)
    }

    /// Round trips for the result so far.
    pub fn round_trips(&self) -> u64 {
        self.round_trips.load(Ordering::Relaxed)
    }

    /// The time that reading the result took so far, decoding included.
    pub fn reading(&self) -> Duration {
        Duration::from_nanos(self.reading.load(Ordering::Relaxed))
    }

    /// The time that decoding the result took so far.
    pub fn decoding(&self) -> Duration {
        Duration::from_nanos(self.decoding.load(Ordering::Relaxed))
    }

    /// What the engine did to rows, where it reports that.
    pub fn records(&self) -> Option<RecordCounts> {
        *self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the outcome of each parameter row, in order, after an execution with
    /// [`OnFailure::Continue`](firearrow::OnFailure::Continue). A result has them once it has been read to its end; until
    /// then, and with [`OnFailure::Stop`](firearrow::OnFailure::Stop), there are none. If the execution as a whole failed,
    /// rows after these were not executed.
    pub fn row_outcomes(&self) -> Arc<[RowOutcome]> {
        Arc::clone(&self.row_outcomes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A batch of the result.
    pub(crate) fn add_batch(&self, rows: usize) {
        self.given.fetch_add(rows as u64, Ordering::Relaxed);
        self.batches.fetch_add(1, Ordering::Relaxed);
    }

    /// A batch of rows of parameters.
    pub(crate) fn add_taken(&self, rows: usize) {
        self.taken.fetch_add(rows as u64, Ordering::Relaxed);
        self.batches.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_time(&self, spent: Duration) {
        self.reading.fetch_add(spent.as_nanos() as u64, Ordering::Relaxed);
    }

    /// The cost of the result so far: on the wire, and the time for decoding.
    pub(crate) fn set_cost(&self, wire: &WireStats, decoding: Duration) {
        self.bytes_received.store(wire.bytes_received, Ordering::Relaxed);
        self.round_trips.store(wire.round_trips, Ordering::Relaxed);
        self.decoding.store(decoding.as_nanos() as u64, Ordering::Relaxed);
    }

    /// The effect on rows.
    pub(crate) fn set_records(&self, counts: Option<RecordCounts>) {
        *self.records.lock().unwrap_or_else(PoisonError::into_inner) = counts;
    }

    /// The outcome of the parameter rows.
    pub(crate) fn set_row_outcomes(&self, outcomes: Arc<[RowOutcome]>) {
        *self.row_outcomes.lock().unwrap_or_else(PoisonError::into_inner) = outcomes;
    }

    /// Notes what this error means for the parameter rows that were executed: they were rolled back, unless the response to
    /// their commit was lost.
    pub(crate) fn undo_rows(&self, error: &Error) {
        let lost = error.client().and_then(firearrow::Error::lost_commit).map(|lost| lost.outcome);
        let outcome = match lost {
            Some(CommitOutcome::Committed) => return,
            Some(CommitOutcome::Unknown) => RowOutcome::Unknown,
            Some(CommitOutcome::RolledBack) | None => RowOutcome::Undone,
        };
        let before = self.row_outcomes();
        let undone = before.iter().map(|row| match row {
            RowOutcome::Failed(error) => RowOutcome::Failed(error.clone()),
            _ => outcome.clone(),
        });
        self.set_row_outcomes(undone.collect());
    }
}
