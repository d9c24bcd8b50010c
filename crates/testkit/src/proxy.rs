//! A TCP proxy that misbehaves on request.
//!
//! ```text
//!   client ──► accept ──► [read]──queue──►[deliver] ──► server
//!              client ◄── [deliver]◄──queue──[read] ◄── server
//! ```
//!
//! Two threads per direction, so that a delay is a delay and not a limit of throughput: one reads and notes the time,
//! the other waits until that time plus the delay and passes the bytes on in the way that was asked for.

use crate::mischief::Mischief;
use crate::mutation::{Mutation, Mutator};
use crate::system;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What a [`Proxy`] does to each connection, by direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Behaviour {
    /// Bytes on their way to the server.
    pub from_client: Flow,
    /// Bytes on their way to the client.
    pub from_server: Flow,
}

/// What happens to the bytes of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flow {
    /// Passes each write on in pieces of one up to this many bytes. The sizes look random, but are the same each time.
    /// Each piece takes about 0.1 ms, so choose larger ones for megabytes.
    pub split: Option<usize>,
    /// Delivers each byte after this delay.
    pub delay: Duration,
    /// What happens after this many bytes of a connection.
    pub limit: Option<(u64, Limit)>,
    /// Damages the bytes before anything else happens to them.
    pub mutation: Option<Mutation>,
}

/// What happens to a direction after its last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Both sides of the connection are closed.
    Cut,
    /// The direction falls silent, but stays open as long as the proxy lives.
    Stall,
    /// Nothing but `op_dummy` follows, one every few milliseconds. A real server sends it to show that it is alive.
    Dummies,
}

/// Where bytes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Side {
    /// Requests.
    Client = 1,
    /// Answers.
    Server = 2,
}

impl Behaviour {
    /// Passes everything on.
    pub fn pass() -> Self {
        Self::default()
    }

    /// Damages what the server sends. `seed` decides how.
    pub fn mutate_from_server(seed: u64) -> Self {
        let mutation = Some(Mutation { seed });
        Self { from_server: Flow { mutation, ..Flow::default() }, ..Self::default() }
    }

    /// Splits the writes of both sides into pieces of 1 to `most` bytes.
    pub fn split(most: usize) -> Self {
        Self::both(Flow { split: Some(most), ..Flow::default() })
    }

    /// Delays everything: a round trip takes twice `delay`.
    pub fn delay(delay: Duration) -> Self {
        Self::both(Flow { delay, ..Flow::default() })
    }

    /// Closes the connection when `bytes` have come from the server.
    pub fn cut_from_server(bytes: u64) -> Self {
        Self { from_server: Flow::limited(bytes, Limit::Cut), ..Self::default() }
    }

    /// Closes the connection when `bytes` have come from the client.
    pub fn cut_from_client(bytes: u64) -> Self {
        Self { from_client: Flow::limited(bytes, Limit::Cut), ..Self::default() }
    }

    /// The server seems to fall silent after `bytes`.
    pub fn stall_from_server(bytes: u64) -> Self {
        Self { from_server: Flow::limited(bytes, Limit::Stall), ..Self::default() }
    }

    /// The client seems to fall silent after `bytes`.
    pub fn stall_from_client(bytes: u64) -> Self {
        Self { from_client: Flow::limited(bytes, Limit::Stall), ..Self::default() }
    }

    fn both(flow: Flow) -> Self {
        Self { from_client: flow, from_server: flow }
    }
}

impl Flow {
    fn limited(bytes: u64, limit: Limit) -> Self {
        Self { limit: Some((bytes, limit)), ..Self::default() }
    }
}

