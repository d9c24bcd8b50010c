//! The auxiliary connection, on which a server reports events.

use super::Wire;
use crate::backend::link::tcp::TcpLink;
use crate::backend::link::{Link, unreachable};
use crate::backend::{Events, LEAVING};
use crate::config::{AddressFamily, Config};
use crate::error::{Error, Kind, Result};
use crate::event::Inbox;
use crate::session::ready;
use firearrow_proto::wire::ProtocolError;
use firearrow_proto::wire::error::DecodeError;
use firearrow_proto::wire::packet::event::{
    AbortAuxiliary, CancelEvents, QueueEvents, RequestAuxiliary, auxiliary_port, decode_auxiliary,
};
use firearrow_proto::wire::xdr::Reader;
use std::collections::HashMap;
use std::io::{ErrorKind, Read};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes per read. Most packets are far shorter.
const CHUNK: usize = 4096;

/// A server that has named its port takes a moment before it accepts a connection there. If it learns in between that
/// none will come, it still waits for three minutes (`aux_connect` in `remote/inet.cpp`).
const ABORT_DELAY: Duration = Duration::from_millis(100);

/// A server that loses the auxiliary connection writes `op_dummy` on the main one without a lock. If it is writing an
/// answer at that moment, the answer may arrive twice (`rem_port::disconnect` in `remote/server/server.cpp`). Client
/// and server notice the loss at about the same time, so the client sends no request for a while.
const SETTLING: Duration = Duration::from_millis(200);

/// How to reach the auxiliary connection.
#[derive(Clone, Debug)]
pub(crate) struct EventRoute {
    host: String,
    /// Overrides the port that the server names.
    port: Option<u16>,
    family: AddressFamily,
    timeout: Duration,
}

impl EventRoute {
    /// Uses the address of the main connection unless the configuration names another: a host name may stand for
    /// several hosts.
    pub(crate) fn new(config: &Config, host: &str, peer: Option<SocketAddr>) -> Self {
        let peer = peer.map(|peer| peer.ip()).filter(|ip| match ip {
            // A link-local address lacks the interface, which only the name has.
            IpAddr::V6(ip) => !ip.is_unicast_link_local(),
            IpAddr::V4(_) => true,
        });
        let host = match (&config.event_host, peer) {
            (Some(host), _) => host.clone(),
            (None, Some(peer)) => peer.to_string(),
            (None, None) => host.to_owned(),
        };
        let (port, family) = (config.event_port, config.address_family);
        Self { host, port, family, timeout: config.connect_timeout }
    }

    fn connect(&self, port: u16) -> Result<TcpStream> {
        let port = self.port.unwrap_or(port);
        let deadline = Instant::now() + self.timeout;
        let link = ready(TcpLink::connect(&self.host, port, self.family, deadline));
        link.and_then(TcpLink::into_stream).map_err(|error| {
            let text = format!(
                "servers tell of events on a second connection, and {}:{port} cannot be reached: {error}; with a firewall or a \
                 container in between, set RemoteAuxPort in the server's firebird.conf, let that port through, and set \
                 event_host and event_port here if they are others from here",
                self.host
            );
            unreachable(&error, text)
        })
    }
}

/// The state for receiving events.
#[derive(Debug, Default)]
pub(super) struct EventChannel {
    pub(super) route: Option<EventRoute>,
    auxiliary: Option<Auxiliary>,
    last_id: u32,
}

/// The auxiliary connection; a thread reads it until it is dropped.
#[derive(Debug)]
struct Auxiliary {
    stream: TcpStream,
    listening: Arc<Mutex<Listening>>,
}

/// The inboxes that wait for answers. Request numbers are never reused, since a cancelled request may still be
/// answered.
#[derive(Debug, Default)]
struct Listening {
    inboxes: HashMap<u32, Weak<Inbox>>,
    failure: Option<(Error, Instant)>,
}

impl EventChannel {
    /// Returns how long to wait until the server, too, has noticed the loss of the auxiliary connection.
    pub(super) fn settling(&self) -> Option<Duration> {
        let lost = self.auxiliary.as_ref().and_then(Auxiliary::lost)?;
        SETTLING.checked_sub(lost.elapsed())
    }
}

impl<L: Link> Events for Wire<L> {
    async fn queue_events(&mut self, block: &[u8], inbox: &Arc<Inbox>) -> Result<()> {
        if self.events.auxiliary.as_ref().is_some_and(|auxiliary| !auxiliary.has_failed()) {
            return self.ask_now(block, inbox).await;
        }
        let route = self.events.route.take();
        let result = match &route {
            Some(route) => self.ask_first(route, block, inbox).await,
            None => Err(no_route()),
        };
        self.events.route = route;
        result
    }

