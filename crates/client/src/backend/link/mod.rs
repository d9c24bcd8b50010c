//! Transports: how bytes get to the server and back.

pub(crate) mod tcp;
#[cfg(any(feature = "tokio", test))]
pub(crate) mod tokio;

use std::io;
use std::time::{Duration, Instant};

/// How long a link may wait for bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Until then, whatever happens in between (the handshake).
    Until(Instant),
    /// This long for each read or write (a running connection).
    Each(Option<Duration>),
}

/// A byte stream. A blocking link never pends, so that a flow over it finishes in one poll.
#[allow(async_fn_in_trait, reason = "crate-private; Send is inferred for the concrete links")]
pub(crate) trait Link {
    /// Reads at least one byte; 0 means the peer closed the stream. Out of patience is `ErrorKind::TimedOut`; a link
    /// may also return `ErrorKind::Interrupted` now and then, so that the caller can look around.
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// The next read comes in the middle of a long stream: the link may wait a moment so that it finds more than a
    /// single segment.
    fn let_gather(&mut self) {}

    /// Writes everything.
    async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Closes the stream in both directions, whatever is under way.
    fn shut_down(&mut self);

    /// How long the following reads and writes may take.
    fn set_patience(&mut self, patience: Patience);
}