/// A running proxy. Dropping it closes its connections and joins its threads.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Listens on a free port and connects to `server` once for each client.
    ///
    /// # Errors
    /// No port could be opened.
    pub fn start(server: SocketAddr, behaviour: Behaviour) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let acceptor = thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, server, behaviour, &shared)
        });
        Ok(Self { address, shared, acceptor: Some(acceptor) })
    }

    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where clients connect.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// How many connections the proxy has accepted.
    pub fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Closes all open connections. The proxy keeps accepting new ones.
    pub fn cut(&self) {
        self.shared.open().iter().filter_map(Weak::upgrade).for_each(|socket| close(&socket));
    }

    /// Discards the next bytes that `of` sends and closes their connection. Later connections are not affected.
    pub fn lose_next(&self, of: Side) {
        self.shared.lose.store(of as u8, Ordering::SeqCst);
    }

    /// [`lose_next`](Self::lose_next) answer after the next write of a client that ends with a packet of this operation
    /// and one more word, on a connection without encryption.
    pub fn lose_answer_to(&self, operation: u32) {
        self.shared.lose_after.store(operation, Ordering::SeqCst);
    }

    /// Delivers what servers send from now on in this way, on all connections. On a connection that is idle it starts
    /// with a whole packet.
    pub fn turn_to(&self, mischief: Mischief) {
        *self.shared.mischief.lock().unwrap_or_else(PoisonError::into_inner) = Some(mischief);
    }

    /// Describes what mutations have changed so far, on all connections.
    pub fn edits(&self) -> Vec<String> {
        self.shared.edits.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many bytes were delivered to the server.
    pub fn bytes_from_client(&self) -> u64 {
        self.shared.from_client.load(Ordering::Relaxed)
    }

    /// How often bytes for a client followed bytes for the server, on all connections: its round trips, if there is one
    /// connection.
    pub fn round_trips(&self) -> u64 {
        self.shared.round_trips.load(Ordering::SeqCst)
    }

    /// How many bytes were delivered to the client. A test that cuts a conversation at each byte first counts them.
    pub fn bytes_from_server(&self) -> u64 {
        self.shared.from_server.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.stop();
        // The acceptor waits in accept(); a connection wakes it. If that fails, it has nothing to do and may stay.
        if TcpStream::connect_timeout(&self.address, WAKE_LIMIT).is_ok() {
            let _ = self.acceptor.take().map(JoinHandle::join);
        }
    }
}

/// The state that the threads of a proxy share.
#[derive(Default)]
struct Shared {
    connections: AtomicU64,
    from_client: AtomicU64,
    from_server: AtomicU64,
    round_trips: AtomicU64,
    /// The [`Side`] that the last bytes came from; 0 before the first ones.
    last: AtomicU8,
    mischief: Mutex<Option<Mischief>>,
    stopped: AtomicBool,
    /// The [`Side`] whose next bytes get lost.
    lose: AtomicU8,
    /// The operation whose answer gets lost; 0 for none.
    lose_after: AtomicU32,
    /// Descriptions of what mutations have changed.
    edits: Mutex<Vec<String>>,
    /// Sockets to be closed when the proxy stops, which ends the threads that read from or write to them.
    open: Mutex<Vec<Weak<TcpStream>>>,
    /// Wakes threads that stall or wait out a delay.
    wake: Condvar,
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, Vec<Weak<TcpStream>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        let open = self.open();
        self.stopped.store(true, Ordering::Relaxed);
        open.iter().filter_map(Weak::upgrade).for_each(|socket| close(&socket));
        self.wake.notify_all();
    }

    fn mischief(&self) -> Option<Mischief> {
        self.mischief.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Sleeps until `moment`, or until the proxy stops.
    fn sleep_until(&self, moment: Instant) {
        let left = moment.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            let _ = self.wake.wait_timeout_while(self.open(), left, |_| !self.is_stopped());
        }
    }
}

/// One direction of one connection.
struct Direction {
    from: Arc<TcpStream>,
    to: Arc<TcpStream>,
    flow: Flow,
    side: Side,
    count: fn(&Shared) -> &AtomicU64,
    shared: Arc<Shared>,
}

/// A chunk, and when it is to be delivered.
type Chunk = (Instant, Vec<u8>);

fn accept(listener: &TcpListener, server: SocketAddr, behaviour: Behaviour, shared: &Arc<Shared>) {
    let mut pumps: Vec<JoinHandle<()>> = Vec::new();
    for client in listener.incoming() {
        if shared.is_stopped() {
            break;
        }
        // A client whose server cannot be reached sees its connection closed, which is the truth.
        if let Ok(directions) = client.and_then(|client| connect(client, server, behaviour, shared)) {
            shared.connections.fetch_add(1, Ordering::Relaxed);
            pumps.retain(|pump| !pump.is_finished());
            pumps.extend(directions.into_iter().map(|direction| thread::spawn(move || direction.run())));
        }
    }
    for pump in pumps {
        let _ = pump.join();
    }
}

