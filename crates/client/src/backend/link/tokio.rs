//! The asynchronous link.

use super::reactor::{self, Watched};
use super::{GLANCE, Link, ends, of_family, prepare};
use crate::config::AddressFamily;
use socket2::SockRef;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::net::{Shutdown, SocketAddr};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};
use tokio::runtime::{Handle, Id};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout, timeout_at};

/// A TCP connection driven by the current Tokio runtime, or by the event loop that it is used within.
#[derive(Debug)]
pub(crate) struct TokioLink(Stream);

#[derive(Debug)]
enum Stream {
    Tokio(TcpStream, Id),
    Watched(Watched),
    /// Moving it has failed.
    Lost,
}

impl TokioLink {
    /// Returns the stream, registered where it is used: the runtime or event loop that opened it may be gone, or not running.
    fn stream(&mut self) -> io::Result<&mut Stream> {
        let reactor = reactor::current();
        let here = match &reactor {
            Some(_) => None,
            None => Some(Handle::try_current().map_err(io::Error::other)?.id()),
        };
        let is_here = match (&self.0, &reactor) {
            (Stream::Watched(watched), Some(reactor)) => watched.is_watched_by(reactor),
            (Stream::Tokio(_, runtime), None) => Some(*runtime) == here,
            _ => false,
        };
        if !is_here {
            let socket = match std::mem::replace(&mut self.0, Stream::Lost) {
                Stream::Tokio(stream, _) => stream.into_std()?,
                Stream::Watched(watched) => watched.into_socket(),
                Stream::Lost => return Err(ErrorKind::NotConnected.into()),
            };
            self.0 = match (reactor, here) {
                (Some(reactor), _) => Stream::Watched(Watched::new(socket, reactor)?),
                (None, Some(runtime)) => Stream::Tokio(TcpStream::from_std(socket)?, runtime),
                (None, None) => Stream::Lost,
            };
        }
        Ok(&mut self.0)
    }

    fn socket(&self) -> Option<SockRef<'_>> {
        match &self.0 {
            Stream::Tokio(stream, _) => Some(SockRef::from(stream)),
            Stream::Watched(watched) => Some(SockRef::from(&watched.socket)),
            Stream::Lost => None,
        }
    }
}

/// Waits for `work` for a short time. A read or write that is abandoned has transferred nothing.
async fn at_a_glance(work: impl Future<Output = io::Result<usize>>) -> io::Result<usize> {
    timeout(GLANCE, work).await.unwrap_or_else(|_| Err(ErrorKind::Interrupted.into()))
}

impl Link for TokioLink {
    async fn connect(host: &str, port: u16, family: AddressFamily, deadline: Instant) -> io::Result<Self> {
        let addresses = timeout_at(deadline.into(), lookup_host((host, port))).await??.collect();
        let mut last = io::Error::from(ErrorKind::TimedOut);
        for address in of_family(addresses, family)? {
            match timeout_at(deadline.into(), TcpStream::connect(address)).await? {
                Ok(stream) => {
                    prepare(&SockRef::from(&stream))?;
                    let runtime = Handle::try_current().map_err(io::Error::other)?.id();
                    return Ok(Self(Stream::Tokio(stream, runtime)));
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn peer(&self) -> Option<SocketAddr> {
        self.socket().and_then(|socket| socket.peer_addr().ok()?.as_socket())
    }

    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.stream()? {
            Stream::Tokio(stream, _) => at_a_glance(stream.read(buffer)).await,
            Stream::Watched(watched) => {
                at_a_glance(poll_fn(|context| watched.poll_read(context, buffer))).await
            }
            Stream::Lost => Err(ErrorKind::NotConnected.into()),
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.stream()? {
            Stream::Tokio(stream, _) => at_a_glance(stream.write(bytes)).await,
            Stream::Watched(watched) => {
                at_a_glance(poll_fn(|context| watched.poll_write(context, bytes))).await
            }
            Stream::Lost => Err(ErrorKind::NotConnected.into()),
        }
    }

    fn is_dead(&mut self) -> bool {
        let Some(socket) = self.socket() else { return true };
        // Tokio has made the socket non-blocking.
        ends(socket.peek(&mut [MaybeUninit::uninit()]))
    }

    fn shut_down(&mut self) {
        // Dropping the stream would close it too, but later.
        if let Some(socket) = self.socket() {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    async fn pause(time: Duration) {
        sleep(time).await;
    }

    async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
        spawn_blocking(work).await.map_err(io::Error::other)
    }
}
