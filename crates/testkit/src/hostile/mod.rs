//! A server that lies: it plays a handshake, then answers each request as a test says.
//!
//! ```no_run
//! use firearrow_proto::wire::Op;
//! use firearrow_testkit::hostile::{Column, Hostile, packet};
//!
//! // A statement with one BLOB column, and a BLOB that never ends.
//! let server = Hostile::start(13, |request, peer| match request.op {
//!     Op::PREPARE_STATEMENT => {
//!         let columns = [Column::blob("NOTE")];
//!         peer.says(&packet::response(0, &packet::description(&columns, &[])))
//!     }
//!     Op::GET_SEGMENT => peer.says(&packet::response(0, &packet::segment(&[b'x'; 60_000]))),
//!     _ => peer.behaves(request),
//! })
//! .expect("a free port");
//! let url = server.url();
//! ```
//!
//! What the script leaves to [`Peer::behaves`] is answered as an empty database would. The handshake is that of an Srp256
//! login, without encryption and compression; it stands in [`Peer::behaves`] alone.

pub mod packet;
mod request;

pub use packet::Column;
pub use request::Request;

use firearrow_proto::wire::Op;
use firearrow_proto::wire::error::DecodeError;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// What a test answers to a request. An error ends the connection.
pub type Script = dyn Fn(&Request, &mut Peer) -> io::Result<()> + Send + Sync;

/// A running server. Dropping it closes its connections.
pub struct Hostile {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    sent: AtomicU64,
    requests: AtomicU64,
    stopped: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

impl Hostile {
    /// Listens on a free port of the loopback interface. Whoever connects gets `protocol`, and the script's answers.
    ///
    /// # Errors
    /// No port could be opened.
    pub fn start<F>(protocol: u16, script: F) -> io::Result<Self>
    where
        F: Fn(&Request, &mut Peer) -> io::Result<()> + Send + Sync + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let script: Arc<Script> = Arc::new(script);
        let state = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if state.stopped.load(Ordering::Relaxed) {
                    return;
                }
                if let (Ok(()), Ok(copy)) = (stream.set_nodelay(true), stream.try_clone()) {
                    state.open.lock().unwrap_or_else(PoisonError::into_inner).push(copy);
                    let mut peer = Peer::new(stream, protocol, Arc::clone(&state));
                    let script = Arc::clone(&script);
                    thread::spawn(move || peer.serve(&*script));
                }
            }
        });
        Ok(Self { address, shared })
    }

    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A connection string.
    pub fn url(&self) -> String {
        format!("firebird://SYSDBA:masterkey@{}/hostile.fdb", self.address)
    }

    /// Bytes that all clients have taken, or that wait for them in buffers of the operating system.
    pub fn sent(&self) -> u64 {
        self.shared.sent.load(Ordering::Relaxed)
    }

    /// Requests that have been read.
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        for stream in self.shared.open.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        // Wakes the thread that accepts.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
    }
}

impl fmt::Debug for Hostile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hostile").field("address", &self.address).finish_non_exhaustive()
    }
}

/// The server's end of one connection.
pub struct Peer {
    stream: TcpStream,
    protocol: u16,
    heard: Vec<u8>,
    shared: Arc<Shared>,
    /// Bytes that may still be sent.
    left: u64,
    last_handle: u16,
    last_transaction: u16,
    is_attached: bool,
}

/// No attack sends more than this: a client that takes all of it has failed its test.
const MOST_BYTES: u64 = 512 << 20;

impl Peer {
    fn new(stream: TcpStream, protocol: u16, shared: Arc<Shared>) -> Self {
        Self {
            stream,
            protocol,
            heard: Vec::new(),
            shared,
            left: MOST_BYTES,
            last_handle: 0,
            last_transaction: 0,
            is_attached: false,
        }
    }

