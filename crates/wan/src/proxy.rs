//! The proxy: accepts clients and connects each of them to the target.

use crate::connection::{Connection, Direction};
use crate::line::Line;
use crate::link::Link;
use crate::problem::Problem;
use crate::timer;
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A running proxy. Dropping it closes its connections and joins its threads. It waits only for a thread that is
/// connecting to the target, for five seconds at most.
pub struct WanProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<Vec<JoinHandle<()>>>>,
}

/// The traffic of a proxy so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Connections to the target.
    pub connections: u64,
    /// Bytes delivered to the target.
    pub up: u64,
    /// Bytes delivered to clients.
    pub down: u64,
}

impl WanProxy {
    /// Listens on an address (port 0 for any free one) and connects each client to `target` (a host and a port,
    /// `db.example:3050`) through a link. Resolves the host's name here, once.
    ///
    /// # Errors
    /// The link is impossible, the host is unknown, or the proxy cannot listen on the address.
    pub fn start(listen: SocketAddr, target: impl Into<String>, link: Link) -> io::Result<Self> {
        Self::start_with(listen, target, link, |_| {})
    }

    /// Does the same, and calls `report` for each client that could not be served, from the thread that noticed.
    ///
    /// # Errors
    /// As for the method without `report`.
    pub fn start_with(
        listen: SocketAddr,
        target: impl Into<String>,
        link: Link,
        report: impl Fn(&Problem) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        link.check()?;
        let target = target.into();
        let addresses = resolve(&target)?;
        let listener = TcpListener::bind(listen).map_err(|error| about(&listen, &error))?;
        let address = listener.local_addr()?;
        let direction = || Direction { line: Line::new(&link), delivered: AtomicU64::new(0) };
        let shared = Arc::new(Shared {
            target,
            addresses,
            link,
            up: direction(),
            down: direction(),
            connections: AtomicU64::new(0),
            open: Mutex::default(),
            report: Box::new(report),
        });
        let acceptor = thread::Builder::new().name("wan-accept".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        })?;
        Ok(Self { address, shared, acceptor: Some(acceptor) })
    }

    /// The address on which the proxy listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The traffic so far.
    pub fn totals(&self) -> Totals {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Totals {
            connections: count(&self.shared.connections),
            up: count(&self.shared.up.delivered),
            down: count(&self.shared.down.delivered),
        }
    }
}

impl fmt::Debug for WanProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WanProxy").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for WanProxy {
    fn drop(&mut self) {
        self.shared.stop();
        let Some(acceptor) = self.acceptor.take() else { return };
        // The thread waits in accept(); a connection wakes it. Connecting may fail if sockets are scarce, but they are
        // being closed.
        let deadline = Instant::now() + WAKE_LIMIT;
        while !acceptor.is_finished() && Instant::now() < deadline {
            let _ = TcpStream::connect_timeout(&reachable(self.address), WAKE_LIMIT);
            thread::sleep(WAKE_PAUSE);
        }
        if acceptor.is_finished() {
            join(acceptor.join().unwrap_or_default());
        }
    }
}

/// The state that the threads of a proxy share.
struct Shared {
    target: String,
    addresses: Vec<SocketAddr>,
    link: Link,
    up: Direction,
    down: Direction,
    connections: AtomicU64,
    open: Mutex<Open>,
    report: Box<dyn Fn(&Problem) + Send + Sync>,
}

/// The connections to close when the proxy stops.
#[derive(Default)]
struct Open {
    stopped: bool,
    connections: Vec<Weak<Connection>>,
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        let mut open = self.open();
        open.stopped = true;
        open.connections.iter().filter_map(Weak::upgrade).for_each(|connection| connection.close());
    }

    fn is_stopped(&self) -> bool {
        self.open().stopped
    }

    /// Serves a client until its connection ends.
    fn serve(&self, client: TcpStream) {
        // A client whose target cannot be reached only sees its connection closed.
        let target = match self.connect() {
            Ok(target) => target,
            Err(error) => return (self.report)(&Problem::Target { target: self.target.clone(), error }),
        };
        let served = Connection::new(client, target, &self.link).map(Arc::new).and_then(|connection| {
            let registered = self.register(&connection);
            if registered { connection.run(&self.up, &self.down) } else { Ok(()) }
        });
        if let Err(error) = served {
            (self.report)(&Problem::Resources(error));
        }
    }

    /// Divides the time among the addresses of the target.
    fn connect(&self) -> io::Result<TcpStream> {
        let share = CONNECT_LIMIT / u32::try_from(self.addresses.len()).unwrap_or(u32::MAX).max(1);
        let mut result = Err(ErrorKind::AddrNotAvailable.into());
        for address in &self.addresses {
            result = TcpStream::connect_timeout(address, share);
            if result.is_ok() {
                break;
            }
        }
        result
    }

    /// False if the proxy has been stopped, which would miss this connection.
    fn register(&self, connection: &Arc<Connection>) -> bool {
        let mut open = self.open();
        if !open.stopped {
            open.connections.retain(|connection| connection.strong_count() > 0);
            open.connections.push(Arc::downgrade(connection));
            self.connections.fetch_add(1, Ordering::Relaxed);
        }
        !open.stopped
    }
}

/// Starts a thread for each client, and returns those that may still be running.
fn accept(listener: &TcpListener, shared: &Arc<Shared>) -> Vec<JoinHandle<()>> {
    timer::make_punctual();
    let mut threads = Vec::new();
    for client in listener.incoming() {
        if shared.is_stopped() {
            break;
        }
        let (finished, running) = threads.into_iter().partition(JoinHandle::is_finished);
        threads = running;
        join(finished);
        match client {
            Ok(client) => {
                let shared_too = Arc::clone(shared);
                let thread = thread::Builder::new().name("wan-write-down".to_owned());
                match thread.spawn(move || shared_too.serve(client)) {
                    Ok(thread) => threads.push(thread),
                    Err(error) => (shared.report)(&Problem::Resources(error)),
                }
            }
            Err(error) => {
                (shared.report)(&Problem::Accept(error));
                // Sockets may be scarce; an immediate retry would fail immediately.
                thread::sleep(ACCEPT_PAUSE);
            }
        }
    }
    threads
}

/// A thread that panicked has already reported it.
fn join(threads: Vec<JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| drop(thread.join()));
}

fn resolve(target: &str) -> io::Result<Vec<SocketAddr>> {
    let addresses: Vec<SocketAddr> =
        target.to_socket_addrs().map_err(|error| about(&target, &error))?.collect();
    match addresses.is_empty() {
        true => Err(about(&target, &ErrorKind::AddrNotAvailable.into())),
        false => Ok(addresses),
    }
}

fn about(what: &dyn fmt::Display, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// Returns an address to connect to, for a listening address that may be a wildcard.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}

const CONNECT_LIMIT: Duration = Duration::from_secs(5);
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
const WAKE_LIMIT: Duration = Duration::from_secs(1);
const WAKE_PAUSE: Duration = Duration::from_millis(1);
