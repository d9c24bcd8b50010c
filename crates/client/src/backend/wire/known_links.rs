//! What the connections of this process have learnt about the links to their servers, for those that come after them.

use super::link_estimate::LinkEstimate;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// A server: its host as it was given, and its port.
pub(super) type Server = (String, u16);

/// Servers to remember.
const CAPACITY: usize = 256;

/// Bytes per second above which compression does not pay. A server compresses some 10 MB/s of rows with one processor,
/// to about half; a link that carries more delivers them sooner as they are.
const FAST: f64 = 8e6;

/// Bytes per second that arrived at best, by server.
static RATES: LazyLock<Mutex<HashMap<Server, f64>>> = LazyLock::new(Mutex::default);

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
            remember(server, rate, self.is_compressed);
        }
    }
}

fn rates() -> MutexGuard<'static, HashMap<Server, f64>> {
    RATES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remember(server: Server, rate: f64, is_compressed: bool) {
    let mut rates = rates();
    if rates.len() >= CAPACITY && !rates.contains_key(&server) {
        rates.clear();
    }
    let known = rates.entry(server).or_insert(rate);
    // A compressed connection shows that the link carries at least this much.
    *known = if is_compressed { known.max(rate) } else { rate };
}

/// Whether connections to this server have found a link that is slower than a server compresses.
pub(super) fn is_slow(server: &Server) -> bool {
    rates().get(server).is_some_and(|rate| *rate < FAST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

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
    }
}
