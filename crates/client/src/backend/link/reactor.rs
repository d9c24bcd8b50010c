//! Event loops that are not Tokio's: the socket of an asynchronous connection is watched by the loop in whose thread the connection
//! is used, so that no other thread has to wake up for its answers.

use std::cell::RefCell;
use std::io;
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

/// An event loop that watches sockets for a program whose own loop it is.
///
/// Calls that are polled [`within`] it run in the task that polls them, which has to go on polling them; and the sockets of their
/// connections are watched by it. Whatever else Tokio has to offer they still need: a runtime must be entered.
pub trait Reactor: Send + Sync {
    /// Watches a socket that does not block, on edges, and tells its readiness to `readiness` until the result is dropped.
    ///
    /// # Errors
    /// The operating system refuses.
    fn watch(&self, socket: &TcpStream, readiness: Arc<Readiness>) -> io::Result<Box<dyn Send + Sync>>;
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<dyn Reactor>>> = const { RefCell::new(None) };
}

/// Runs `poll`, which polls a future, within an event loop of this thread.
pub fn within<T>(reactor: &Arc<dyn Reactor>, poll: impl FnOnce() -> T) -> T {
    struct Before(Option<Arc<dyn Reactor>>);
    impl Drop for Before {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _before = Before(CURRENT.replace(Some(Arc::clone(reactor))));
    poll()
}

/// The event loop of what this thread polls; `None` is Tokio.
pub(crate) fn current() -> Option<Arc<dyn Reactor>> {
    CURRENT.try_with(|current| current.borrow().clone()).unwrap_or_default()
}

/// Whether what this thread polls is within an event loop.
pub(crate) fn is_within() -> bool {
    CURRENT.try_with(|current| current.borrow().is_some()).unwrap_or_default()
}

/// Whether a socket has something to read, and room to write, as far as is known; and who waits for it.
#[derive(Debug)]
pub struct Readiness(Mutex<State>);

#[derive(Debug)]
struct State {
    /// Number of events.
    events: u32,
    read: Direction,
    write: Direction,
}

#[derive(Debug)]
struct Direction {
    is_ready: bool,
    /// No more bytes will come, so that there is always an answer.
    is_closed: bool,
    waker: Option<Waker>,
}

impl Direction {
    /// Returns who is to be woken.
    fn notify(&mut self, is_ready: bool, is_closed: bool) -> Option<Waker> {
        self.is_ready |= is_ready || is_closed;
        self.is_closed |= is_closed;
        if self.is_ready { self.waker.take() } else { None }
    }

    fn poll(&mut self, context: &Context<'_>) -> bool {
        if !self.is_ready {
            match &mut self.waker {
                Some(waker) => waker.clone_from(context.waker()),
                none => *none = Some(context.waker().clone()),
            }
        }
        self.is_ready
    }
}

impl Readiness {
    fn new() -> Self {
        // Whoever tries learns whether it is.
        let direction = || Direction { is_ready: true, is_closed: false, waker: None };
        Self(Mutex::new(State { events: 0, read: direction(), write: direction() }))
    }

    /// Tells of an event: that the socket can be read or written, or that one of these directions was closed.
    pub fn notify(&self, (read, read_closed): (bool, bool), (write, write_closed): (bool, bool)) {
        let mut state = self.lock();
        state.events = state.events.wrapping_add(1);
        let reader = state.read.notify(read, read_closed);
        let writer = state.write.notify(write, write_closed);
        drop(state);
        reader.into_iter().chain(writer).for_each(Waker::wake);
    }

    /// Waits until something can be read. Returns the number of events so far.
    fn poll_read(&self, context: &Context<'_>) -> Poll<u32> {
        let mut state = self.lock();
        if state.read.poll(context) { Poll::Ready(state.events) } else { Poll::Pending }
    }

    fn poll_write(&self, context: &Context<'_>) -> Poll<u32> {
        let mut state = self.lock();
        if state.write.poll(context) { Poll::Ready(state.events) } else { Poll::Pending }
    }

    /// All was read, unless there was an event meanwhile.
    fn has_read_all(&self, events: u32) {
        let mut state = self.lock();
        if state.events == events && !state.read.is_closed {
            state.read.is_ready = false;
        }
    }

    fn has_no_room(&self, events: u32) {
        let mut state = self.lock();
        if state.events == events && !state.write.is_closed {
            state.write.is_ready = false;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A socket that an event loop watches.
pub(super) struct Watched {
    /// Ends before the socket is closed.
    _watch: Box<dyn Send + Sync>,
    readiness: Arc<Readiness>,
    pub(super) socket: TcpStream,
    reactor: Arc<dyn Reactor>,
}

impl Watched {
    pub(super) fn new(socket: TcpStream, reactor: Arc<dyn Reactor>) -> io::Result<Self> {
        let readiness = Arc::new(Readiness::new());
        let watch = reactor.watch(&socket, Arc::clone(&readiness))?;
        Ok(Self { _watch: watch, readiness, socket, reactor })
    }

    pub(super) fn is_watched_by(&self, reactor: &Arc<dyn Reactor>) -> bool {
        std::ptr::addr_eq(Arc::as_ptr(&self.reactor), Arc::as_ptr(reactor))
    }

    /// The socket, which nobody watches any more.
    pub(super) fn into_socket(self) -> TcpStream {
        self.socket
    }

    pub(super) fn poll_read(&self, context: &Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        use io::Read;
        loop {
            let events = ready!(self.readiness.poll_read(context));
            match (&self.socket).read(buffer) {
                Ok(count) => {
                    if (1..buffer.len()).contains(&count) {
                        self.readiness.has_read_all(events);
                    }
                    return Poll::Ready(Ok(count));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.readiness.has_read_all(events)
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    pub(super) fn poll_write(&self, context: &Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        use io::Write;
        loop {
            let events = ready!(self.readiness.poll_write(context));
            match (&self.socket).write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.readiness.has_no_room(events),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return Poll::Ready(done),
            }
        }
    }
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watched").field("socket", &self.socket).finish_non_exhaustive()
    }
}
