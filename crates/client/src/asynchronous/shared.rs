//! The state that a connection and everything made from it share.

use super::flow;
use crate::backend::link::tokio::TokioLink;
use crate::backend::{AnyBackend, Backend};
use crate::cancel::{CancelHandle, Entry, Operation, Underway, Wake, interrupted};
use crate::config::{Config, Target};
use crate::error::{Error, Kind, Result};
use crate::session::connect::Facts;
use crate::session::idle::Idle;
use crate::session::noted::Noted;
use crate::session::{Session, ready};
use crate::stats::Meter;
use std::mem;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedMutexGuard};
use tokio::task::{JoinError, spawn_blocking};

/// A session over a link that waits in the runtime.
pub(crate) type AsyncSession = Session<AnyBackend<TokioLink>>;

/// A flow that is under way.
pub(crate) type Flow<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// A closure as a flow, so that the compiler takes it for one.
pub(crate) fn flow<T, F>(flow: F) -> F
where
    F: for<'a> FnOnce(&'a mut AsyncSession) -> Flow<'a, T> + Send + 'static,
{
    flow
}

/// A flow that nobody waits for.
type Discarded = Box<dyn for<'a> FnOnce(&'a mut AsyncSession) -> Flow<'a, ()> + Send>;

/// The session, and facts known without asking it.
pub(crate) struct Shared {
    session: Arc<tokio::sync::Mutex<Box<AsyncSession>>>,
    /// An engine in this process: its calls block.
    blocks: bool,
    underway: Underway,
    pub(crate) facts: Arc<Facts>,
    pub(crate) noted: Arc<Noted>,
    after: Arc<Afterwards>,
}

/// What operations that nobody waits for leave to the next one.
#[derive(Default)]
struct Afterwards {
    /// The error that broke the connection when nobody waited for it.
    failure: Mutex<Option<Error>>,
    /// Dropped objects: the next operation ends them first, so that their order is that of the program.
    discarded: Mutex<Vec<Discarded>>,
}

impl Afterwards {
    fn failure(&self) -> Option<Error> {
        lock(&self.failure).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(crate) async fn open(config: &Config, create: bool) -> Result<Arc<Self>> {
        let facts = Arc::new(Facts::of(config)?);
        let blocks = matches!(config.target, Target::Embedded { .. });
        let session = if blocks {
            let facts = Arc::clone(&facts);
            let connect = move || ready(Session::connect(&facts, create));
            spawn_blocking(connect).await.unwrap_or_else(|error| Err(of_task(error)))?
        } else {
            Session::connect(&facts, create).await?
        };
        let noted = Arc::new(Noted::of(&session));
        let session = Arc::new(tokio::sync::Mutex::new(Box::new(session)));
        if let (Some(interval), false) = (config.keepalive, blocks) {
            tokio::spawn(keep_alive(Arc::downgrade(&session), Arc::clone(&noted), interval));
        }
        let (underway, after) = (Underway::default(), Arc::default());
        Ok(Arc::new(Self { session, blocks, underway, facts, noted, after }))
    }

    /// Runs a flow as an operation; others wait their turn.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        flow: impl for<'a> FnOnce(&'a mut AsyncSession) -> Flow<'a, T> + Send + 'static,
    ) -> Result<T> {
        self.begin().run(Vec::new(), flow).await
    }

