//! The blocking link.

use super::gathering::Gathering;
use super::resolve::resolve;
use super::{Link, ends, of_family, prepare, waiting};
use crate::config::AddressFamily;
use socket2::SockRef;
use std::io::{self, ErrorKind};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// A blocking TCP connection.
#[derive(Debug)]
pub(crate) struct TcpLink {
    stream: TcpStream,
    gathering: Gathering,
}

impl TcpLink {
    /// Returns the bare socket, without time limits.
    pub(crate) fn into_stream(self) -> io::Result<TcpStream> {
        waiting::block(&self.stream)?;
        Ok(self.stream)
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
                    waiting::end_after_a_glance(&stream)?;
                    return Ok(Self { stream, gathering: Gathering::new() });
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
        let bytes = waiting::read(&self.stream, buffer)?;
        self.gathering.found(bytes, bytes == buffer.len());
        Ok(bytes)
    }

    fn let_gather(&mut self, begins: bool) {
        if begins {
            self.gathering.begin();
        }
        if let Some(pause) = self.gathering.pause(Instant::now()) {
            thread::sleep(pause);
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        waiting::write(&self.stream, bytes)
    }

    fn is_dead(&mut self) -> bool {
        ends(waiting::peek(&self.stream))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::link::GLANCE;
    use crate::session::ready;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// Returns a link and its peer.
    fn pair() -> (TcpLink, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("it is bound").port();
        let deadline = Instant::now() + Duration::from_secs(10);
        let link =
            ready(TcpLink::connect("127.0.0.1", port, AddressFamily::Any, deadline)).expect("it listens");
        (link, listener.accept().expect("it has come").0)
    }

    /// Bytes that arrive just when a read stops waiting are there for the next one.
    #[test]
    fn no_byte_is_lost_at_the_end_of_a_glance() {
        const BYTES: u8 = 20;
        thread::scope(|scope| {
            for number in 0..64_u32 {
                scope.spawn(move || {
                    let (mut link, mut peer) = pair();
                    let pause = GLANCE - Duration::from_millis(2) + Duration::from_micros(60) * number;
                    let sender = thread::spawn(move || {
                        for byte in 0..BYTES {
                            thread::sleep(pause);
                            peer.write_all(&[byte]).expect("it is read");
                        }
                    });
                    let mut received = Vec::new();
                    loop {
                        let mut buffer = [0; 8];
                        match ready(link.read(&mut buffer)) {
                            Ok(0) => break,
                            Ok(count) => received.extend_from_slice(&buffer[..count]),
                            Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}"),
                        }
                    }
                    sender.join().expect("it has sent all");
                    assert_eq!(received, (0..BYTES).collect::<Vec<u8>>(), "{pause:?}");
                });
            }
        });
    }

    #[test]
    fn a_glance_ends_reads_and_writes() {
        let (mut link, mut peer) = pair();
        let begin = Instant::now();
        assert_eq!(ready(link.read(&mut [0])).expect_err("silence").kind(), ErrorKind::Interrupted);
        assert!(begin.elapsed() > GLANCE / 2, "it has waited {:?}", begin.elapsed());
        let piece = vec![7; 1 << 20];
        let mut sent = 0;
        let error = loop {
            match ready(link.write(&piece)) {
                Ok(count) => sent += count,
                Err(error) => break error,
            }
            assert!(sent < 1 << 30, "nobody reads");
        };
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        // What was not sent is not counted as sent.
        let reader = thread::spawn(move || {
            let mut all = Vec::new();
            peer.read_to_end(&mut all).map(|_| all.len())
        });
        link.stream.shutdown(Shutdown::Write).expect("it is open");
        assert_eq!(reader.join().expect("no panic").expect("it is read"), sent);
    }

    #[test]
    fn whether_the_peer_has_gone_is_seen_without_waiting() {
        let (mut link, mut peer) = pair();
        assert!(!link.is_dead());
        peer.write_all(&[42]).expect("it is open");
        drop(peer);
        let end = Instant::now() + Duration::from_secs(10);
        let mut buffer = [0; 2];
        while ready(link.read(&mut buffer)).is_err() && Instant::now() < end {}
        assert_eq!(buffer[0], 42);
        while !link.is_dead() && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(link.is_dead());
    }
}
