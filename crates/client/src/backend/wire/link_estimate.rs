//! What a connection has learnt about its link, from nothing but the traffic that passes anyway.
//!
//! The round trip is the shortest wait for an answer while nothing else was on its way: a server can only add to it. The
//! rate is the best that a burst has reached. A burst begins with the first bytes after such a wait, so that nothing of
//! it lay ready before the clock started; a client that reads slowly, or asks for too little, only makes it slower.
//! Neither is ever overestimated.

use std::time::{Duration, Instant};

/// Bytes that a burst must have before it says something about the rate.
const ENOUGH: usize = 64 << 10;

/// Round trip and rate of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkEstimate {
    round_trip: Option<Duration>,
    /// Bytes per second.
    rate: Option<f64>,
    /// When requests were sent while nothing else was on its way.
    asked: Option<Instant>,
    burst: Option<Burst>,
}

/// Bytes that have come since the last silence.
#[derive(Clone, Copy, Debug)]
struct Burst {
    since: Instant,
    /// Without the piece that began it, which came in no time.
    bytes: usize,
    best: Option<f64>,
}

impl LinkEstimate {
    /// Notes that requests were sent; `is_quiet` if no answer was outstanding.
    pub(super) fn sent(&mut self, is_quiet: bool, now: Instant) {
        if is_quiet {
            self.asked = Some(now);
        }
    }

    /// Notes that bytes have come.
    pub(super) fn received(&mut self, bytes: usize, now: Instant) {
        if let Some(asked) = self.asked.take() {
            let waited = now.duration_since(asked);
            self.round_trip = Some(self.round_trip.map_or(waited, |shortest| shortest.min(waited)));
            self.end_burst();
            self.burst = Some(Burst { since: now, bytes: 0, best: None });
            return;
        }
        let Some(burst) = &mut self.burst else { return };
        burst.bytes += bytes;
        if burst.bytes >= ENOUGH {
            let seconds = now.duration_since(burst.since).as_secs_f64().max(1e-6);
            let rate = burst.bytes as f64 / seconds;
            burst.best = Some(burst.best.map_or(rate, |best| best.max(rate)));
        }
    }

    /// A burst that was slower than earlier ones counts half: it may have been the server, or the link has changed.
    fn end_burst(&mut self) {
        if let Some(best) = self.burst.take().and_then(|burst| burst.best) {
            self.rate = Some(self.rate.map_or(best, |rate| best.max((rate + best) / 2.0)));
        }
    }

    /// Returns the shortest time from a request to its answer; 0 before the first one.
    pub(crate) fn round_trip(&self) -> Duration {
        self.round_trip.unwrap_or_default()
    }

    /// Returns the bytes per second that the server and the link have delivered at best, if that is known.
    pub(crate) fn rate(&self) -> Option<f64> {
        let now = self.burst.and_then(|burst| burst.best);
        match (self.rate, now) {
            (Some(rate), Some(now)) => Some(rate.max(now)),
            (rate, now) => rate.or(now),
        }
    }

    /// Returns how long this many bytes take to arrive at least; 0 while the rate is unknown.
    pub(crate) fn time_for(&self, bytes: usize) -> Duration {
        self.rate().map_or(Duration::ZERO, |rate| Duration::from_secs_f64(bytes as f64 / rate.max(1.0)))
    }

    /// Returns how many bytes arrive in one round trip, if that is known.
    pub(crate) fn bytes_per_round_trip(&self) -> Option<usize> {
        self.rate().map(|rate| (rate * self.round_trip().as_secs_f64()) as usize)
    }
}

#[cfg(test)]
impl LinkEstimate {
    /// An estimate with these figures.
    pub(crate) fn of(round_trip: Duration, bytes_per_second: Option<f64>) -> Self {
        Self { round_trip: Some(round_trip), rate: bytes_per_second, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// A request while nothing is on its way, its answer after `wait`, and more pieces of 16 KB, one every `pause`.
    fn burst(link: &mut LinkEstimate, now: &mut Instant, wait: Duration, pieces: usize, pause: Duration) {
        link.sent(true, *now);
        *now += wait;
        link.received(16 << 10, *now);
        for _ in 0..pieces {
            *now += pause;
            link.received(16 << 10, *now);
        }
    }

    #[test]
    fn nothing_is_known_at_first() {
        let mut link = LinkEstimate::default();
        link.received(1 << 20, Instant::now());
        assert_eq!((link.round_trip(), link.rate()), (Duration::ZERO, None));
        assert_eq!((link.time_for(1 << 20), link.bytes_per_round_trip()), (Duration::ZERO, None));
    }

    #[test]
    fn the_round_trip_is_the_shortest_wait() {
        let (mut link, mut now) = (LinkEstimate::default(), Instant::now());
        for (wait, expected) in [(30, 30), (12, 12), (500, 12), (11, 11)] {
            burst(&mut link, &mut now, wait * MS, 0, MS);
            assert_eq!(link.round_trip(), expected * MS);
        }
    }

    #[test]
    fn answers_to_earlier_requests_are_no_round_trip() {
        let (mut link, now) = (LinkEstimate::default(), Instant::now());
        link.sent(true, now);
        link.received(100, now + 20 * MS);
        // The rest of that answer is still coming.
        link.sent(false, now + 21 * MS);
        link.received(100, now + 22 * MS);
        assert_eq!(link.round_trip(), 20 * MS);
    }

    #[test]
    fn the_rate_is_that_of_the_best_burst() {
        let (mut link, mut now) = (LinkEstimate::default(), Instant::now());
        burst(&mut link, &mut now, MS, 3, MS);
        assert_eq!(link.rate(), None, "too few bytes");
        burst(&mut link, &mut now, MS, 8, 2 * MS);
        let rate = link.rate().expect("enough bytes");
        assert!((rate - 8_192_000.0).abs() < 1.0, "{rate}");
        assert_eq!(link.time_for(819_200), 100 * MS);
        assert_eq!(link.bytes_per_round_trip(), Some(8192));
        // A faster one counts at once, while it lasts.
        burst(&mut link, &mut now, MS, 8, MS);
        assert!((link.rate().expect("known") - 16_384_000.0).abs() < 1.0);
        // Slower ones count half; they count when they have ended.
        burst(&mut link, &mut now, MS, 8, 4 * MS);
        assert!((link.rate().expect("known") - 16_384_000.0).abs() < 1.0);
        burst(&mut link, &mut now, MS, 0, MS);
        assert!((link.rate().expect("known") - 10_240_000.0).abs() < 1.0);
    }

    #[test]
    fn a_pause_within_a_burst_does_not_make_the_link_fast() {
        let (mut link, mut now) = (LinkEstimate::default(), Instant::now());
        burst(&mut link, &mut now, MS, 8, MS);
        now += 500 * MS;
        // What came meanwhile lay ready.
        link.received(8 << 20, now);
        assert!(link.rate().expect("known") < 17_000_000.0);
    }
}
