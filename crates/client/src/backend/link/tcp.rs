//! The blocking link.

use super::{Link, Patience};
use crate::config::AddressFamily;
use socket2::{SockRef, TcpKeepalive};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::ops::Range;
use std::thread;
use std::time::{Duration, Instant};

/// Idle time after which the kernel begins to probe a silent peer.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);

/// How long a read waits before the caller may look whether it is still wanted.
const GLANCE: Duration = Duration::from_millis(50);

/// Servers send 8 KB at a time. Woken for each of them, a fast reader costs a server on the same machine a tenth of its
/// speed; by the end of this pause several have come.
const GATHERING: Duration = Duration::from_micros(100);
/// Sizes of reads after which a pause pays: the stream flows, and in small pieces.
const SMALL_PIECES: Range<usize> = 4 << 10..64 << 10;

/// A TCP connection that waits in the kernel.
#[derive(Debug)]
pub(crate) struct TcpLink {
    stream: TcpStream,
    patience: Patience,
    /// Since when the running read waits.
    waiting_since: Option<Instant>,
    /// Bytes of the last read.
    last_piece: usize,
}

impl TcpLink {
    /// Connects to the first address of `host` that answers before `deadline`.
    pub(crate) fn connect(
        host: &str,
        port: u16,
        family: AddressFamily,
        deadline: Instant,
    ) -> io::Result<Self> {
        let mut last = io::Error::new(ErrorKind::NotFound, "the host has no address of the wanted kind");
        let wanted = |address: &SocketAddr| match family {
            AddressFamily::Any => true,
            AddressFamily::V4 => address.is_ipv4(),
            AddressFamily::V6 => address.is_ipv6(),
        };
        for address in (host, port).to_socket_addrs()?.filter(wanted) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            match TcpStream::connect_timeout(&address, left) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    SockRef::from(&stream)
                        .set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE_IDLE))?;
                    return Ok(Self {
                        stream,
                        patience: Patience::Each(None),
                        waiting_since: None,
                        last_piece: 0,
                    });
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// The other side.
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        self.stream.peer_addr().ok()
    }

    /// The bare socket, without time limits.
    pub(crate) fn into_stream(self) -> TcpStream {
        self.stream
    }

    /// With a deadline the time left shrinks, so the socket must be told before every wait.
    fn prepare(&self) -> io::Result<()> {
        if let Patience::Until(deadline) = self.patience {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            self.set_timeouts(Some(left))?;
        }
        Ok(())
    }

    /// A running connection waits in short steps.
    fn unless_patient(&mut self, error: io::Error) -> io::Error {
        let Patience::Each(limit) = self.patience else { return error };
        if error.kind() != ErrorKind::TimedOut {
            return error;
        }
        let since = *self.waiting_since.get_or_insert_with(|| Instant::now() - GLANCE);
        match limit {
            Some(limit) if since.elapsed() >= limit => error,
            _ => ErrorKind::Interrupted.into(),
        }
    }

    fn set_timeouts(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.stream.set_read_timeout(timeout)?;
        self.stream.set_write_timeout(timeout)
    }
}

/// The kernel says "would block" when a socket's time limit has passed.
fn timed_out(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::WouldBlock { ErrorKind::TimedOut.into() } else { error }
}

impl Link for TcpLink {
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.prepare()?;
        loop {
            match self.stream.read(buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.unless_patient(timed_out(error))),
                Ok(count) => {
                    self.waiting_since = None;
                    self.last_piece = count;
                    return Ok(count);
                }
            }
        }
    }

    fn let_gather(&mut self) {
        if SMALL_PIECES.contains(&self.last_piece) {
            thread::sleep(GATHERING);
        }
    }

    async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.prepare()?;
        self.stream.write_all(bytes).map_err(timed_out)
    }

    fn shut_down(&mut self) {
        // It may be closed already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    fn set_patience(&mut self, patience: Patience) {
        self.patience = patience;
        if let Patience::Each(timeout) = patience {
            // A zero limit is refused by the standard library; it would mean "never wait" anyway.
            let timeout = timeout.map(|limit| limit.max(Duration::from_millis(1)));
            let glance = timeout.map_or(GLANCE, |limit| limit.min(GLANCE));
            let set = self.stream.set_read_timeout(Some(glance)).and(self.stream.set_write_timeout(timeout));
            if let Err(error) = set {
                tracing::warn!(%error, "cannot set the time limit of the socket");
            }
        }
    }
}
