//! A client, the target, and the bytes in transit between them.

use crate::line::Line;
use crate::link::Link;
use crate::queue::{Parcel, Queue};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Two sockets and a queue for each direction.
#[derive(Debug)]
pub(crate) struct Connection {
    client: TcpStream,
    target: TcpStream,
    up: Queue,
    down: Queue,
    handshake: Handshake,
}

/// The round trip of TCP's handshake, which begins with the first bytes to send: before that, its delay has no effect.
#[derive(Debug)]
struct Handshake {
    round_trip: Duration,
    /// Set once it has begun.
    end: OnceLock<Instant>,
}

/// The state that all connections share, for one direction.
#[derive(Debug)]
pub(crate) struct Direction {
    pub(crate) line: Line,
    /// Bytes so far.
    pub(crate) delivered: AtomicU64,
}

impl Connection {
    pub(crate) fn new(client: TcpStream, target: TcpStream, link: &Link) -> io::Result<Self> {
        for socket in [&client, &target] {
            socket.set_nodelay(true)?; // the kernel must not delay bytes that are due
        }
        let [up, down] = [(); 2].map(|()| Queue::new(link.buffer));
        let handshake = Handshake { round_trip: link.round_trip, end: OnceLock::new() };
        Ok(Self { client, target, up, down, handshake })
    }

    /// Forwards bytes until both directions have ended.
    ///
    /// # Errors
    /// The system could not start the threads.
    pub(crate) fn run(&self, up: &Direction, down: &Direction) -> io::Result<()> {
        thread::scope(|scope| {
            let named = |name: &str| thread::Builder::new().name(name.to_owned());
            let readers = named("wan-read-up")
                .spawn_scoped(scope, || self.read(&self.client, &up.line, &self.up))
                .and_then(|_| {
                    named("wan-read-down")
                        .spawn_scoped(scope, || self.read(&self.target, &down.line, &self.down))
                })
                .and_then(|_| {
                    named("wan-write-up").spawn_scoped(scope, || self.write(&self.up, &self.target, up))
                });
            match readers {
                Ok(_) => self.write(&self.down, &self.client, down),
                Err(_) => self.close(),
            }
            readers.map(drop)
        })
    }

    /// Ends all threads.
    pub(crate) fn close(&self) {
        for socket in [&self.client, &self.target] {
            // Fails if the peer has already disconnected, which is just as good.
            let _ = socket.shutdown(Shutdown::Both);
        }
        self.up.close();
        self.down.close();
    }

    /// Delivers bytes until the end of the stream, which it forwards, or until an error, which ends the connection.
    fn write(&self, queue: &Queue, mut to: &TcpStream, direction: &Direction) {
        while let Some(parcel) = queue.pop() {
            let delivered = match &parcel {
                Parcel::Bytes(bytes) => to.write_all(bytes),
                // The reading thread notices a receiver that has already disconnected.
                Parcel::End => return drop(to.shutdown(Shutdown::Write)),
                Parcel::Lost => Err(ErrorKind::ConnectionReset.into()),
            };
            if delivered.is_err() {
                return self.close();
            }
            direction.delivered.fetch_add(parcel.size() as u64, Ordering::Relaxed);
        }
    }

    /// Puts the sender's bytes on the line while there is room.
    fn read(&self, mut from: &TcpStream, line: &Line, queue: &Queue) {
        let mut buffer = vec![0; line.chunk()];
        while queue.has_room() {
            let parcel = match from.read(&mut buffer) {
                Ok(0) => Parcel::End,
                Ok(length) => Parcel::Bytes(buffer[..length].to_vec()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => Parcel::Lost,
            };
            if !self.handshake.wait(queue) {
                break;
            }
            let last = !matches!(parcel, Parcel::Bytes(_));
            queue.push(line.send(parcel.size()), parcel);
            if last {
                break;
            }
        }
    }
}

impl Handshake {
    /// Waits for the end of the handshake; false if the queue was closed before that.
    fn wait(&self, queue: &Queue) -> bool {
        let end = *self.end.get_or_init(|| Instant::now() + self.round_trip);
        queue.wait_until(end)
    }
}
