//! The asynchronous link.

use super::{Link, Patience};
use std::io::{self, ErrorKind};
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A TCP connection that waits in the runtime.
#[derive(Debug)]
pub(crate) struct TokioLink {
    stream: TcpStream,
    patience: Patience,
}

impl TokioLink {
    /// Connects before `deadline`.
    pub(crate) async fn connect(host: &str, port: u16, deadline: Instant) -> io::Result<Self> {
        let connecting = TcpStream::connect((host, port));
        let stream = tokio::time::timeout_at(deadline.into(), connecting).await??;
        stream.set_nodelay(true)?;
        Ok(Self { stream, patience: Patience::Each(None) })
    }

    fn deadline(&self) -> Option<tokio::time::Instant> {
        match self.patience {
            Patience::Until(deadline) => Some(deadline.into()),
            Patience::Each(limit) => limit.map(|limit| tokio::time::Instant::now() + limit),
        }
    }
}

/// Waits for `work`, but not beyond `deadline`.
async fn within<T>(
    deadline: Option<tokio::time::Instant>,
    work: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    match deadline {
        None => work.await,
        Some(deadline) => {
            tokio::time::timeout_at(deadline, work).await.map_err(|_| io::Error::from(ErrorKind::TimedOut))?
        }
    }
}

impl Link for TokioLink {
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        within(self.deadline(), self.stream.read(buffer)).await
    }

    async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        within(self.deadline(), self.stream.write_all(bytes)).await
    }

    fn shut_down(&mut self) {
        // Dropping the stream would do the same, only later.
        let _ = socket2::SockRef::from(&self.stream).shutdown(std::net::Shutdown::Both);
    }

    fn set_patience(&mut self, patience: Patience) {
        self.patience = patience;
    }
}
