//! One direction of the link.

use crate::link::{BIT_NANOSECONDS_PER_BYTE, Link};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A serial line: sends one byte after another, whichever connections they belong to.
#[derive(Debug)]
pub(crate) struct Line {
    rate: Option<u64>,
    delay: Duration,
    /// When everything sent so far has left.
    free: Mutex<Instant>,
}

impl Line {
    pub(crate) fn new(link: &Link) -> Self {
        Self { rate: link.rate, delay: link.round_trip / 2, free: Mutex::new(Instant::now()) }
    }

    /// Puts bytes on the line as soon as it is free, and returns when the last of them arrives.
    pub(crate) fn send(&self, bytes: usize) -> Instant {
        // Read the clock under the lock: a later call must never get an earlier moment.
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        *free = (*free).max(Instant::now()) + self.time_for(bytes);
        *free + self.delay
    }

    /// How many bytes are sent together. All of them arrive with the last one, so there are few: what the line carries
    /// in half a millisecond, but at least a packet.
    pub(crate) fn chunk(&self) -> usize {
        let bytes = self.rate.map_or(u64::MAX, |rate| rate / (8 * CHUNKS_PER_SECOND));
        usize::try_from(bytes).unwrap_or(usize::MAX).clamp(SMALLEST_CHUNK, LARGEST_CHUNK)
    }

    /// Rounded up, so that the rate is never exceeded.
    fn time_for(&self, bytes: usize) -> Duration {
        let Some(rate) = self.rate else { return Duration::ZERO };
        let nanoseconds = (bytes as u128 * BIT_NANOSECONDS_PER_BYTE).div_ceil(u128::from(rate));
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }
}

const CHUNKS_PER_SECOND: u64 = 2000;
const SMALLEST_CHUNK: usize = 1460;
const LARGEST_CHUNK: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn line(round_trip: u64, rate: Option<u64>) -> Line {
        Line::new(&Link::new(Duration::from_millis(round_trip), rate))
    }

    #[test]
    fn bytes_queue_on_the_line() {
        let line = line(100, Some(8_000_000));
        let begin = Instant::now();
        let first = line.send(1_000_000);
        assert!(first - begin >= Duration::from_millis(1050));
        assert_eq!(line.send(500_000) - first, Duration::from_millis(500));
        assert_eq!(line.send(0) - first, Duration::from_millis(500));
    }

    #[test]
    fn an_idle_line_accumulates_no_credit() {
        let line = line(0, Some(8_000));
        line.send(1);
        std::thread::sleep(Duration::from_millis(20));
        let begin = Instant::now();
        assert!(line.send(10) - begin >= Duration::from_millis(10));
    }

    #[test]
    fn without_a_rate_there_is_no_wait() {
        let line = line(100, None);
        line.send(usize::MAX);
        let due = line.send(1);
        assert!(due <= Instant::now() + Duration::from_millis(50));
    }

    #[test]
    fn chunks_take_half_a_millisecond() {
        for (rate, expected) in
            [(Some(71_000_000), 4437), (Some(1), 1460), (Some(u64::MAX), 65_536), (None, 65_536)]
        {
            assert_eq!(line(0, rate).chunk(), expected);
        }
        assert_eq!(line(0, Some(3)).time_for(1), Duration::from_nanos(2_666_666_667));
    }
}
