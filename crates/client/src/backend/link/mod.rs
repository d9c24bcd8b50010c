//! Transports: how bytes get to the server and back.

mod resolve;
pub(crate) mod tcp;
#[cfg(any(feature = "tokio", test))]
pub(crate) mod tokio;

use crate::error::{Error, Kind};
use std::io;
use std::time::Duration;

/// How long a link waits until the caller may look whether it is still wanted, and whether its time is up.
pub(crate) const GLANCE: Duration = Duration::from_millis(50);

/// A byte stream. A blocking link never pends, so that a flow over it finishes in one poll.
///
/// Reads and writes end with `ErrorKind::Interrupted` when nothing has moved for a [`GLANCE`].
#[allow(async_fn_in_trait, reason = "crate-private; Send is inferred for the concrete links")]
pub(crate) trait Link {
    /// Reads at least one byte; 0 means the peer closed the stream.
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// The next read comes in the middle of a long stream: the link may wait a moment so that it finds more than a
    /// single segment.
    fn let_gather(&mut self) {}

    /// Writes at least one byte.
    async fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Closes the stream in both directions, whatever is under way.
    fn shut_down(&mut self);
}

/// The error for a link that could not be made.
pub(crate) fn unreachable(error: &io::Error, text: String) -> Error {
    let kind = if error.kind() == io::ErrorKind::TimedOut { Kind::Timeout } else { Kind::Unreachable };
    Error::new(kind, text)
}
