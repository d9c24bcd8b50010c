//! A server that is played by a test: it answers each request as the test says, truthfully or not.
//!
//! ```no_run
//! use firearrow_proto::wire::Op;
//! use firearrow_testkit::scripted::{Column, ScriptedServer, packet};
//!
//! // A statement with one BLOB column, and a BLOB that never ends.
//! let server = ScriptedServer::start(13, |request, peer| match request.op {
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
//! Whatever the script leaves to [`Peer::behaves`] is answered as an empty database would answer it. That includes the
//! handshake: an Srp256 login without encryption and compression. A script that is given to [`ScriptedServer::start`]
//! takes over after the attach, one that is given to [`ScriptedServer::start_with_handshake`] from the first request.

pub mod packet;
mod peer;
mod request;

pub use packet::Column;
pub use peer::Peer;
pub use request::Request;

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What a test answers to a request. An error ends the connection.
pub type Script = dyn Fn(&Request, &mut Peer) -> io::Result<()> + Send + Sync;

/// A running server. Dropping it closes its connections.
pub struct ScriptedServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// What all connections have in common.
#[derive(Default)]
struct Shared {
    sent: AtomicU64,
    requests: AtomicU64,
    stopped: AtomicBool,
    heard: Mutex<Vec<u8>>,
    open: Mutex<Vec<(TcpStream, JoinHandle<()>)>>,
}

impl ScriptedServer {
    /// Listens on a free port of the loopback interface. Every client gets `protocol` and is attached to a database;
    /// `script` answers what it asks from then on.
    ///
    /// # Errors
    /// No port could be opened.
    pub fn start<F>(protocol: u16, script: F) -> io::Result<Self>
    where
        F: Fn(&Request, &mut Peer) -> io::Result<()> + Send + Sync + 'static,
    {
        Self::start_with_handshake(protocol, move |request, peer| {
            if peer.is_attached() { script(request, peer) } else { peer.behaves(request) }
        })
    }

    /// Listens as [`start`](Self::start) does, but `script` answers the handshake too.
    ///
    /// # Errors
    /// No port could be opened.
    pub fn start_with_handshake<F>(protocol: u16, script: F) -> io::Result<Self>
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
                if let (Ok(mut peer), Ok(copy)) =
                    (Peer::new(&stream, protocol, Arc::clone(&state)), stream.try_clone())
                {
                    let script = Arc::clone(&script);
                    // Locked before the client gets an answer: `heard` must find the thread.
                    let mut open = state.open.lock().unwrap_or_else(PoisonError::into_inner);
                    open.push((copy, thread::spawn(move || peer.serve(&*script))));
                }
            }
        });
        Ok(Self { address, shared })
    }

    /// Listens as [`start_with_handshake`](Self::start_with_handshake) does. The requests of each client get these answers,
    /// in order, whatever they ask; then the connection is closed.
    ///
    /// # Errors
    /// No port could be opened.
    pub fn answering(protocol: u16, answers: Vec<Vec<u8>>) -> io::Result<Self> {
        Self::start_with_handshake(protocol, move |_, peer| match answers.get(peer.requests() - 1) {
            Some(answer) => peer.says(answer),
            None => Err(io::ErrorKind::ConnectionAborted.into()),
        })
    }

    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A connection string.
    pub fn url(&self) -> String {
        format!("firebird://SYSDBA:masterkey@{}/scripted.fdb", self.address)
    }

    /// How many bytes all clients have taken, or find in buffers of the operating system.
    pub fn sent(&self) -> u64 {
        self.shared.sent.load(Ordering::Relaxed)
    }

    /// How many requests have been read.
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// All bytes that clients have sent. Waits until the clients of all connections have closed them.
    pub fn heard(self) -> Vec<u8> {
        let open = std::mem::take(&mut *self.shared.open.lock().unwrap_or_else(PoisonError::into_inner));
        for (_, thread) in open {
            let _ = thread.join();
        }
        std::mem::take(&mut *self.shared.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        for (stream, _) in self.shared.open.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        // Wakes the thread that accepts.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
    }
}

impl fmt::Debug for ScriptedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedServer").field("address", &self.address).finish_non_exhaustive()
    }
}
