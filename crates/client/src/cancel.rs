//! Cancelling: a token belongs to operations, not to threads.
//!
//! ```text
//!  CancelToken::cancel ──► Operation ─┬─ waits for its turn: woken
//!                                     ├─ waits for a server: seen within 50 ms, op_cancel
//!                                     └─ in the engine: interrupted at once
//! ```

mod timer;

use crate::error::{Error, Kind, Result};
use std::cell::RefCell;
use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Cancels operations. Whatever is called within [`run`](Self::run) belongs to the token, on any connection, and ends
/// when somebody calls [`cancel`](Self::cancel), wherever it waits: for its turn on a connection that others use, for the
/// server, or in the engine. Nothing else is interrupted. Clones are the same token.
///
/// Futures belong to the token through `scope`; [`set_time_limit`](Self::set_time_limit) cancels by the clock.
///
/// A cancelled operation fails with [`Kind::Cancelled`]. A query can be run again, and its transaction goes on. The
/// token stays cancelled: operations that begin later within it fail at once, except for those that end something
/// (a rollback, the end of a statement or connection), which are not interrupted. A server cannot be interrupted
/// while another request is queued behind the running one: after an UPDATE, for example, the request for its row counts.
/// The client then closes the connection after two seconds (up to five if answers go on coming), which ends the statement, and
/// [`is_failed`](crate::Connection::is_failed) returns `true`.
///
/// ```no_run
/// # use firearrow::{CancelToken, Connection};
/// # let connection = Connection::connect("firebird://localhost/employee")?;
/// let token = CancelToken::new();
/// let other = token.clone();
/// std::thread::spawn(move || other.cancel());
/// let batch = token.run(|| connection.query("SELECT COUNT(*) FROM big_table")?.next_batch())?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct CancelToken(Arc<State>);

#[derive(Default)]
struct State {
    is_cancelled: AtomicBool,
    /// Nanoseconds from [`START`] to the end of the time limit; 0 = no limit.
    limit: AtomicU64,
    /// The limit that the timer knows.
    armed: AtomicU64,
    listeners: Mutex<Listeners>,
    /// Called by an operation that is about to wait for long.
    on_wait: Option<fn()>,
}

#[derive(Default)]
struct Listeners {
    last_id: u64,
    wakes: Vec<(u64, Wake)>,
}

/// What wakes an operation up.
pub(crate) type Wake = Arc<dyn Fn() + Send + Sync>;

/// Where time limits are counted from.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

thread_local! {
    /// The tokens of whatever this thread calls, the outermost first.
    static CURRENT: RefCell<Vec<CancelToken>> = const { RefCell::new(Vec::new()) };
}

impl CancelToken {
    /// A token that nobody has cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// A token with a time limit that begins now; see [`set_time_limit`](Self::set_time_limit).
    pub fn after(time: Duration) -> Self {
        let token = Self::new();
        token.set_time_limit(Some(time));
        token
    }

    /// A token that calls `on_wait` when an operation of it waits for longer than a moment, in the thread that waits: before it waits
    /// for its turn or calls an engine in this process, and each time that a server has been silent for 50 ms, or a signal has come.
    /// For whoever cancels by means that are too costly for operations that end at once. `on_wait` must not use a connection.
    pub fn watched(on_wait: fn()) -> Self {
        Self(Arc::new(State { on_wait: Some(on_wait), ..State::default() }))
    }

    /// Ends the operations of this token. Returns immediately; cancelling twice, or after their end, does nothing.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Ends the operations of this token with [`Kind::Timeout`] when this time has passed, counted from this call; `None` lifts
    /// the limit. Fetching rows is an operation, too: do it within [`run`](Self::run). After the limit, operations of the
    /// token fail at once.
    pub fn set_time_limit(&self, time: Option<Duration>) {
        let start = *START;
        let end = time.and_then(|time| Instant::now().checked_add(time));
        let nanoseconds = end
            .map_or(0, |end| u64::try_from(end.duration_since(start).as_nanos()).unwrap_or(u64::MAX).max(1));
        self.0.limit.store(nanoseconds, Ordering::SeqCst);
        if !self.listeners().wakes.is_empty() {
            self.arm();
        }
    }

