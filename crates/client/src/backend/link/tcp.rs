//! The blocking link.

use super::resolve::resolve;
use super::{GLANCE, Link};
use crate::config::AddressFamily;
use socket2::{SockRef, TcpKeepalive};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::ops::Range;
use std::thread;
use std::time::{Duration, Instant};

/// Idle time after which the kernel begins to probe a silent peer.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);

/// Servers send 8 KB at a time. Woken for each of them, a fast reader costs a server on the same machine a tenth of its
/// speed; by the end of this pause several have come.
const GATHERING: Duration = Duration::from_micros(100);
/// Sizes of reads after which a pause pays: the stream flows, and in small pieces.
const SMALL_PIECES: Range<usize> = 4 << 10..64 << 10;

/// A TCP connection that waits in the kernel.
#[derive(Debug)]
pub(crate) struct TcpLink {
    stream: TcpStream,
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
        for address in resolve(host, port, deadline)?.into_iter().filter(wanted) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            match TcpStream::connect_timeout(&address, left) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    SockRef::from(&stream)
                        .set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE_IDLE))?;
                    stream.set_read_timeout(Some(GLANCE))?;
                    stream.set_write_timeout(Some(GLANCE))?;
                    return Ok(Self { stream, last_piece: 0 });
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

    /// The bare socket, which waits as long as it takes.
    pub(crate) fn into_stream(self) -> io::Result<TcpStream> {
        self.stream.set_read_timeout(None)?;
        self.stream.set_write_timeout(None)?;
        Ok(self.stream)
    }
}

/// The kernel says "would block" when a socket's time limit has passed.
fn nothing_moved(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => ErrorKind::Interrupted.into(),
        _ => error,
    }
}

impl Link for TcpLink {
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.last_piece = self.stream.read(buffer).map_err(nothing_moved)?;
        Ok(self.last_piece)
    }

    fn let_gather(&mut self) {
        if SMALL_PIECES.contains(&self.last_piece) {
            thread::sleep(GATHERING);
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes).map_err(nothing_moved)
    }

    fn shut_down(&mut self) {
        // It may be closed already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}