    /// Serves until the client or the script ends the connection.
    fn serve(&mut self, script: &Script) {
        while let Ok(Some(request)) = self.hear() {
            self.shared.requests.fetch_add(1, Ordering::Relaxed);
            let done = if self.is_attached { script(&request, self) } else { self.behaves(&request) };
            if done.is_err() {
                break;
            }
        }
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// The next request; `None` when the client has closed the connection.
    fn hear(&mut self) -> io::Result<Option<Request>> {
        loop {
            match Request::decode(&self.heard, self.protocol) {
                Ok((request, length)) => {
                    self.heard.drain(..length);
                    return Ok(Some(request));
                }
                Err(DecodeError::Incomplete) => {}
                Err(DecodeError::Invalid(error)) => return Err(io::Error::other(error.to_string())),
            }
            let mut bytes = [0; 16 << 10];
            match self.stream.read(&mut bytes)? {
                0 => return Ok(None),
                count => self.heard.extend_from_slice(&bytes[..count]),
            }
        }
    }

    /// Sends packets.
    ///
    /// # Errors
    /// The client has hung up, or has taken more than any client should.
    pub fn says(&mut self, packets: &[u8]) -> io::Result<()> {
        let left = self.left.checked_sub(packets.len() as u64);
        self.left = left.ok_or_else(|| io::Error::other("the client takes everything"))?;
        self.stream.write_all(packets)?;
        self.shared.sent.fetch_add(packets.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Sends the same packets until the client hangs up.
    ///
    /// # Errors
    /// Always: that is how it ends.
    pub fn floods(&mut self, packets: &[u8]) -> io::Result<()> {
        let many = packets.repeat((64 << 10) / packets.len().max(1) + 1);
        loop {
            self.says(&many)?;
        }
    }

    /// The handle of the transaction that was started last.
    pub fn transaction(&self) -> u16 {
        self.last_transaction
    }

    /// The handle that was given last.
    pub fn last_handle(&self) -> u16 {
        self.last_handle
    }

    /// A new handle.
    pub fn handle(&mut self) -> u16 {
        // 0 is the database, 0xffff the object created last.
        self.last_handle = self.last_handle % 0xfffe + 1;
        self.last_handle
    }

    /// Answers as a server without any rows: all statements select one INTEGER named N.
    ///
    /// # Errors
    /// The client has hung up, or wants to.
    pub fn behaves(&mut self, request: &Request) -> io::Result<()> {
        let answer = match request.op {
            Op::CONNECT => packet::cond_accept(self.protocol),
            // Whatever proof it brought.
            Op::CONT_AUTH => packet::response(0, &[]),
            Op::ATTACH | Op::CREATE => {
                self.is_attached = true;
                packet::response(0, &[])
            }
            Op::TRANSACTION => {
                self.last_transaction = self.handle();
                packet::response(self.last_transaction, &[])
            }
            Op::ALLOCATE_STATEMENT | Op::OPEN_BLOB2 | Op::CREATE_BLOB2 => {
                packet::response(self.handle(), &[])
            }
            Op::PREPARE_STATEMENT => packet::response(0, &packet::description(&[Column::integer("N")], &[])),
            Op::EXECUTE | Op::EXEC_IMMEDIATE => packet::response(self.last_transaction, &[]),
            Op::EXECUTE2 => [packet::no_row(), packet::response(self.last_transaction, &[])].concat(),
            Op::FETCH | Op::FETCH_SCROLL => packet::fetch_end(true),
            Op::GET_SEGMENT => packet::response(packet::BLOB_END, &[]),
            Op::INFO_DATABASE | Op::INFO_TRANSACTION | Op::INFO_SQL | Op::INFO_BLOB => {
                packet::response(0, &[packet::INFO_END])
            }
            Op::DISCONNECT => return Err(io::ErrorKind::ConnectionAborted.into()),
            Op::DUMMY | Op::CANCEL => Vec::new(),
            _ => packet::response(0, &[]),
        };
        self.says(&answer)
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer").field("protocol", &self.protocol).finish_non_exhaustive()
    }
}