    /// Whether it was cancelled or its time is up.
    pub fn is_cancelled(&self) -> bool {
        self.interruption().is_some()
    }

    /// Runs `work`: the operations that it begins belong to this token, as well as to those around it. Threads and tasks
    /// that `work` starts do not. For a future use `scope`: this returns before the future is polled.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        let _entered = Entered::push(self.clone());
        work()
    }

    /// Like [`run`](Self::run), for a future: the operations that it begins whenever it is polled belong to this token.
    #[cfg(feature = "tokio")]
    pub async fn scope<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        std::future::poll_fn(|context| self.run(|| work.as_mut().poll(context))).await
    }

    /// Runs `work`: the operations that it begins belong to no token.
    pub fn shield<T>(work: impl FnOnce() -> T) -> T {
        let _entered = Entered::replace(Vec::new());
        work()
    }

    /// Fails if a token of this thread was cancelled, or its time is up: for waits of the caller's own, which look now and then.
    /// Who watches a token ([`watched`](Self::watched)) is told of the wait.
    pub fn check() -> Result<()> {
        let operation = Operation::new();
        operation.waits();
        operation.interruption().map_or(Ok(()), |kind| Err(interrupted(kind, "before its turn")))
    }

    /// Whether an operation that began now would fail at once, since a token of this thread was cancelled or its time is up.
    pub fn is_over() -> bool {
        Operation::new().interruption().is_some()
    }

    /// When its time is up.
    fn limit(&self) -> Option<Instant> {
        let nanoseconds = self.0.limit.load(Ordering::SeqCst);
        (nanoseconds > 0).then(|| *START + Duration::from_nanos(nanoseconds))
    }

    /// Lets the timer wake whoever listens, once for each limit.
    fn arm(&self) {
        let limit = self.0.limit.load(Ordering::SeqCst);
        if limit > 0 && self.0.armed.swap(limit, Ordering::SeqCst) != limit {
            timer::wake_at(*START + Duration::from_nanos(limit), &self.0);
        }
    }

    fn interruption(&self) -> Option<Kind> {
        if self.0.is_cancelled.load(Ordering::SeqCst) {
            return Some(Kind::Cancelled);
        }
        self.limit().is_some_and(|limit| Instant::now() >= limit).then_some(Kind::Timeout)
    }

    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        self.0.wake();
    }
}

impl State {
    /// A listener that unsubscribes meanwhile waits until this is done, and is not woken afterwards.
    fn wake(&self) {
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.wakes.iter().for_each(|(_, wake)| wake());
    }
}

/// Tokens of this thread until it is dropped, also by a panic.
struct Entered(Vec<CancelToken>);

impl Entered {
    fn push(token: CancelToken) -> Self {
        CURRENT.with_borrow_mut(|current| {
            let outer = current.clone();
            current.push(token);
            Self(outer)
        })
    }

    fn replace(tokens: Vec<CancelToken>) -> Self {
        Self(CURRENT.replace(tokens))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(mem::take(&mut self.0));
    }
}

/// One operation, from the wait for its turn to its end, and what may cancel it.
#[derive(Clone, Default)]
pub(crate) struct Operation {
    own: Option<CancelToken>,
    /// The tokens that it was begun in, if there are any.
    outer: Option<Arc<[CancelToken]>>,
}

impl Operation {
    /// An operation of the tokens of this thread.
    pub(crate) fn new() -> Self {
        // A destructor of another thread-local may run when this one is gone.
        let outer = CURRENT.try_with(|current| {
            let current = current.borrow();
            (!current.is_empty()).then(|| current.as_slice().into())
        });
        Self { outer: outer.ok().flatten(), ..Self::shielded() }
    }

    /// One that belongs to no token of this thread.
    pub(crate) fn shielded() -> Self {
        Self { own: Some(CancelToken::new()), outer: None }
    }

    fn tokens(&self) -> impl Iterator<Item = &CancelToken> {
        self.own.iter().chain(self.outer.as_deref().unwrap_or_default())
    }