fn connect(
    client: TcpStream,
    server: SocketAddr,
    behaviour: Behaviour,
    shared: &Arc<Shared>,
) -> io::Result<[Direction; 2]> {
    let server = TcpStream::connect_timeout(&server, CONNECT_LIMIT)?;
    let [client, server] = [client, server].map(Arc::new);
    for socket in [&client, &server] {
        socket.set_nodelay(true)?; // pieces must stay pieces
        socket.set_read_timeout(system::READ_LOOK)?;
        socket.set_write_timeout(system::WRITE_LIMIT)?;
    }
    let mut open = shared.open();
    if shared.is_stopped() {
        return Err(io::ErrorKind::Interrupted.into());
    }
    open.retain(|socket| socket.strong_count() > 0);
    open.extend([&client, &server].map(Arc::downgrade));
    Ok([
        Direction {
            from: Arc::clone(&client),
            to: Arc::clone(&server),
            flow: behaviour.from_client,
            side: Side::Client,
            count: |shared| &shared.from_client,
            shared: Arc::clone(shared),
        },
        Direction {
            from: server,
            to: client,
            flow: behaviour.from_server,
            side: Side::Server,
            count: |shared| &shared.from_server,
            shared: Arc::clone(shared),
        },
    ])
}

impl Direction {
    fn run(self) {
        let (sender, receiver) = mpsc::sync_channel(QUEUE);
        let (from, delay) = (Arc::clone(&self.from), self.flow.delay);
        let reader = thread::spawn(move || read(&from, delay, &sender));
        if self.deliver(receiver).is_err() {
            close(&self.from);
            close(&self.to);
        }
        let _ = reader.join();
    }

    /// Delivers until the end of the stream, which is passed on, or until a limit or an error ends the connection.
    fn deliver(&self, chunks: Receiver<Chunk>) -> io::Result<()> {
        let mut delivered = 0;
        let mut mutator = self.flow.mutation.map(Mutation::start);
        let mut sizes = Sizes { state: 0x9E37_79B9_7F4A_7C15, most: self.flow.split };
        for (due, mut chunk) in chunks {
            self.shared.sleep_until(due);
            let lose = &self.shared.lose;
            if lose.compare_exchange(self.side as u8, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                // Time for the server to get through what it has read: only its answers get lost.
                self.shared.sleep_until(Instant::now() + SWALLOW);
                return self.end(Limit::Cut);
            }
            self.await_operation(&chunk);
            let last = self.shared.last.swap(self.side as u8, Ordering::SeqCst);
            if self.side == Side::Server && last == Side::Client as u8 {
                self.shared.round_trips.fetch_add(1, Ordering::SeqCst);
            }
            if self.side == Side::Server
                && let Some(mischief) = self.shared.mischief()
            {
                self.play(&mischief, &chunk)?;
                continue;
            }
            let mut end = None;
            if let Some(mutator) = &mut mutator {
                (chunk, end) = self.damage(mutator, &chunk);
            }
            let (limit, then) = self.flow.limit.unwrap_or((u64::MAX, Limit::Cut));
            let allowed = usize::try_from(limit - delivered).unwrap_or(usize::MAX).min(chunk.len());
            chunk.truncate(allowed);
            let mut rest = chunk.as_slice();
            while !rest.is_empty() {
                let (piece, tail) = rest.split_at(sizes.next(rest.len()));
                (&*self.to).write_all(piece)?;
                delivered += piece.len() as u64;
                (self.count)(&self.shared).fetch_add(piece.len() as u64, Ordering::Relaxed);
                rest = tail;
                if !rest.is_empty() {
                    // Without a pause the kernel joins the pieces before the receiver has read the first.
                    thread::sleep(PAUSE);
                }
            }
            if let Some(end) = end.or((delivered == limit).then_some(then)) {
                return self.end(end);
            }
        }
        self.to.shutdown(Shutdown::Write)
    }

