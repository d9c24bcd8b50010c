//! What earlier connections of this process have found out about the links to their servers.

use super::link_estimate::LinkEstimate;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A server: its host as it was given, and its port.
pub(super) type Server = (String, u16);

/// Servers to remember.
const CAPACITY: usize = 256;

/// Bytes per second. A server compresses about 10 MB/s of rows per processor; above 64 Mbit/s compression gains too
/// little.
const WORTH_COMPRESSING_BELOW: f64 = 8e6;
/// In a local network it is the server that is slow, and compression would make it slower.
const LOCAL_ROUND_TRIP: Duration = Duration::from_millis(1);
/// A measurement is forgotten after this time: the next connection is not compressed, and measures anew.
const EXPIRES_AFTER: Duration = Duration::from_secs(10 * 60);

/// What is known of a link.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Bytes per second that arrived at best.
    rate: f64,
    round_trip: Duration,
    since: Instant,
}

static LINKS: LazyLock<Mutex<HashMap<Server, Known>>> = LazyLock::new(Mutex::default);

/// What a connection finds out about its link. Saves the estimate for later connections when dropped.
#[derive(Debug, Default)]
pub(super) struct RememberedLink {
    pub(super) estimate: LinkEstimate,
    pub(super) server: Option<Server>,
    /// The server compresses, so the rate may be that of its processor.
    pub(super) is_compressed: bool,
}

impl Drop for RememberedLink {
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

/// Whether an earlier connection to this server found a distant link that is slower than a server compresses.
pub(super) fn gains_from_compression(server: &Server) -> bool {
    links().get(server).is_some_and(|known| {
        known.rate < WORTH_COMPRESSING_BELOW
            && known.round_trip > LOCAL_ROUND_TRIP
            && known.since.elapsed() < EXPIRES_AFTER
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(server: &Server, rate: Option<f64>, is_compressed: bool) {
        let estimate = LinkEstimate::of(Duration::from_millis(10), rate);
        drop(RememberedLink { estimate, server: Some(server.clone()), is_compressed });
    }

    #[test]
    fn the_last_plain_connection_counts() {
        let server = ("test.example".to_owned(), 1);
        assert!(!gains_from_compression(&server), "nothing is known");
        end(&server, None, false);
        assert!(!gains_from_compression(&server), "nothing was found out");
        end(&server, Some(1e6), false);
        assert!(gains_from_compression(&server) && !gains_from_compression(&("test.example".to_owned(), 2)));
        end(&server, Some(9e6), false);
        assert!(!gains_from_compression(&server));
        end(&server, Some(1e6), true);
        assert!(!gains_from_compression(&server), "that may have been the server's processor");
        end(&server, Some(1e6), false);
        end(&server, Some(9e6), true);
        assert!(!gains_from_compression(&server), "the link carries that much");
        remember(server.clone(), 1e6, Duration::from_micros(200), false);
        assert!(!gains_from_compression(&server), "the server is slow, not the link");
    }
}