    /// [`run`](Self::run), at the expense of `meters`.
    pub(crate) async fn metered<T: Send + 'static>(
        &self,
        meters: Vec<Meter>,
        flow: impl for<'a> FnOnce(&'a mut AsyncSession) -> Flow<'a, T> + Send + 'static,
    ) -> Result<T> {
        self.begin().run(meters, flow).await
    }

    /// Closes something, even if the operation is cancelled already; but its wait for the server can be cancelled.
    pub(crate) async fn finish<T: Send + 'static>(
        &self,
        meters: Vec<Meter>,
        flow: impl for<'a> FnOnce(&'a mut AsyncSession) -> Flow<'a, T> + Send + 'static,
    ) -> Result<T> {
        self.begin().finish(meters, flow).await
    }

    /// Ends something that the caller has given up, whatever is cancelled.
    pub(crate) async fn release<T: Send + 'static>(
        &self,
        flow: impl for<'a> FnOnce(&'a mut AsyncSession) -> Flow<'a, T> + Send + 'static,
    ) -> Result<T> {
        self.call(Operation::shielded()).finish(Vec::new(), flow).await
    }

    /// [`release`](Self::release) in a destructor: before the next call, whenever that comes, or in the background.
    pub(crate) fn discard(
        &self,
        flow: impl for<'a> FnOnce(&'a mut AsyncSession) -> Flow<'a, ()> + Send + 'static,
    ) {
        if self.is_failed() {
            return;
        }
        lock(&self.after.discarded).push(Box::new(flow));
        if let Ok(runtime) = Handle::try_current() {
            let part = self.call(Operation::shielded()).part(Vec::new());
            runtime.spawn(part.run(false, flow!(_session => Ok(()))));
        }
    }

    /// Runs a flow; returns `None` if others keep the connection busy until `deadline`.
    pub(crate) async fn run_until<T: Send + 'static>(
        &self,
        deadline: Option<tokio::time::Instant>,
        flow: impl for<'a> FnOnce(&'a mut AsyncSession) -> Flow<'a, T> + Send + 'static,
    ) -> Result<Option<T>> {
        let has_begun = Arc::new(AtomicBool::new(false));
        let begun = Arc::clone(&has_begun);
        let flow = flow!(session => {
            begun.store(true, Ordering::SeqCst);
            flow(session).await.map(Some)
        });
        match (Call { deadline, ..self.begin() }).run(Vec::new(), flow).await {
            Err(error)
                if error.kind() == Kind::Timeout
                    && !has_begun.load(Ordering::SeqCst)
                    && deadline.is_some_and(|deadline| tokio::time::Instant::now() >= deadline) =>
            {
                Ok(None)
            }
            result => result,
        }
    }

    /// Begins an operation of several parts. Others may use the connection in between.
    pub(crate) fn begin(&self) -> Call {
        self.call(Operation::new())
    }

    fn call(&self, operation: Operation) -> Call {
        Call {
            session: Arc::clone(&self.session),
            blocks: self.blocks,
            entry: Arc::new(self.underway.enter(&operation)),
            operation,
            underway: self.underway.clone(),
            deadline: None,
            noted: Arc::clone(&self.noted),
            after: Arc::clone(&self.after),
        }
    }

    pub(crate) fn is_failed(&self) -> bool {
        self.noted.is_failed()
    }

    /// Whether the socket still works, without waiting for an operation that uses it.
    pub(crate) fn is_alive(&self) -> bool {
        match self.session.try_lock() {
            Ok(mut session) => {
                let is_alive = session.backend.is_alive();
                self.noted.note(&session);
                is_alive
            }
            Err(_) => !self.is_failed(),
        }
    }

    pub(crate) fn cancel_handle(&self) -> CancelHandle {
        CancelHandle { underway: self.underway.clone() }
    }
}

impl Drop for Shared {
    /// Without a runtime the socket is closed, which ends whatever the server has open for it.
    fn drop(&mut self) {
        self.discard(flow!(session => session.close().await));
    }
}

/// An operation of a connection, in one or more parts.
pub(crate) struct Call {
    session: Arc<tokio::sync::Mutex<Box<AsyncSession>>>,
    blocks: bool,
    operation: Operation,
    entry: Arc<Entry>,
    underway: Underway,
    /// When it shall have got its turn.
    deadline: Option<tokio::time::Instant>,
    noted: Arc<Noted>,
    after: Arc<Afterwards>,
}

impl Call {
    /// Runs a part of it at the expense of `meters`, unless it is cancelled. Dropping the future cancels the operation.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        meters: Vec<Meter>,
        flow: impl for<'a> FnOnce(&'a mut AsyncSession) -> Flow<'a, T> + Send + 'static,
    ) -> Result<T> {
        self.operation.check()?;
        self.spawn(meters, true, flow).await
    }

    /// Runs its last part, even if it is cancelled.
    pub(crate) async fn finish<T: Send + 'static>(
        &self,
        meters: Vec<Meter>,
        flow: impl for<'a> FnOnce(&'a mut AsyncSession) -> Flow<'a, T> + Send + 'static,
    ) -> Result<T> {
        self.spawn(meters, false, flow).await
    }

    async fn spawn<T: Send + 'static>(
        &self,
        meters: Vec<Meter>,
        can_be_refused: bool,
        flow: impl for<'a> FnOnce(&'a mut AsyncSession) -> Flow<'a, T> + Send + 'static,
    ) -> Result<T> {
        let guard = CancelOnDrop(Some(self.operation.clone()));
        let part = self.part(meters);
        // In a task, so that neither a future that is dropped nor one that nobody polls holds up the connection.
        let task = tokio::spawn(part.run(can_be_refused, flow));
        let result = task.await;
        guard.disarm();
        result.unwrap_or_else(|error| Err(of_task(error)))
    }

    fn part(&self, meters: Vec<Meter>) -> Part {
        Part {
            session: Arc::clone(&self.session),
            blocks: self.blocks,
            operation: self.operation.clone(),
            _entry: Arc::clone(&self.entry),
            deadline: self.deadline,
            underway: self.underway.clone(),
            noted: Arc::clone(&self.noted),
            after: Arc::clone(&self.after),
            meters,
        }
    }
}

/// A part of an operation, in the task that runs it.
struct Part {
    session: Arc<tokio::sync::Mutex<Box<AsyncSession>>>,
    blocks: bool,
    operation: Operation,
    _entry: Arc<Entry>,
    underway: Underway,
    deadline: Option<tokio::time::Instant>,
    noted: Arc<Noted>,
    after: Arc<Afterwards>,
    meters: Vec<Meter>,
}

