//! How many BLOBs are requested ahead.
//!
//! The window is one of bytes: what the link carries in two round trips, within limits. How many BLOBs that is follows
//! from the lengths seen on this connection.

use super::link_estimate::LinkEstimate;

/// Fewest and most bytes of contents to request ahead. The answers of a whole window may have to be held in memory.
const FEWEST_BYTES: usize = 4 << 20;
const MOST_BYTES: usize = 16 << 20;
/// Fewest and most BLOBs to request ahead; one write then has about 50 KB, and their answers at
/// most 64 MB if all of them turn out to be longer than those before.
const FEWEST: usize = 16;
const MOST: usize = 1024;
/// An answer has at most this many bytes of a BLOB.
const ANSWER: usize = 64 << 10;
/// What a BLOB counts whose contents do not fit into one answer: all that was requested for it comes in vain.
const IN_VAIN: usize = 1 << 20;
/// What even an empty BLOB counts: its three answers.
const LEAST: usize = 128;
/// The expected length falls by this part of the difference when shorter BLOBs come; it rises at once.
const FALL: usize = 16;

/// The number of BLOBs to request ahead.
#[derive(Debug, Default)]
pub(super) struct BlobWindow {
    /// How long the next BLOBs are expected to be; `None` before the first one.
    expected: Option<usize>,
}

impl BlobWindow {
    /// Notes a BLOB of this length.
    pub(super) fn seen(&mut self, length: usize) {
        let length = length.max(LEAST);
        self.expected = Some(match self.expected {
            Some(expected) if expected > length => expected - (expected - length).div_ceil(FALL),
            _ => length,
        });
    }

    /// Notes a BLOB that is too long for one answer.
    pub(super) fn seen_too_long(&mut self) {
        self.expected = Some(IN_VAIN);
    }

    /// Returns how many BLOBs to request ahead on this link.
    pub(super) fn size(&self, link: &LinkEstimate) -> usize {
        let Some(expected) = self.expected else { return MOST_BYTES / ANSWER };
        let carried = link.bytes_per_round_trip().unwrap_or_default().saturating_mul(2);
        (carried.clamp(FEWEST_BYTES, MOST_BYTES) / expected).clamp(FEWEST, MOST)
    }
}

/// Returns the most bytes of BLOBs of this length to request ahead.
pub(super) fn blob_bytes_ahead(length: usize) -> usize {
    MOST.saturating_mul(length.max(LEAST)).min(MOST_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn window(lengths: &[usize]) -> BlobWindow {
        let mut window = BlobWindow::default();
        lengths.iter().for_each(|length| window.seen(*length));
        window
    }

    fn near() -> LinkEstimate {
        LinkEstimate::of(Duration::from_micros(100), Some(1e9))
    }

    fn far() -> LinkEstimate {
        LinkEstimate::of(Duration::from_millis(200), Some(1e8))
    }

    #[test]
    fn unknown_ones_could_all_be_long() {
        assert_eq!((window(&[]).size(&near()), window(&[]).size(&far())), (256, 256));
    }

    #[test]
    fn the_window_follows_lengths_and_link() {
        assert_eq!((window(&[3400]).size(&near()), window(&[3400]).size(&far())), (1024, 1024));
        assert_eq!((window(&[8000]).size(&near()), window(&[8000]).size(&far())), (524, 1024));
        assert_eq!((window(&[20_000]).size(&near()), window(&[20_000]).size(&far())), (209, 838));
        assert_eq!((window(&[0]).size(&near()), window(&[0]).size(&far())), (1024, 1024));
        // 71 Mbit/s carry 111 KB in 12.5 ms.
        let usual = LinkEstimate::of(Duration::from_micros(12_500), Some(8.9e6));
        assert_eq!(window(&[8000]).size(&usual), 524);
    }

    #[test]
    fn a_long_one_counts_at_once_and_is_forgotten_slowly() {
        let mut window = window(&[1000, 60_000]);
        assert_eq!(window.size(&near()), 69);
        (0..100).for_each(|_| window.seen(1000));
        assert_eq!(window.size(&near()), 1024);
    }

    #[test]
    fn few_are_requested_in_vain() {
        let mut window = window(&[1000]);
        window.seen_too_long();
        assert_eq!((window.size(&near()), window.size(&far())), (16, 16));
    }
}