    pub(crate) fn cancel(&self) {
        if let Some(own) = &self.own {
            own.cancel();
        }
    }

    fn is(&self, other: &Self) -> bool {
        match (&self.own, &other.own) {
            (Some(this), Some(other)) => Arc::ptr_eq(&this.0, &other.0),
            _ => false,
        }
    }

    /// Why it should end, if it should.
    pub(crate) fn interruption(&self) -> Option<Kind> {
        let mut kinds = self.tokens().filter_map(CancelToken::interruption);
        let first = kinds.next()?;
        // A cancellation takes precedence over a time limit.
        Some(if kinds.any(|kind| kind == Kind::Cancelled) { Kind::Cancelled } else { first })
    }

    /// Whether somebody cancelled it, whatever the time.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.interruption() == Some(Kind::Cancelled)
    }

    /// Fails if it should end.
    pub(crate) fn check(&self) -> Result<()> {
        self.interruption().map_or(Ok(()), |kind| Err(interrupted(kind, "before it began")))
    }

    /// When its time is up.
    pub(crate) fn limit(&self) -> Option<Instant> {
        self.tokens().filter_map(CancelToken::limit).min()
    }

    /// Calls `wake` when it is cancelled, as long as the guard lives, and when its time is up.
    pub(crate) fn listen(&self, wake: &Wake) -> Listening {
        let listen = |token: &CancelToken| {
            let id = {
                let mut listeners = token.listeners();
                listeners.last_id += 1;
                let id = listeners.last_id;
                listeners.wakes.push((id, Arc::clone(wake)));
                id
            };
            token.arm();
            (token.clone(), id)
        };
        let listening = Listening(self.tokens().map(listen).collect());
        self.waits();
        listening
    }

    /// Tells whoever watches that it waits.
    pub(crate) fn waits(&self) {
        self.tokens().filter_map(|token| token.0.on_wait).for_each(|on_wait| on_wait());
    }
}

/// The error of an operation that was interrupted.
#[cold]
pub(crate) fn interrupted(kind: Kind, place: &str) -> Error {
    match kind {
        Kind::Timeout => Error::new(kind, format!("the time limit has passed: {place}")),
        _ => Error::new(kind, format!("cancelled: {place}")),
    }
}

/// Somebody who is woken by tokens.
pub(crate) struct Listening(Vec<(CancelToken, u64)>);

impl Drop for Listening {
    fn drop(&mut self) {
        for (token, id) in &self.0 {
            token.listeners().wakes.retain(|(known, _)| known != id);
        }
    }
}

/// The operations of a connection that have begun and not ended.
#[derive(Clone, Default)]
pub(crate) struct Underway(Arc<Mutex<Vec<Operation>>>);

