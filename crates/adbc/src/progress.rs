//! What the last execution of a statement came to; read while it goes on.

use firearrow::WireStats;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counters of one execution.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub(crate) rows: AtomicU64,
    pub(crate) batches: AtomicU64,
    pub(crate) bytes_received: AtomicU64,
    pub(crate) round_trips: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Progress {
    pub(crate) fn add_batch(&self, rows: usize) {
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
        self.batches.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_time(&self, spent: Duration) {
        self.nanoseconds.fetch_add(spent.as_nanos() as u64, Ordering::Relaxed);
    }

    /// What the result cost up to now.
    pub(crate) fn set_wire(&self, stats: &WireStats) {
        self.bytes_received.store(stats.bytes_received, Ordering::Relaxed);
        self.round_trips.store(stats.round_trips, Ordering::Relaxed);
    }

    /// The value of an option.
    pub(crate) fn get(&self, key: &str) -> Option<String> {
        let counter = match key {
            "adbc.statement.exec.progress" | "adbc.firebird.stats.rows" => &self.rows,
            "adbc.firebird.stats.batches" => &self.batches,
            "adbc.firebird.stats.bytes_received" => &self.bytes_received,
            "adbc.firebird.stats.roundtrips" => &self.round_trips,
            "adbc.firebird.stats.fetch_ns" => &self.nanoseconds,
            "adbc.statement.exec.max_progress" => return Some("-1".into()),
            _ => return None,
        };
        Some(counter.load(Ordering::Relaxed).to_string())
    }
}
