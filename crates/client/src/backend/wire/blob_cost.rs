//! How long the BLOBs of a result take on this link: those that come with their rows, and those requested after them.
//!
//! The waits for the execution are the same and left out. What is left: round trips in which nothing comes, the bytes, and
//! what a server spends on the three requests for a BLOB.

use super::blob_window::blob_bytes_ahead;
use super::fetch_window::{LONGEST_ANSWER, row_bytes_ahead};
use super::link_estimate::LinkEstimate;
use crate::arrow::MAX_WAITING;

/// Seconds that a server takes for the requests for a BLOB, more than for sending it with its row.
const REQUESTS: f64 = 20e-6;
/// Bytes per second of a link whose rate is not known yet: none of the ways is limited by it.
const UNKNOWN_RATE: f64 = 1e9;

/// The BLOBs of an average execution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlobTraffic {
    /// Those that can come with their rows.
    pub(crate) short: f64,
    /// Their bytes.
    pub(crate) bytes: f64,
    /// Those that are too long for that.
    pub(crate) long: f64,
}

impl BlobTraffic {
    /// Whether short ones should come with their rows.
    pub(crate) fn is_fastest_inline(&self, link: &LinkEstimate) -> bool {
        self.inline(link) <= self.pipelined(link)
    }

    /// Seconds until the last one has come, when short ones come with their rows and the others are requested after them.
    fn inline(&self, link: &LinkEstimate) -> f64 {
        // The first answer comes along with the execution.
        let waits = match self.bytes > LONGEST_ANSWER as f64 {
            true => (self.bytes / row_bytes_ahead(self.mean()) as f64).ceil(),
            false => 0.0,
        };
        let after = if self.long >= 0.5 { 1.0 } else { 0.0 };
        (waits + after) * link.round_trip().as_secs_f64() + self.sending(link)
    }

    /// The same when all of them are requested after the rows. Each time that many rows wait, the client gets through them
    /// before it goes on.
    fn pipelined(&self, link: &LinkEstimate) -> f64 {
        let rounds = ((self.short + self.long) / MAX_WAITING as f64).ceil().max(1.0);
        let waits = (self.bytes / blob_bytes_ahead(self.mean()) as f64).ceil().max(rounds);
        waits * link.round_trip().as_secs_f64() + self.sending(link) + self.short * REQUESTS
    }

    fn mean(&self) -> usize {
        (self.bytes / self.short.max(1.0)) as usize
    }

    fn sending(&self, link: &LinkEstimate) -> f64 {
        self.bytes / link.rate().unwrap_or(UNKNOWN_RATE).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn is_inline(milliseconds: f64, rate: Option<f64>, count: u32, length: u32, long: f64) -> bool {
        let link = LinkEstimate::of(Duration::from_secs_f64(milliseconds / 1e3), rate);
        let short = f64::from(count);
        BlobTraffic { short, bytes: short * f64::from(length), long }.is_fastest_inline(&link)
    }

    #[test]
    fn near_a_server_they_come_with_their_rows() {
        for (count, length) in [(1, 100), (1000, 100), (1000, 3400), (1000, 60_000), (100_000, 3400)] {
            assert!(is_inline(0.1, Some(2e8), count, length, 0.0), "{count} x {length}");
        }
        assert!(is_inline(0.1, Some(2e8), 1000, 3400, 100.0), "some long ones change little");
    }

    #[test]
    fn few_of_them_come_with_the_first_answer() {
        for milliseconds in [0.1, 12.5, 200.0] {
            assert!(is_inline(milliseconds, Some(1e8), 10, 3400, 0.0));
            assert!(is_inline(milliseconds, None, 1, 60_000, 0.0));
        }
    }

    #[test]
    fn far_away_the_larger_window_wins() {
        // Both take one round trip; the requests cost the server more.
        assert!(is_inline(200.0, Some(1e8), 1000, 3400, 0.0));
        // A window of answers has 704 of these, one of requests 1024.
        assert!(!is_inline(200.0, Some(1e8), 1000, 16_000, 0.0));
        // Two of either.
        assert!(is_inline(200.0, Some(1e8), 1000, 20_000, 0.0));
        // More rows than wait at a time: requests for BLOBs stop in between.
        assert!(is_inline(200.0, Some(1e8), 100_000, 1000, 0.0));
    }

    #[test]
    fn on_a_slow_link_the_bytes_decide() {
        for length in [3400, 20_000] {
            assert!(is_inline(12.5, Some(8.9e6), 1000, length, 0.0));
        }
    }

    #[test]
    fn far_away_one_wait_is_enough_for_short_and_long_ones() {
        assert!(!is_inline(200.0, Some(1e8), 1000, 3400, 10.0));
        // Otherwise all of them fit into the first answer.
        assert!(is_inline(200.0, Some(1e8), 10, 3400, 1.0));
    }
}