    async fn cancel_events(&mut self, inbox: &Arc<Inbox>) -> Result<()> {
        let Some(id) = self.events.auxiliary.as_ref().and_then(|auxiliary| auxiliary.find(inbox)) else {
            return Ok(());
        };
        self.forget(id);
        // The caller drops a listener without a time limit, and must not wait for ever.
        self.patience.until = Some(Instant::now() + LEAVING);
        let result = self.call(&CancelEvents { id }).await;
        self.patience.until = None;
        result.map(|_| ())
    }
}

impl<L: Link> Wire<L> {
    /// Connects, then requests events. A server handles no other request until its port has been connected to. If
    /// `route` leads to another program instead, the server becomes unreachable: pending requests keep it from
    /// noticing.
    async fn ask_first(&mut self, route: &EventRoute, block: &[u8], inbox: &Arc<Inbox>) -> Result<()> {
        self.connect_auxiliary(route).await?;
        self.patience.until = Some(Instant::now() + route.timeout);
        let result = self.ask_now(block, inbox).await;
        self.patience.until = None;
        result.map_err(|error| match error.kind() {
            Kind::Timeout => error.context("the connection for events does not seem to reach the server"),
            _ => error,
        })
    }

    async fn ask_now(&mut self, block: &[u8], inbox: &Arc<Inbox>) -> Result<()> {
        self.events.last_id = self.events.last_id.wrapping_add(1);
        let id = self.events.last_id;
        // Registered before the request, because the answer may arrive before the confirmation.
        self.events.auxiliary.as_ref().ok_or_else(no_route)?.listen(id, inbox)?;
        let result = self.call(&QueueEvents { block, id }).await;
        if result.is_err() {
            self.forget(id);
        }
        result.map(|_| ())
    }

    fn forget(&self, id: u32) {
        if let Some(auxiliary) = &self.events.auxiliary {
            auxiliary.lock().inboxes.remove(&id);
        }
    }

    /// Opens the auxiliary connection. A thread reads it, whatever the kind of link.
    async fn connect_auxiliary(&mut self, route: &EventRoute) -> Result<()> {
        self.events.auxiliary = None;
        let response = self.call(&RequestAuxiliary).await?;
        let answered = Instant::now();
        let stream = match auxiliary_port(&response.data) {
            Some(port) => {
                let route = route.clone();
                let connecting = L::aside(move || route.connect(port)).await;
                connecting.unwrap_or_else(|error| Err(Error::new(Kind::Io, error.to_string())))
            }
            None => Err(Error::new(Kind::Protocol, "the server names no port for events")),
        };
        match stream {
            Ok(stream) => {
                self.events.auxiliary = Some(Auxiliary::start(stream)?);
                Ok(())
            }
            Err(error) => {
                // The server waits for a connection that will not come. It notices the abort only after a moment, and
                // only if no other request is in flight.
                self.flush().await?;
                L::pause(ABORT_DELAY.saturating_sub(answered.elapsed())).await;
                let _ = self.connection.send(&AbortAuxiliary)?; // no answer will come
                self.flush().await?;
                Err(error)
            }
        }
    }
}

fn no_route() -> Error {
    Error::new(Kind::Unsupported, "this connection cannot receive events")
}

impl Auxiliary {
    fn start(stream: TcpStream) -> Result<Self> {
        let failed = |error| Error::new(Kind::Io, format!("cannot start a thread for events: {error}"));
        let listening = Arc::new(Mutex::new(Listening::default()));
        let reader = stream.try_clone().map_err(failed)?;
        let work = {
            let listening = Arc::clone(&listening);
            move || {
                let error = read(reader, &listening);
                fail(&listening, error);
            }
        };
        thread::Builder::new().name("firearrow-events".into()).spawn(work).map_err(failed)?;
        Ok(Self { stream, listening })
    }

    fn has_failed(&self) -> bool {
        self.lost().is_some()
    }

    /// When the connection failed, if it did.
    fn lost(&self) -> Option<Instant> {
        self.lock().failure.as_ref().map(|(_, lost)| *lost)
    }

    fn listen(&self, id: u32, inbox: &Arc<Inbox>) -> Result<()> {
        let mut listening = self.lock();
        match &listening.failure {
            Some((error, _)) => Err(error.clone()),
            None => {
                listening.inboxes.insert(id, Arc::downgrade(inbox));
                Ok(())
            }
        }
    }

    fn find(&self, inbox: &Arc<Inbox>) -> Option<u32> {
        let listening = self.lock();
        let mut inboxes = listening.inboxes.iter();
        inboxes.find(|(_, known)| known.as_ptr() == Arc::as_ptr(inbox)).map(|(id, _)| *id)
    }

    fn lock(&self) -> MutexGuard<'_, Listening> {
        lock(&self.listening)
    }
}

