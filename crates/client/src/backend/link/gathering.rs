//! How long a blocking link lets data gather before it reads.
//!
//! A server sends rows 8 KB at a time. Waking up for each piece costs a server on the same machine a tenth of its speed, and the
//! client a fifth of its processor time. So reads of data that flows are put off, until about one answer to a fetch
//! has arrived: with more, the server would wait for the next fetch.

use std::ops::Range;
use std::time::Duration;

/// Read sizes after which a pause pays off: data is flowing, and not faster than it is read.
const FLOWING: Range<usize> = 4 << 10..224 << 10;
/// What a read should find after a pause. Servers end an answer after 128 KB.
const ENOUGH: Range<usize> = 96 << 10..150 << 10;
const SHORTEST: Duration = Duration::from_micros(100);
/// Also the longest time for which the last rows of a result may lie ready.
const LONGEST: Duration = Duration::from_millis(2);

/// The pause, which follows what is found after it.
#[derive(Debug)]
pub(super) struct Gathering {
    pause: Duration,
    /// Number of bytes in the last read.
    last_piece: usize,
    has_paused: bool,
}

impl Gathering {
    pub(super) fn new() -> Self {
        Self { pause: SHORTEST, last_piece: 0, has_paused: false }
    }

    /// Returns how long to wait before the next read.
    pub(super) fn pause(&mut self) -> Option<Duration> {
        self.has_paused = FLOWING.contains(&self.last_piece);
        self.has_paused.then_some(self.pause)
    }

    /// Notes the number of bytes that a read has found.
    pub(super) fn found(&mut self, bytes: usize) {
        self.last_piece = bytes;
        if std::mem::take(&mut self.has_paused) {
            if bytes < ENOUGH.start {
                self.pause = (self.pause * 9 / 8).min(LONGEST);
            } else if bytes >= ENOUGH.end {
                self.pause = (self.pause * 7 / 8).max(SHORTEST);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of the reads from a server that sends `rate` bytes per millisecond.
    fn reads(gathering: &mut Gathering, rate: usize, count: usize) -> Vec<usize> {
        let read = |_| {
            // Without a pause it finds one piece.
            let micros = gathering.pause().map_or(0, |pause| pause.as_micros() as usize);
            let bytes = (8 << 10) + rate * micros / 1000;
            gathering.found(bytes);
            bytes
        };
        (0..count).map(read).collect()
    }

    #[test]
    fn reads_find_about_an_answer() {
        for rate in [70 << 10, 130 << 10, 600 << 10] {
            let found = reads(&mut Gathering::new(), rate, 60);
            assert!(found[40..].iter().all(|bytes| ENOUGH.contains(bytes)), "{rate}: {found:?}");
        }
    }

    #[test]
    fn pauses_follow_the_rate() {
        let mut gathering = Gathering::new();
        reads(&mut gathering, 70 << 10, 60);
        let found = reads(&mut gathering, 300 << 10, 60);
        assert!(ENOUGH.contains(&found[59]), "{found:?}");
    }

    #[test]
    fn pauses_have_limits() {
        let mut gathering = Gathering::new();
        reads(&mut gathering, 9 << 10, 100);
        assert_eq!(gathering.pause(), Some(LONGEST));
        reads(&mut gathering, 1 << 20, 100);
        assert!(gathering.pause.max(SHORTEST) < 2 * SHORTEST, "{gathering:?}");
    }

    #[test]
    fn nothing_is_put_off_for_small_answers_or_full_buffers() {
        let mut gathering = Gathering::new();
        assert_eq!(gathering.pause(), None, "nothing has come");
        for bytes in [100, 256 << 10] {
            gathering.found(bytes);
            assert_eq!(gathering.pause(), None, "{bytes}");
        }
        gathering.found(8 << 10);
        assert_eq!(gathering.pause(), Some(SHORTEST));
    }
}
