//! The asynchronous link.

use super::{GLANCE, Link};
use std::io::{self, ErrorKind};
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A TCP connection that waits in the runtime.
#[derive(Debug)]
pub(crate) struct TokioLink {
    stream: TcpStream,
}

impl TokioLink {
    /// Connects before `deadline`.
    pub(crate) async fn connect(host: &str, port: u16, deadline: Instant) -> io::Result<Self> {
        let connecting = TcpStream::connect((host, port));
        let stream = tokio::time::timeout_at(deadline.into(), connecting).await??;
        stream.set_nodelay(true)?;
        Ok(Self { stream })
    }
}

/// Waits for `work`, but not for long. A read or write that is given up has moved nothing.
async fn at_a_glance(work: impl Future<Output = io::Result<usize>>) -> io::Result<usize> {
    tokio::time::timeout(GLANCE, work).await.unwrap_or_else(|_| Err(ErrorKind::Interrupted.into()))
}

impl Link for TokioLink {
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        at_a_glance(self.stream.read(buffer)).await
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        at_a_glance(self.stream.write(bytes)).await
    }

    fn shut_down(&mut self) {
        // Dropping the stream would do the same, only later.
        let _ = socket2::SockRef::from(&self.stream).shutdown(std::net::Shutdown::Both);
    }
}
