//! How many fetches of a cursor are in flight.
//!
//! A server answers each fetch with about 128 KB, whatever is requested: rows, and the BLOBs that come with them. The
//! window follows how long the last answer took, from its first bytes to its last. It has room for what comes in a round
//! trip, twice, because it is filled up when half of it has come: so requests share writes.
//!
//! What is in flight cannot be interrupted. So the window never has more than what comes in two round trips, or as long
//! as a single answer may take, and answers that come slowly make it small.

use super::link_estimate::LinkEstimate;
use super::open_cursor::SLOW_FETCH;
use std::time::{Duration, Instant};

/// Fetches initially in flight. Two hide the latency of a link that carries no more than one answer per round trip.
const FEW: usize = 2;
/// Largest number of fetches in flight.
const MOST: usize = 64;
/// Most bytes in flight: they may have to be held in memory while the client waits for a later answer.
const MOST_BYTES: usize = 16 << 20;
/// A server ends an answer after this many bytes, but not before it has sent this many rows.
pub(super) const LONGEST_ANSWER: usize = 128 << 10;
const FEWEST_ROWS: usize = 11;
/// The window of a cursor that goes on grows by this factor. Results that are just longer than one answer cause few
/// fetches in vain, and a thousand BLOBs need few writes.
const GROWTH: usize = 4;
/// Links with a shorter round trip need no more than [`FEW`], except for rows with BLOBs: each answer brings few of them.
const LONG_ROUND_TRIP: Duration = Duration::from_millis(2);

/// The number of fetches to keep in flight.
#[derive(Debug)]
pub(super) struct FetchWindow {
    size: usize,
    /// Whether the rows bring BLOBs.
    pub(super) brings_blobs: bool,
    /// When bytes came after the last wait.
    resumed: Option<Instant>,
    /// How long the last answer took that has not been considered yet.
    took: Option<Duration>,
    /// Bytes received when the last answer ended; `None` until the first `adjust`.
    received_before: Option<u64>,
}

impl FetchWindow {
    /// A window of a cursor that is being opened.
    pub(super) fn new() -> Self {
        Self { size: FEW, brings_blobs: false, resumed: None, took: None, received_before: None }
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Notes that bytes came after a wait between two answers.
    pub(super) fn resumed(&mut self, now: Instant) {
        self.resumed = Some(now);
    }

    /// Notes that a whole answer has come, which the server began at `since` or later, and that more rows follow.
    pub(super) fn answered(&mut self, since: Instant, now: Instant) {
        let since = self.resumed.take().map_or(since, |resumed| resumed.max(since));
        self.took = Some(now.saturating_duration_since(since));
    }

    /// Adjusts the window if an answer has come since the last time. `received` are all bytes that the connection has
    /// received.
    pub(super) fn adjust(&mut self, link: &LinkEstimate, received: u64) {
        let before = *self.received_before.get_or_insert(received);
        let Some(took) = self.took.take() else { return };
        self.received_before = Some(received);
        let length = usize::try_from(received.saturating_sub(before)).unwrap_or(usize::MAX);
        let round_trip = link.round_trip();
        if round_trip < LONG_ROUND_TRIP && !self.brings_blobs {
            return;
        }
        // It may have lain ready: it took no less than it does on this link.
        let took = took.max(link.time_for(length)).max(Duration::from_micros(1));
        let within = |time: Duration| FEW + (2 * time.as_micros() / took.as_micros()) as usize;
        let room = (MOST_BYTES / length.max(1)).clamp(FEW, MOST);
        let most = within(round_trip.max(SLOW_FETCH / 2)).clamp(FEW, room);
        self.size = within(round_trip).max(self.size * GROWTH).min(most);
    }
}

/// Returns the most bytes in flight of rows that bring BLOBs of this length.
pub(super) fn row_bytes_ahead(length: usize) -> usize {
    let answer = LONGEST_ANSWER.max(FEWEST_ROWS.saturating_mul(length));
    MOST.saturating_mul(answer).min(MOST_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const ANSWER: u64 = 128 << 10;

    /// The sizes of a window while answers come that take `took`, the first one included.
    fn sizes(round_trip: Duration, rate: Option<f64>, brings_blobs: bool, took: &[Duration]) -> Vec<usize> {
        let link = LinkEstimate::of(round_trip, rate);
        let mut window = FetchWindow { brings_blobs, ..FetchWindow::new() };
        let (mut now, mut received) = (Instant::now(), 1000);
        window.adjust(&link, received);
        assert_eq!(window.size(), FEW);
        let each = took.iter().map(|took| {
            let since = now;
            now += *took;
            received += ANSWER;
            window.answered(since, now);
            window.adjust(&link, received);
            window.size()
        });
        each.collect()
    }

    #[test]
    fn a_long_link_gets_what_it_needs_after_the_first_answer() {
        // 71 Mbit/s carry an answer in 14.5 ms; without a limit it comes in less than one.
        assert_eq!(sizes(200 * MS, None, false, &[MS]), [MOST]);
        assert_eq!(sizes(200 * MS, None, false, &[Duration::from_micros(14_500)]), [29]);
        assert_eq!(
            sizes(Duration::from_micros(12_500), None, true, &[Duration::from_micros(600); 2]),
            [43, 64]
        );
    }

    #[test]
    fn a_link_that_carries_one_answer_per_round_trip_needs_few() {
        let took = [Duration::from_micros(14_500); 3];
        assert_eq!(sizes(Duration::from_micros(12_500), None, true, &took), [8, 32, 36]);
    }

    #[test]
    fn near_a_server_only_rows_with_blobs_need_more() {
        let took = [Duration::from_micros(500); 3];
        assert_eq!(sizes(MS / 10, None, false, &took), [2, 2, 2]);
        assert_eq!(sizes(MS / 10, None, true, &took), [8, 32, 64]);
    }

    #[test]
    fn what_cannot_be_interrupted_stays_short() {
        // Near a server, what comes in half a second; the window shrinks when answers become slow.
        assert_eq!(sizes(MS / 10, None, true, &[MS, 10 * MS, 60 * MS, 600 * MS]), [8, 32, 10, 2]);
        assert_eq!(sizes(200 * MS, None, true, &[MS, 600 * MS]), [64, 2]);
    }

    #[test]
    fn an_answer_that_lay_ready_says_nothing_about_the_link() {
        let rate = Some((128 << 10) as f64 / 0.02);
        assert_eq!(sizes(200 * MS, rate, false, &[Duration::ZERO]), [22]);
    }

    #[test]
    fn bytes_in_flight_are_limited() {
        let link = LinkEstimate::of(200 * MS, None);
        let (mut window, now) = (FetchWindow::new(), Instant::now());
        window.adjust(&link, 1);
        window.answered(now, now + MS);
        window.adjust(&link, 2 << 20);
        assert_eq!(window.size(), 8);
    }

    #[test]
    fn waiting_for_an_answer_is_not_part_of_it() {
        let link = LinkEstimate::of(200 * MS, None);
        let (mut window, now) = (FetchWindow::new(), Instant::now());
        window.adjust(&link, 1);
        window.resumed(now + 180 * MS);
        window.answered(now, now + 200 * MS);
        window.adjust(&link, ANSWER);
        assert_eq!(window.size(), 22);
    }
}
