//! The asynchronous link.

use super::{GLANCE, Link, ends, of_family, prepare};
use crate::config::AddressFamily;
use socket2::SockRef;
use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::net::{Shutdown, SocketAddr};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};
use tokio::runtime::{Handle, Id};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout, timeout_at};

/// A TCP connection driven by the current Tokio runtime.
#[derive(Debug)]
pub(crate) struct TokioLink {
    /// `None` if moving it to another runtime failed.
    stream: Option<TcpStream>,
    runtime: Id,
}

impl TokioLink {
    /// Returns the stream, registered with the current runtime: the runtime that opened it may be gone, or not running.
    fn stream(&mut self) -> io::Result<&mut TcpStream> {
        let here = Handle::try_current().map_err(io::Error::other)?.id();
        if here != self.runtime {
            if let Some(stream) = self.stream.take() {
                self.stream = Some(TcpStream::from_std(stream.into_std()?)?);
            }
            self.runtime = here;
        }
        self.stream.as_mut().ok_or_else(|| ErrorKind::NotConnected.into())
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
                    return Ok(Self { stream: Some(stream), runtime });
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn peer(&self) -> Option<SocketAddr> {
        self.stream.as_ref().and_then(|stream| stream.peer_addr().ok())
    }

    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        at_a_glance(self.stream()?.read(buffer)).await
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        at_a_glance(self.stream()?.write(bytes)).await
    }

    fn is_dead(&mut self) -> bool {
        let Some(stream) = &self.stream else { return true };
        // Tokio has made the socket non-blocking.
        ends(SockRef::from(stream).peek(&mut [MaybeUninit::uninit()]))
    }

    fn shut_down(&mut self) {
        // Dropping the stream would close it too, but later.
        if let Some(stream) = &self.stream {
            let _ = SockRef::from(stream).shutdown(Shutdown::Both);
        }
    }

    async fn pause(time: Duration) {
        sleep(time).await;
    }

    async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
        spawn_blocking(work).await.map_err(io::Error::other)
    }
}
