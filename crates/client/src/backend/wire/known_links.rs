//! What the connections of this process have learnt about the links to their servers, for those that come after them.

use super::link_estimate::LinkEstimate;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A server: its host as it was given, and its port.
pub(super) type Server = (String, u16);

/// Servers to remember.
const CAPACITY: usize = 256;

/// A server compresses about 10 MB/s of rows per processor. Above 8 MB/s (64 Mbit/s) compression gains too little.
const FAST: f64 = 8e6;
/// In a local network it is the server that is slow, and compression would make it slower.
const NEAR: Duration = Duration::from_millis(1);
/// What was learnt is forgotten after this time: the next connection is not compressed, and learns anew.
const LASTS: Duration = Duration::from_secs(10 * 60);

/// What is known of a link.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Bytes per second that arrived at best.
    rate: f64,
    round_trip: Duration,
    since: Instant,
}

static LINKS: LazyLock<Mutex<HashMap<Server, Known>>> = LazyLock::new(Mutex::default);

/// An estimate that is remembered when its connection ends.
#[derive(Debug, Default)]
pub(super) struct Learnt {
    pub(super) estimate: LinkEstimate,
    pub(super) server: Option<Server>,
    /// The server compresses, so the rate may be that of its processor.
    pub(super) is_compressed: bool,
}

impl Drop for Learnt {
    fn drop(&mut self) {
        if let (Some(server), Some(rate)) = (self.server.take(), self.estimate.rate()) {
            remember(server, rate, self.estimate.round_trip(), self.is_compressed);
        }
    }
}

fn links() -> MutexGuard<'static, HashMap<Server, Known>> {
    LINKS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remember(server: Server, rate: f64, round_trip: Duration, is_compressed: bool) {
    let mut links = links();
    if is_compressed {
        // It shows that the link carries at least this much, and nothing else.
        if let Some(known) = links.get_mut(&server) {
            known.rate = known.rate.max(rate);
        }
        return;
    }
    if links.len() >= CAPACITY && !links.contains_key(&server) {
        links.clear();
    }
    links.insert(server, Known { rate, round_trip, since: Instant::now() });
}

/// Whether a connection to this server, which has ended, found a distant link that is slower than a server compresses.
pub(super) fn is_slow(server: &Server) -> bool {
    let is_slow =
        |known: &Known| known.rate < FAST && known.round_trip > NEAR && known.since.elapsed() < LASTS;
    links().get(server).is_some_and(is_slow)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(server: &Server, rate: Option<f64>, is_compressed: bool) {
        let estimate = LinkEstimate::of(Duration::from_millis(10), rate);
        drop(Learnt { estimate, server: Some(server.clone()), is_compressed });
    }

    #[test]
    fn the_last_plain_connection_counts() {
        let server = ("test.example".to_owned(), 1);
        assert!(!is_slow(&server), "nothing is known");
        end(&server, None, false);
        assert!(!is_slow(&server), "nothing was learnt");
        end(&server, Some(1e6), false);
        assert!(is_slow(&server) && !is_slow(&("test.example".to_owned(), 2)));
        end(&server, Some(9e6), false);
        assert!(!is_slow(&server));
        end(&server, Some(1e6), true);
        assert!(!is_slow(&server), "that may have been the server's processor");
        end(&server, Some(1e6), false);
        end(&server, Some(9e6), true);
        assert!(!is_slow(&server), "the link carries that much");
        remember(server.clone(), 1e6, Duration::from_micros(200), false);
        assert!(!is_slow(&server), "the server is slow, not the link");
    }
}
