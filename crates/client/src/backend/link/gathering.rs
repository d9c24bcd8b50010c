//! How long a blocking link lets data gather before it reads.
//!
//! A server sends rows 8 KB at a time. Waking up for each piece costs a server on the same machine a tenth of its speed, and the
//! client a fifth of its processor time. Reads of flowing data are therefore put off until about one answer to a fetch has
//! arrived. The pause becomes longer as long as that does not make the stream slower: a server that has
//! answered all fetches, or filled the window of the connection, waits for the client.

use std::ops::Range;
use std::time::{Duration, Instant};

/// Size of a read from which on data is flowing.
const FLOWING: usize = 4 << 10;
/// What a read should find after a pause. Servers end an answer after 128 KB by default.
const ENOUGH: Range<usize> = 96 << 10..150 << 10;
const SHORTEST: Duration = Duration::from_micros(100);
/// Also the longest time for which the last rows of a result may lie ready.
const LONGEST: Duration = Duration::from_millis(2);
/// The number of reads that are judged together.
const GROUP: usize = 16;
/// Share of the rate that must be left after the pause has become longer.
const LEAST: f64 = 0.8;

/// The pause before reads of one stream, which follows what they find.
#[derive(Debug)]
pub(super) struct Gathering {
    pause: Duration,
    longest: Duration,
    last_read: Read,
    /// Whether the next read has been put off.
    is_put_off: bool,
    /// Reads after a pause that have not been judged, and their bytes.
    reads: usize,
    bytes: usize,
    /// When the first of them was put off.
    since: Option<Instant>,
    /// The pause before it became longer, and the bytes per second then.
    before: Option<(Duration, f64)>,
}

/// What a read has found.
#[derive(Clone, Copy, Debug, Default)]
struct Read {
    bytes: usize,
    /// Whether more may have been there.
    is_full: bool,
    was_put_off: bool,
}

impl Gathering {
    pub(super) fn new() -> Self {
        Self {
            pause: SHORTEST,
            longest: LONGEST,
            last_read: Read::default(),
            is_put_off: false,
            reads: 0,
            bytes: 0,
            since: None,
            before: None,
        }
    }

    /// Begins another stream, which may be like the last one or much shorter.
    pub(super) fn begin(&mut self) {
        let pause = (self.pause / 2).max(SHORTEST);
        *self = Self { pause, last_read: Read { was_put_off: false, ..self.last_read }, ..Self::new() };
    }

    /// Returns how long to wait before the next read of the stream.
    pub(super) fn pause(&mut self, now: Instant) -> Option<Duration> {
        self.is_put_off = false;
        // Only reads after which the stream goes on count: the last one finds little, however long the pause.
        let last = std::mem::take(&mut self.last_read);
        if last.was_put_off {
            self.count(last, now);
        }
        if last.is_full || last.bytes < FLOWING {
            (self.reads, self.bytes, self.since) = (0, 0, None);
            return None;
        }
        self.since.get_or_insert(now);
        self.is_put_off = true;
        Some(self.pause)
    }

    /// Notes the number of bytes that a read has found, and whether they have filled its buffer.
    pub(super) fn found(&mut self, bytes: usize, is_full: bool) {
        let was_put_off = std::mem::take(&mut self.is_put_off);
        self.last_read = Read { bytes, is_full, was_put_off };
    }

    fn count(&mut self, read: Read, now: Instant) {
        if read.is_full {
            self.pause = (self.pause * 7 / 8).max(SHORTEST);
            return;
        }
        (self.reads, self.bytes) = (self.reads + 1, self.bytes + read.bytes);
        if self.reads == GROUP
            && let Some(since) = self.since.replace(now)
        {
            let taken = now.saturating_duration_since(since).as_secs_f64();
            self.judge(self.bytes as f64 / taken.max(1e-6), self.bytes / GROUP);
            (self.reads, self.bytes) = (0, 0);
        }
    }

