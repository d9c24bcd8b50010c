//! Transports: how bytes get to the server and back.

mod resolve;
pub(crate) mod tcp;
#[cfg(feature = "tokio")]
pub(crate) mod tokio;

use crate::config::AddressFamily;
use crate::error::{Error, Kind};
use socket2::{SockRef, TcpKeepalive};
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// How long a link waits until the caller may look whether it is still wanted, and whether its time is up.
pub(crate) const GLANCE: Duration = Duration::from_millis(50);

/// Idle time after which the kernel begins to probe a silent peer.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);

/// A byte stream. A blocking link never pends, so that a flow over it finishes in one poll.
///
/// Reads and writes end with `ErrorKind::Interrupted` when nothing has moved for a [`GLANCE`].
#[allow(async_fn_in_trait, reason = "crate-private; Send is inferred for the concrete links")]
pub(crate) trait Link: Sized {
    /// Connects to the first address of `host` that answers before `deadline`.
    async fn connect(host: &str, port: u16, family: AddressFamily, deadline: Instant) -> io::Result<Self>;

    /// The peer's address.
    fn peer(&self) -> Option<SocketAddr>;

    /// Reads at least one byte; 0 means the peer closed the stream.
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// The next read comes in the middle of a long stream: the link may wait a moment so that it finds more than a
    /// single segment.
    fn let_gather(&mut self) {}

    /// Writes at least one byte.
    async fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Whether the peer has closed the stream, or it broke. A look that does not wait; bytes that have come stay.
    fn is_dead(&mut self) -> bool;

    /// Closes the stream in both directions, whatever is under way.
    fn shut_down(&mut self);

    /// Waits so long.
    async fn pause(time: Duration);

    /// Runs work that blocks, where it holds up nothing else.
    async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T>;
}

/// Whether a stream is dead, judged by its next byte, without waiting.
fn ends(looked: io::Result<usize>) -> bool {
    match looked {
        Ok(bytes) => bytes == 0,
        Err(error) => !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted),
    }
}

/// The error for a link that could not be made.
pub(crate) fn unreachable(error: &io::Error, text: String) -> Error {
    let kind = if error.kind() == io::ErrorKind::TimedOut { Kind::Timeout } else { Kind::Unreachable };
    Error::new(kind, text)
}

/// The addresses of a kind, or an error if there are none.
fn of_family(addresses: Vec<SocketAddr>, family: AddressFamily) -> io::Result<Vec<SocketAddr>> {
    let is_wanted = |address: &SocketAddr| match family {
        AddressFamily::Any => true,
        AddressFamily::V4 => address.is_ipv4(),
        AddressFamily::V6 => address.is_ipv6(),
    };
    let wanted: Vec<SocketAddr> = addresses.into_iter().filter(is_wanted).collect();
    match wanted.is_empty() {
        true => Err(io::Error::new(io::ErrorKind::NotFound, "the host has no address of the wanted kind")),
        false => Ok(wanted),
    }
}

/// Sets what every connection to a server has.
fn prepare(socket: &SockRef<'_>) -> io::Result<()> {
    socket.set_tcp_nodelay(true)?;
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE_IDLE))
}
