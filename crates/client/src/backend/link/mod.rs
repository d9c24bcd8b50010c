//! Transports: they carry bytes to the server and back.

mod gathering;
#[cfg(feature = "tokio")]
pub(crate) mod reactor;
mod resolve;
pub(crate) mod tcp;
#[cfg(feature = "tokio")]
pub(crate) mod tokio;
mod waiting;

use crate::config::AddressFamily;
use crate::error::{Error, Kind};
use socket2::{SockRef, TcpKeepalive};
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// How long a link waits before the caller checks for cancellation and time limits.
pub(crate) const GLANCE: Duration = Duration::from_millis(50);

/// Idle time after which the kernel begins to probe a silent peer.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);

/// A byte stream. The futures of a blocking link never return `Pending`, so code on top of it completes in one poll.
///
/// Reads and writes fail with `ErrorKind::Interrupted` when no byte has moved for a [`GLANCE`].
#[allow(async_fn_in_trait, reason = "crate-private; Send is inferred for the concrete links")]
pub(crate) trait Link: Sized {
    /// Connects to the first address of `host` that answers before `deadline`.
    async fn connect(host: &str, port: u16, family: AddressFamily, deadline: Instant) -> io::Result<Self>;

    /// Returns the peer's address.
    fn peer(&self) -> Option<SocketAddr>;

    /// Reads at least one byte; 0 means the peer closed the stream.
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Announces that the next read continues a long stream, or `begins` to: the link may wait, for 2 ms at most, until about
    /// one answer has arrived.
    fn let_gather(&mut self, _begins: bool) {}

    /// Writes at least one byte.
    async fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Whether the peer has closed the stream, or it has failed. Does not wait, and consumes no bytes.
    fn is_dead(&mut self) -> bool;

    /// Closes the stream in both directions at once.
    fn shut_down(&mut self);

    /// Sleeps for `time`.
    async fn pause(time: Duration);

    /// Runs blocking work where it holds up nothing else.
    async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T>;
}

/// Whether a stream is dead, judged by the result of peeking at its next byte.
fn ends(looked: io::Result<usize>) -> bool {
    match looked {
        Ok(bytes) => bytes == 0,
        Err(error) => !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted),
    }
}

/// Returns the error for a failed connection attempt.
pub(crate) fn unreachable(error: &io::Error, text: String) -> Error {
    let kind = if error.kind() == io::ErrorKind::TimedOut { Kind::Timeout } else { Kind::Unreachable };
    Error::new(kind, text)
}

/// Returns the addresses of this family; fails if there are none.
fn of_family(addresses: Vec<SocketAddr>, family: AddressFamily) -> io::Result<Vec<SocketAddr>> {
    let is_wanted = |address: &SocketAddr| match family {
        AddressFamily::Any => true,
        AddressFamily::V4 => address.is_ipv4(),
        AddressFamily::V6 => address.is_ipv6(),
    };
    let wanted: Vec<SocketAddr> = addresses.into_iter().filter(is_wanted).collect();
    match wanted.is_empty() {
        true => {
            Err(io::Error::new(io::ErrorKind::NotFound, "the host has no address of the requested family"))
        }
        false => Ok(wanted),
    }
}

/// Sets the socket options of every connection to a server.
fn prepare(socket: &SockRef<'_>) -> io::Result<()> {
    socket.set_tcp_nodelay(true)?;
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE_IDLE))
}
