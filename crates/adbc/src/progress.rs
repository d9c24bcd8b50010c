//! What the last execution of a statement came to; read while it goes on.

use firearrow::{RecordCounts, WireStats};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The last execution of a statement, for those who cannot wait until it is over.
#[derive(Debug, Default)]
pub(crate) struct Latest(Mutex<Arc<Progress>>);

impl Latest {
    /// Another execution begins.
    pub(crate) fn begin(&self) -> Arc<Progress> {
        let progress = Arc::new(Progress::default());
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&progress);
        progress
    }

    /// The value of an option; `None` if it is no counter or not known yet.
    pub(crate) fn get(&self, key: &str) -> Option<String> {
        let progress = Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner));
        progress.get(key)
    }
}

/// Counters of one execution.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Rows of the result, and of bound data that was taken.
    given: AtomicU64,
    taken: AtomicU64,
    pub(crate) batches: AtomicU64,
    pub(crate) bytes_received: AtomicU64,
    pub(crate) round_trips: AtomicU64,
    nanoseconds: AtomicU64,
    decoding: AtomicU64,
    /// What was done to rows, where it is known.
    records: Mutex<Option<RecordCounts>>,
}

impl Progress {
    /// A batch of the result.
    pub(crate) fn add_batch(&self, rows: usize) {
        self.given.fetch_add(rows as u64, Ordering::Relaxed);
        self.batches.fetch_add(1, Ordering::Relaxed);
    }

    /// A batch of bound data.
    pub(crate) fn add_taken(&self, rows: usize) {
        self.taken.fetch_add(rows as u64, Ordering::Relaxed);
        self.batches.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_time(&self, spent: Duration) {
        self.nanoseconds.fetch_add(spent.as_nanos() as u64, Ordering::Relaxed);
    }

    /// How long decoding has taken up to now.
    pub(crate) fn set_decoding(&self, spent: Duration) {
        self.decoding.store(spent.as_nanos() as u64, Ordering::Relaxed);
    }

    /// What was done to rows.
    pub(crate) fn set_records(&self, counts: Option<RecordCounts>) {
        *self.records.lock().unwrap_or_else(PoisonError::into_inner) = counts;
    }

    fn record(&self, key: &str) -> Option<String> {
        let counts = *self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let count = match key {
            "selected" => counts.map_or_else(|| self.given.load(Ordering::Relaxed), |counts| counts.selected),
            "inserted" => counts?.inserted,
            "updated" => counts?.updated,
            "deleted" => counts?.deleted,
            _ => return None,
        };
        Some(count.to_string())
    }

    /// What the result cost up to now.
    pub(crate) fn set_wire(&self, stats: &WireStats) {
        self.bytes_received.store(stats.bytes_received, Ordering::Relaxed);
        self.round_trips.store(stats.round_trips, Ordering::Relaxed);
    }

    fn get(&self, key: &str) -> Option<String> {
        if let Some(key) = key.strip_prefix("adbc.firebird.records.") {
            return self.record(key);
        }
        let counter = match key {
            "adbc.statement.exec.progress" | "adbc.firebird.stats.rows" => {
                let rows = [&self.given, &self.taken].map(|rows| rows.load(Ordering::Relaxed));
                return Some((rows[0] + rows[1]).to_string());
            }
            "adbc.firebird.stats.batches" => &self.batches,
            "adbc.firebird.stats.bytes_received" => &self.bytes_received,
            "adbc.firebird.stats.roundtrips" => &self.round_trips,
            "adbc.firebird.stats.fetch_ns" => &self.nanoseconds,
            "adbc.firebird.stats.decode_ns" => &self.decoding,
            "adbc.statement.exec.max_progress" => return Some("-1".into()),
            _ => return None,
        };
        Some(counter.load(Ordering::Relaxed).to_string())
    }
}
