//! Costs of a connection, a statement or a cursor.

pub use firearrow_proto::wire::connection::WireStats;

#[cfg(feature = "tokio")]
use firearrow_proto::api::describe::RecordCounts;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
#[cfg(feature = "tokio")]
use std::time::Duration;

/// Adds up the cost of calls: everything sent or received while they ran. Clones are the same meter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter(Arc<Mutex<Spent>>);

/// The sums of a meter, and the last values noted.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    wire: WireStats,
    #[cfg(feature = "tokio")]
    counts: Option<RecordCounts>,
    #[cfg(feature = "tokio")]
    decoding: Duration,
}

impl Meter {
    pub(crate) fn read(&self) -> WireStats {
        self.lock().wire
    }

    fn lock(&self) -> MutexGuard<'_, Spent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, spent: WireStats) {
        self.lock().wire += spent;
    }
}

/// Counters that a result owned by a task publishes as it runs.
#[cfg(feature = "tokio")]
impl Meter {
    pub(crate) fn note(&self, counts: Option<RecordCounts>, decoding: Duration) {
        let mut spent = self.lock();
        (spent.counts, spent.decoding) = (counts, decoding);
    }

    pub(crate) fn counts(&self) -> Option<RecordCounts> {
        self.lock().counts
    }

    pub(crate) fn decoding(&self) -> Duration {
        self.lock().decoding
    }
}