impl Drop for Auxiliary {
    fn drop(&mut self) {
        // This ends the thread; the server may have closed the connection already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

fn lock(listening: &Mutex<Listening>) -> MutexGuard<'_, Listening> {
    listening.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Delivers answers until the connection ends; returns the reason.
fn read(mut stream: TcpStream, listening: &Mutex<Listening>) -> Error {
    let mut bytes = Vec::new();
    let mut chunk = [0; CHUNK];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return ProtocolError::Closed.into(),
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Error::new(Kind::Closed, error.to_string()),
        }
        match hand_out(&bytes, listening) {
            Ok(taken) => drop(bytes.drain(..taken)),
            Err(error) => return error.into(),
        }
    }
}

/// Delivers the complete packets at the start of `bytes`; returns their total length.
fn hand_out(bytes: &[u8], listening: &Mutex<Listening>) -> Result<usize, ProtocolError> {
    let mut taken = 0;
    loop {
        let mut reader = Reader::new(&bytes[taken..]);
        match decode_auxiliary(&mut reader) {
            Ok(Some(posted)) => {
                // An answer without an inbox belongs to a request cancelled meanwhile.
                let inbox = lock(listening).inboxes.remove(&posted.id);
                if let Some(inbox) = inbox.and_then(|inbox| inbox.upgrade()) {
                    inbox.put(posted.block);
                }
            }
            Ok(None) => {}
            Err(DecodeError::Incomplete) => return Ok(taken),
            Err(DecodeError::Invalid(error)) => return Err(error),
        }
        taken += reader.position();
    }
}

/// Reports to all waiting listeners that no answer will come.
fn fail(listening: &Mutex<Listening>, error: Error) {
    let error = error.context("the server's connection for events ended");
    let inboxes = {
        let mut listening = lock(listening);
        listening.failure = Some((error.clone(), Instant::now()));
        std::mem::take(&mut listening.inboxes)
    };
    for inbox in inboxes.into_values().filter_map(|inbox| inbox.upgrade()) {
        inbox.fail(&error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firearrow_proto::api::event::event_block;
    use firearrow_proto::wire::Op;
    use firearrow_proto::wire::xdr::Writer;
    use std::io::Write;
    use std::net::TcpListener;

    fn packet(id: u32, block: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut out = Writer::new(&mut bytes);
        out.op(Op::EVENT);
        out.short(0);
        out.cstr(block);
        out.quad(0);
        out.word(id);
        bytes
    }

    /// The server's and the client's end of an auxiliary connection.
    fn pair() -> (TcpStream, Auxiliary) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let stream = TcpStream::connect(listener.local_addr().expect("an address")).expect("it listens");
        let (server, _) = listener.accept().expect("a client");
        server.set_nodelay(true).expect("a socket");
        (server, Auxiliary::start(stream).expect("a thread"))
    }

    fn wait(condition: impl Fn() -> bool) {
        let begin = Instant::now();
        while !condition() {
            assert!(begin.elapsed() < Duration::from_secs(10), "it does not happen");
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn answers_reach_their_inbox_in_any_pieces() {
        let (mut server, auxiliary) = pair();
        let inboxes: Vec<_> = (0..3).map(|_| Arc::new(Inbox::default())).collect();
        for (id, inbox) in (1..).zip(&inboxes) {
            auxiliary.listen(id, inbox).expect("it is alive");
        }
        assert_eq!(auxiliary.find(&inboxes[2]), Some(3));
        let blocks = [event_block([("a", 1)]), event_block([("b", 2), ("c", 3)])];
        let dummy = [0, 0, 0, 71];
        let bytes =
            [&packet(2, &blocks[1])[..], &dummy, &packet(77, b"nobody's"), &packet(1, &blocks[0])].concat();
        for byte in bytes {
            server.write_all(&[byte]).expect("it is read");
        }
        wait(|| inboxes[0].has_answer() && inboxes[1].has_answer());
        assert!(!inboxes[2].has_answer());
        assert_eq!((auxiliary.find(&inboxes[0]), auxiliary.find(&inboxes[2])), (None, Some(3)));
    }

    #[test]
    fn nobody_waits_for_a_dead_connection() {
        for bytes in [&[][..], &[0, 0, 0, 2], &[0, 0, 0, 9], &[0, 0, 0, 52, 0, 0, 0, 0, 0x7f, 0, 0, 0]] {
            let (mut server, auxiliary) = pair();
            let inbox = Arc::new(Inbox::default());
            auxiliary.listen(1, &inbox).expect("it is alive");
            server.write_all(bytes).expect("it is read");
            if bytes.is_empty() {
                drop(server);
            }
            wait(|| inbox.has_failed());
            assert!(auxiliary.has_failed() && auxiliary.listen(2, &inbox).is_err());
        }
    }

    #[test]
    fn dropping_it_ends_the_thread() {
        let (mut server, auxiliary) = pair();
        drop(auxiliary);
        server.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
        assert_eq!(server.read(&mut [0]).expect("the end of the stream"), 0);
    }
}