impl Part {
    async fn run<T: Send + 'static>(
        self,
        can_be_refused: bool,
        flow: impl for<'a> FnOnce(&'a mut AsyncSession) -> Flow<'a, T> + Send + 'static,
    ) -> Result<T> {
        let turn = Arc::clone(&self.session).lock_owned();
        let session = match can_be_refused {
            false => turn.await,
            true => tokio::select! {
                biased;
                session = turn => session,
                kind = interruption(&self.operation) => return Err(interrupted(kind, "before its turn")),
                () = until(self.deadline) => return Err(interrupted(Kind::Timeout, "before its turn")),
            },
        };
        let turn = Turn { session, noted: Arc::clone(&self.noted), is_whole: true };
        if self.blocks {
            let work = move || ready(self.run_in(turn, can_be_refused, flow));
            return spawn_blocking(work).await.unwrap_or_else(|error| Err(of_task(error)));
        }
        self.run_in(turn, can_be_refused, flow).await
    }

    async fn run_in<T>(
        self,
        mut turn: Turn,
        can_be_refused: bool,
        flow: impl for<'a> FnOnce(&'a mut AsyncSession) -> Flow<'a, T> + Send + 'static,
    ) -> Result<T> {
        turn.is_whole = false;
        let discarded = mem::take(&mut *lock(&self.after.discarded));
        let mut ended = Ok(());
        for flow in discarded {
            // What cancels this operation does not concern them.
            let closing = Operation::shielded();
            let _entry = self.underway.enter(&closing);
            let entered = turn.session.enter(&closing);
            let closed = flow(&mut turn.session).await;
            let closed = turn.session.leave_operation(entered, &self.meters, closed);
            if let Err(error) = closed {
                tracing::debug!(%error, "closing something failed");
                ended = ended.and(Err(error));
            }
        }
        let entered = turn.session.enter(&self.operation);
        let result = match ended {
            // The error that broke the connection is more specific.
            Err(error) if turn.session.backend.is_failed() => {
                *lock(&self.after.failure) = Some(error.clone());
                Err(error)
            }
            _ => match self.after.failure() {
                Some(error) => Err(Error::new(
                    Kind::Closed,
                    format!("the connection was closed in the background: {error}"),
                )),
                // Whatever comes from here on interrupts the backend.
                None => match self.operation.check() {
                    Err(error) if can_be_refused => Err(error),
                    _ => flow(&mut turn.session).await,
                },
            },
        };
        let result = turn.session.leave_operation(entered, &self.meters, result);
        turn.is_whole = true;
        result
    }
}

/// The right to use the session.
struct Turn {
    session: OwnedMutexGuard<Box<AsyncSession>>,
    noted: Arc<Noted>,
    /// Whether no flow is in the middle of something.
    is_whole: bool,
}

impl Drop for Turn {
    /// A runtime that shuts down drops its tasks wherever they are, and a panic ends them: the next response would
    /// reach the wrong caller.
    fn drop(&mut self) {
        if !self.is_whole {
            self.session.backend.abort();
        }
        self.noted.note(&self.session);
    }
}

/// The error of a result whose last call was given up: what it would have returned is gone.
pub(crate) fn given_up() -> Error {
    Error::new(
        Kind::Cancelled,
        "an earlier call was given up before its end, and its rows with it: run the query again",
    )
}

/// Cancels an operation whose caller has gone.
struct CancelOnDrop(Option<Operation>);

impl CancelOnDrop {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(operation) = &self.0 {
            operation.cancel();
        }
    }
}

/// Waits for a time, or for ever.
async fn until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Waits until an operation should end; returns the reason.
async fn interruption(operation: &Operation) -> Kind {
    let changed = Arc::new(Notify::new());
    let wake: Wake = {
        let changed = Arc::clone(&changed);
        Arc::new(move || changed.notify_one())
    };
    let _listening = operation.listen(&wake);
    loop {
        match operation.interruption() {
            Some(kind) => return kind,
            None => changed.notified().await,
        }
    }
}

/// The error of a task that did not come to its end.
fn of_task(error: JoinError) -> Error {
    match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(_) => {
            Error::new(Kind::Closed, "the runtime was shut down during the call; the connection was closed")
        }
    }
}

/// Sends a dummy packet whenever the connection has been idle for `interval`; never while a call runs.
async fn keep_alive(
    session: Weak<tokio::sync::Mutex<Box<AsyncSession>>>,
    noted: Arc<Noted>,
    interval: Duration,
) {
    let mut idle = Idle::new();
    loop {
        tokio::time::sleep(Idle::step(interval)).await;
        let Some(session) = session.upgrade() else { return };
        match session.try_lock_owned() {
            Ok(session) => {
                // A runtime that shuts down may drop this task in the middle of the packet.
                let mut turn = Turn { session, noted: Arc::clone(&noted), is_whole: false };
                let kept = turn.session.keep_alive(&mut idle, interval).await;
                turn.is_whole = true;
                if !matches!(kept, Ok(true)) {
                    return;
                }
            }
            Err(_) => idle.interrupt(),
        };
    }
}
