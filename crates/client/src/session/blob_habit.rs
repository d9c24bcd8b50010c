//! How the BLOBs of a statement are read, and what that says about the next execution.

use crate::arrow::BlobPolicy;
use crate::backend::{BlobTraffic, LinkEstimate};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// BLOBs that must have been seen before anything is concluded.
const ENOUGH: u64 = 8;
/// Contents up to this length, in bytes, are worth having with their rows when they will be read anyway.
const WORTH_SENDING: u64 = 16 << 10;
/// Longer ones never come with their rows.
const LONGEST_INLINE: usize = 65_533;

/// How the BLOBs of one statement were read in its latest executions.
#[derive(Debug, Default)]
pub(crate) struct BlobHabit {
    /// Ids that were returned.
    given: AtomicU64,
    /// Contents that were read.
    read: AtomicU64,
    /// Their bytes.
    bytes: AtomicU64,
    /// Those of them that are too long to come with their rows.
    long: AtomicU64,
    /// The bytes of those.
    long_bytes: AtomicU64,
    /// Executions, as they count: [`ONE`] for the latest, half of it for the one before.
    executions: AtomicU64,
}

/// What the latest execution counts.
const ONE: u64 = 1 << 20;

impl BlobHabit {
    pub(super) fn given(&self, count: usize) {
        self.given.fetch_add(count as u64, Relaxed);
    }

    pub(super) fn read(&self, length: usize) {
        self.read.fetch_add(1, Relaxed);
        self.bytes.fetch_add(length as u64, Relaxed);
        if length > LONGEST_INLINE {
            self.long.fetch_add(1, Relaxed);
            self.long_bytes.fetch_add(length as u64, Relaxed);
        }
    }

    /// Starts counting a new execution, and returns whether its BLOBs should come with their rows. What earlier
    /// executions counted counts half from here on.
    pub(super) fn begin_execution(&self, policy: BlobPolicy, link: &LinkEstimate) -> bool {
        let halve = |counter: &AtomicU64| {
            let value = counter.load(Relaxed);
            counter.store(value / 2, Relaxed);
            value
        };
        let [given, read, bytes] = [&self.given, &self.read, &self.bytes].map(halve);
        let [long, long_bytes, executions] = [&self.long, &self.long_bytes, &self.executions].map(halve);
        self.executions.fetch_add(ONE, Relaxed);
        let each = |sum: u64| sum as f64 * ONE as f64 / executions.max(1) as f64;
        let is_wanted = match policy {
            BlobPolicy::Inline => true,
            BlobPolicy::Pipelined => false,
            // Few of them come with the first answer. If there are many, the next requests make up for it.
            BlobPolicy::Adaptive if read < ENOUGH => true,
            // Where most are too long, the server would look at each in vain.
            BlobPolicy::Adaptive if long * 2 > read => false,
            BlobPolicy::Adaptive => {
                let (short, bytes) = (read.saturating_sub(long), bytes.saturating_sub(long_bytes));
                let traffic = BlobTraffic { short: each(short), bytes: each(bytes), long: each(long) };
                traffic.is_fastest_inline(link)
            }
            // Nobody may want them; it takes a reader to show that somebody does.
            BlobPolicy::Lazy => given >= ENOUGH && read * 2 >= given && bytes <= read * WORTH_SENDING,
        };
        tracing::debug!(?policy, given, read, bytes, long, is_wanted, "BLOBs with their rows");
        is_wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn near() -> LinkEstimate {
        LinkEstimate::of(Duration::from_micros(100), Some(1e9))
    }

    fn far() -> LinkEstimate {
        LinkEstimate::of(Duration::from_millis(200), Some(1e8))
    }

    #[test]
    fn explicit_policies_need_no_experience() {
        let habit = BlobHabit::default();
        assert!(habit.begin_execution(BlobPolicy::Inline, &near()));
        assert!(!habit.begin_execution(BlobPolicy::Pipelined, &near()));
    }

    #[test]
    fn who_reads_short_ones_gets_them_with_their_rows() {
        let habit = BlobHabit::default();
        assert!(!habit.begin_execution(BlobPolicy::Lazy, &near()));
        habit.given(100);
        assert!(!habit.begin_execution(BlobPolicy::Lazy, &near()), "nobody has read any");
        (0..100).for_each(|_| habit.read(100));
        assert!(habit.begin_execution(BlobPolicy::Lazy, &near()));
        habit.given(1000);
        assert!(!habit.begin_execution(BlobPolicy::Lazy, &near()), "not any more");
        let habit = BlobHabit::default();
        habit.given(100);
        (0..100).for_each(|_| habit.read(40_000));
        assert!(!habit.begin_execution(BlobPolicy::Lazy, &near()), "they are long");
    }

    #[test]
    fn blobs_that_are_too_long_are_not_asked_for_in_vain() {
        let habit = BlobHabit::default();
        assert!(habit.begin_execution(BlobPolicy::Adaptive, &near()));
        (0..10).for_each(|_| habit.read(100_000));
        assert!(!habit.begin_execution(BlobPolicy::Adaptive, &near()));
        (0..100).for_each(|_| habit.read(100));
        assert!(habit.begin_execution(BlobPolicy::Adaptive, &near()));
    }

    #[test]
    fn the_link_decides_about_short_ones() {
        let habit = BlobHabit::default();
        for _ in 0..4 {
            assert!(habit.begin_execution(BlobPolicy::Adaptive, &near()), "of any length");
            (0..1000).for_each(|_| habit.read(16_000));
        }
        assert!(!habit.begin_execution(BlobPolicy::Adaptive, &far()), "they fit into one window of requests");
        for _ in 0..4 {
            (0..5).for_each(|_| habit.read(16_000));
            habit.begin_execution(BlobPolicy::Adaptive, &far());
        }
        (0..8).for_each(|_| habit.read(10_000));
        assert!(habit.begin_execution(BlobPolicy::Adaptive, &near()));
    }

    #[test]
    fn an_average_execution_is_what_one_reads() {
        let habit = BlobHabit::default();
        for _ in 0..10 {
            // Together they would not fit into the first answer.
            assert!(habit.begin_execution(BlobPolicy::Adaptive, &far()));
            (0..30).for_each(|_| habit.read(4000));
        }
        assert!(!habit.begin_execution(BlobPolicy::Pipelined, &far()));
        assert!(habit.begin_execution(BlobPolicy::Inline, &far()));
    }
}