    fn await_operation(&self, chunk: &[u8]) {
        let wanted = self.shared.lose_after.load(Ordering::SeqCst);
        let last = chunk.len().checked_sub(8).and_then(|at| chunk[at..].first_chunk());
        if wanted != 0 && self.side == Side::Client && last == Some(&wanted.to_be_bytes()) {
            self.shared.lose_after.store(0, Ordering::SeqCst);
            self.shared.lose.store(Side::Server as u8, Ordering::SeqCst);
        }
    }

    /// Delivers `chunk` as `mischief` says, until the connection ends.
    fn play(&self, mischief: &Mischief, chunk: &[u8]) -> io::Result<()> {
        match mischief {
            Mischief::Silence => self.end(Limit::Stall),
            Mischief::Trickle(pause) => chunk.chunks(1).try_for_each(|byte| self.say(byte, *pause)),
            Mischief::Slow(bytes, pause) => {
                chunk.chunks(*bytes.max(&1)).try_for_each(|piece| self.say(piece, *pause))
            }
            Mischief::Repeat(bytes, pause) => {
                while !self.shared.is_stopped() {
                    self.say(bytes, *pause)?;
                }
                Ok(())
            }
        }
    }

    fn say(&self, bytes: &[u8], pause: Duration) -> io::Result<()> {
        (&*self.to).write_all(bytes)?;
        (self.count)(&self.shared).fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.shared.sleep_until(Instant::now() + pause);
        Ok(())
    }

    fn damage(&self, mutator: &mut Mutator, chunk: &[u8]) -> (Vec<u8>, Option<Limit>) {
        let before = mutator.edits().len();
        let mut damaged = Vec::with_capacity(chunk.len());
        let end = mutator.apply(chunk, &mut damaged);
        let new = &mutator.edits()[before..];
        self.shared.edits.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(new);
        (damaged, end)
    }

    fn end(&self, limit: Limit) -> io::Result<()> {
        match limit {
            Limit::Cut => Err(io::ErrorKind::ConnectionAborted.into()),
            Limit::Stall => {
                self.shared.sleep_until(Instant::now() + STALL_LIMIT);
                Ok(())
            }
            Limit::Dummies => {
                let until = Instant::now() + STALL_LIMIT;
                while Instant::now() < until && !self.shared.is_stopped() {
                    (&*self.to).write_all(&DUMMY)?;
                    self.shared.sleep_until(Instant::now() + DUMMY_PAUSE);
                }
                Ok(())
            }
        }
    }
}

/// Reads until the stream ends, fails, or the receiver is gone.
fn read(mut from: &TcpStream, delay: Duration, chunks: &SyncSender<Chunk>) {
    let mut buffer = vec![0; CHUNK];
    loop {
        match from.read(&mut buffer) {
            Ok(length @ 1..) => {
                if chunks.send((Instant::now() + delay, buffer[..length].to_vec())).is_err() {
                    break;
                }
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            Ok(0) | Err(_) => break,
        }
    }
}

/// Piece sizes from a xorshift generator: reproducible, and without a regular pattern.
struct Sizes {
    state: u64,
    most: Option<usize>,
}

impl Sizes {
    fn next(&mut self, available: usize) -> usize {
        let Some(most) = self.most else { return available };
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let size = 1 + self.state % most.max(1) as u64;
        usize::try_from(size).unwrap_or(usize::MAX).min(available)
    }
}

fn close(socket: &TcpStream) {
    // Fails if the peer has closed it already, which is fine.
    let _ = socket.shutdown(Shutdown::Both);
}

const CHUNK: usize = 16 * 1024;
/// With chunks of 16 KiB: 16 MiB may be under way.
const QUEUE: usize = 1024;
/// The time between discarded bytes and the end of their connection.
const SWALLOW: Duration = Duration::from_millis(300);
/// The packet `op_dummy`.
const DUMMY: [u8; 4] = [0, 0, 0, 71];
const DUMMY_PAUSE: Duration = Duration::from_millis(5);
const PAUSE: Duration = Duration::from_micros(20);
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
const WAKE_LIMIT: Duration = Duration::from_secs(1);
/// Longer than any test waits; a proxy that is dropped ends it at once.
const STALL_LIMIT: Duration = Duration::from_secs(600);