    /// Adjusts the pause to the bytes per second and per read.
    fn judge(&mut self, rate: f64, found: usize) {
        match self.before.take() {
            Some((pause, before)) if rate < before * LEAST => (self.pause, self.longest) = (pause, pause),
            _ if found >= ENOUGH.end => self.pause = (self.pause * 7 / 8).max(SHORTEST),
            _ if found < ENOUGH.start && self.pause < self.longest => {
                self.before = Some((self.pause, rate));
                self.pause = (self.pause * 3 / 2).min(self.longest);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUFFER: usize = 256 << 10;

    /// A server that sends `rate` bytes per millisecond, until `window` of them lie ready.
    struct Server {
        rate: usize,
        window: usize,
        now: Instant,
    }

    impl Server {
        fn new(rate: usize, window: usize) -> Self {
            Self { rate, window, now: Instant::now() }
        }

        /// Bytes of `count` reads, and of the last 20 in a millisecond.
        fn read(&mut self, gathering: &mut Gathering, count: usize) -> (Vec<usize>, usize) {
            let mut found = Vec::new();
            let mut times = Vec::new();
            for _ in 0..count {
                times.push(self.now);
                let pause = gathering.pause(self.now).unwrap_or_default();
                // Without a pause it waits for one piece.
                let wait = pause.max(Duration::from_secs_f64((8 << 10) as f64 / self.rate as f64 / 1e3));
                self.now += wait + Duration::from_micros(50);
                let most = self.window.min(BUFFER);
                let bytes = (self.rate * wait.as_micros() as usize / 1000).min(most);
                gathering.found(bytes, bytes == BUFFER);
                found.push(bytes);
            }
            let last = count.saturating_sub(20);
            let micros = (self.now - times[last]).as_micros() as usize;
            let bytes = found[last..].iter().sum::<usize>() * 1000 / micros;
            (found, bytes)
        }
    }

    #[test]
    fn reads_find_about_an_answer() {
        for rate in [70 << 10, 130 << 10, 600 << 10] {
            let (found, _) = Server::new(rate, BUFFER).read(&mut Gathering::new(), 200);
            assert!(found[180..].iter().all(|bytes| ENOUGH.contains(bytes)), "{rate}: {found:?}");
        }
    }

    #[test]
    fn pauses_follow_the_rate() {
        let (mut gathering, mut server) = (Gathering::new(), Server::new(70 << 10, BUFFER));
        server.read(&mut gathering, 200);
        server.rate = 300 << 10;
        let (found, _) = server.read(&mut gathering, 200);
        assert!(ENOUGH.contains(&found[199]), "{found:?}");
    }

    #[test]
    fn pauses_have_limits() {
        let mut gathering = Gathering::new();
        Server::new(9 << 10, BUFFER).read(&mut gathering, 200);
        assert_eq!(gathering.pause, LONGEST);
        Server::new(4 << 20, 200 << 10).read(&mut gathering, 400);
        assert_eq!(gathering.pause, SHORTEST);
    }

    /// The window of the connection may be small, and so may be what a server sends for a fetch.
    #[test]
    fn a_server_that_waits_for_the_client_is_read_sooner() {
        for window in [24 << 10, 46 << 10, 64 << 10] {
            let (mut gathering, mut server) = (Gathering::new(), Server::new(130 << 10, window));
            let (_, at_first) = server.read(&mut gathering, 16);
            let (found, later) = server.read(&mut gathering, 200);
            assert!(later * 10 >= at_first * 9, "{window}: {at_first}, {later}, {gathering:?}, {found:?}");
        }
    }

    #[test]
    fn another_stream_begins_with_shorter_pauses() {
        let mut gathering = Gathering::new();
        Server::new(9 << 10, BUFFER).read(&mut gathering, 200);
        let pauses: Vec<_> = (0..6)
            .map(|_| {
                gathering.begin();
                gathering.found(8 << 10, false);
                gathering.pause(Instant::now()).map(|pause| pause.as_micros())
            })
            .collect();
        assert_eq!(pauses, [1000, 500, 250, 125, 100, 100].map(Some));
    }

    #[test]
    fn ends_of_streams_teach_nothing() {
        let (mut gathering, mut server) = (Gathering::new(), Server::new(130 << 10, BUFFER));
        server.read(&mut gathering, 200);
        let pause = gathering.pause;
        for _ in 0..100 {
            assert_eq!(gathering.pause(server.now), Some(pause));
            gathering.found(10 << 10, false);
            // The next statement.
            gathering.found(100, false);
            assert_eq!(gathering.pause(server.now), None);
            gathering.found(8 << 10, false);
        }
        assert_eq!(gathering.pause, pause);
    }

    #[test]
    fn nothing_is_put_off_for_small_answers_or_full_buffers() {
        let (mut gathering, now) = (Gathering::new(), Instant::now());
        assert_eq!(gathering.pause(now), None, "nothing has come");
        for (bytes, is_full) in [(100, false), (BUFFER, true), (64 << 10, true)] {
            gathering.found(bytes, is_full);
            assert_eq!(gathering.pause(now), None, "{bytes}");
        }
        gathering.found(8 << 10, false);
        assert_eq!(gathering.pause(now), Some(SHORTEST));
    }
}
