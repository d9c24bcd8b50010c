//! The blocking link.

use super::resolve::resolve;
use super::{GLANCE, Link, ends, of_family, prepare};
use crate::config::AddressFamily;
use socket2::SockRef;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::ops::Range;
use std::thread;
use std::time::{Duration, Instant};

/// Servers send 8 KB at a time. Waking up for each piece costs a server on the same machine a tenth of its speed; after
/// this pause, several pieces have arrived.
const GATHERING: Duration = Duration::from_micros(100);
/// Read sizes after which a pause pays off: data is flowing, in small pieces.
const SMALL_PIECES: Range<usize> = 4 << 10..64 << 10;

/// A blocking TCP connection.
#[derive(Debug)]
pub(crate) struct TcpLink {
    stream: TcpStream,
    /// Number of bytes in the last read.
    last_piece: usize,
}

impl TcpLink {
    /// Returns the bare socket, without time limits.
    pub(crate) fn into_stream(self) -> io::Result<TcpStream> {
        self.stream.set_read_timeout(None)?;
        self.stream.set_write_timeout(None)?;
        Ok(self.stream)
    }
}

/// The kernel reports "would block" when a socket's time limit expires.
fn nothing_moved(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => ErrorKind::Interrupted.into(),
        _ => error,
    }
}

impl Link for TcpLink {
    async fn connect(host: &str, port: u16, family: AddressFamily, deadline: Instant) -> io::Result<Self> {
        let mut last = io::Error::from(ErrorKind::TimedOut);
        for address in of_family(resolve(host, port, deadline)?, family)? {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            match TcpStream::connect_timeout(&address, left) {
                Ok(stream) => {
                    prepare(&SockRef::from(&stream))?;
                    stream.set_read_timeout(Some(GLANCE))?;
                    stream.set_write_timeout(Some(GLANCE))?;
                    return Ok(Self { stream, last_piece: 0 });
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn peer(&self) -> Option<SocketAddr> {
        self.stream.peer_addr().ok()
    }

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

    fn is_dead(&mut self) -> bool {
        let looked = self.stream.set_nonblocking(true).and_then(|()| self.stream.peek(&mut [0]));
        // A non-blocking socket would make reads spin.
        self.stream.set_nonblocking(false).is_err() || ends(looked)
    }

    fn shut_down(&mut self) {
        // The socket may be closed already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    async fn pause(time: Duration) {
        thread::sleep(time);
    }

    async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
        Ok(work())
    }
}