impl Underway {
    /// Counts an operation as one of this connection until the guard is dropped.
    pub(crate) fn enter(&self, operation: Operation) -> Entry {
        self.lock().push(operation.clone());
        Entry { underway: self.clone(), operation }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Operation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An operation that has not ended.
pub(crate) struct Entry {
    underway: Underway,
    operation: Operation,
}

impl Entry {
    pub(crate) fn operation(&self) -> &Operation {
        &self.operation
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.underway.lock().retain(|other| !other.is(&self.operation));
    }
}

/// Cancels what its connection is doing; may be used from any thread. It does not keep the connection open.
///
/// All operations of the connection that have begun fail with [`Kind::Cancelled`], including those that wait for their
/// turn; to cancel only some of them, see [`CancelToken`]. Where nothing is running, nothing happens, not even to the
/// next operation.
#[derive(Clone)]
pub struct CancelHandle {
    pub(crate) underway: Underway,
}

impl CancelHandle {
    /// Cancels the running operations. Returns immediately.
    pub fn cancel(&self) {
        let operations = self.underway.lock().clone();
        operations.iter().for_each(Operation::cancel);
    }

    /// Whether nothing is running.
    pub fn is_idle(&self) -> bool {
        self.underway.lock().is_empty()
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelToken").field("is_cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation").field("interruption", &self.interruption()).finish_non_exhaustive()
    }
}

impl fmt::Debug for CancelHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelHandle").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    #[test]
    fn operations_belong_to_the_tokens_around_them() {
        let (outer, inner) = (CancelToken::new(), CancelToken::new());
        let (in_both, shielded) =
            outer.run(|| (inner.run(Operation::new), CancelToken::shield(Operation::new)));
        let after = Operation::new();
        inner.cancel();
        assert!(in_both.is_cancelled() && !shielded.is_cancelled() && !after.is_cancelled());
        assert_eq!(inner.run(Operation::new).check().expect_err("cancelled").kind(), Kind::Cancelled);
        let in_outer = outer.run(Operation::new);
        assert!(!in_outer.is_cancelled());
        outer.cancel();
        outer.cancel();
        assert!(in_outer.is_cancelled());
    }

    #[test]
    fn waits_of_the_callers_own_look_at_its_tokens() {
        assert!(CancelToken::check().is_ok());
        let token = CancelToken::new();
        token.cancel();
        let check = token.run(CancelToken::check);
        assert_eq!(check.expect_err("cancelled").kind(), Kind::Cancelled);
        assert!(token.run(|| CancelToken::shield(CancelToken::check)).is_ok());
    }

    #[test]
    fn a_handle_cancels_what_is_under_way() {
        let handle = CancelHandle { underway: Underway::default() };
        handle.cancel();
        let (first, second) = (Operation::new(), Operation::new());
        let entry = handle.underway.enter(first.clone());
        drop(handle.underway.enter(second.clone()));
        handle.cancel();
        assert!(first.is_cancelled() && !second.is_cancelled() && !handle.is_idle());
        drop(entry);
        assert!(handle.is_idle());
        assert!(handle.underway.lock().is_empty());
    }

    #[test]
    fn time_limits_wake_and_are_no_cancelling() {
        let token = CancelToken::new();
        let operation = token.run(Operation::new);
        let woken = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&woken);
        let wake: Wake = Arc::new(move || {
            count.fetch_add(1, Ordering::SeqCst);
        });
        let listening = operation.listen(&wake);
        token.set_time_limit(Some(Duration::from_secs(3600)));
        assert_eq!(operation.interruption(), None);
        token.set_time_limit(Some(Duration::from_millis(20)));
        let begin = Instant::now();
        while woken.load(Ordering::SeqCst) == 0 {
            assert!(begin.elapsed() < Duration::from_secs(10), "nobody was woken");
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(operation.interruption(), Some(Kind::Timeout));
        token.set_time_limit(None);
        assert_eq!(operation.interruption(), None);
        token.cancel();
        assert_eq!(operation.interruption(), Some(Kind::Cancelled));
        let before = woken.load(Ordering::SeqCst);
        drop(listening);
        token.cancel();
        assert_eq!(woken.load(Ordering::SeqCst), before, "nobody listens any more");
    }

    #[test]
    fn who_watches_is_told_of_waits() {
        static WAITS: AtomicUsize = AtomicUsize::new(0);
        let token = CancelToken::watched(|| {
            WAITS.fetch_add(1, Ordering::SeqCst);
        });
        let operation = token.run(Operation::new);
        assert_eq!(WAITS.load(Ordering::SeqCst), 0);
        let wake: Wake = Arc::new(|| {});
        drop(operation.listen(&wake));
        operation.waits();
        Operation::new().waits();
        assert_eq!(WAITS.load(Ordering::SeqCst), 2);
        token.run(CancelToken::check).expect("nobody cancelled it");
        assert_eq!(WAITS.load(Ordering::SeqCst), 3);
        assert!(!token.run(CancelToken::is_over));
        token.cancel();
        assert!(token.run(CancelToken::is_over) && !CancelToken::is_over());
        assert_eq!(WAITS.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn a_panic_leaves_the_token() {
        let token = CancelToken::new();
        token.cancel();
        let panicked = std::panic::catch_unwind(|| token.run(|| panic!("a mistake")));
        assert!(panicked.is_err());
        assert!(!Operation::new().is_cancelled());
    }
}
