//! The state that a connection and everything made from it share.

use super::call::{Call, Turn, of_task};
use super::flow;
use crate::backend::AnyBackend;
use crate::backend::link::tokio::TokioLink;
use crate::cancel::{CancelHandle, Operation, Underway};
use crate::config::{Config, Target};
use crate::error::{Error, Kind, Result};
use crate::session::connect::Facts;
use crate::session::idle::Idle;
use crate::session::noted::Noted;
use crate::session::{Session, ready};
use crate::stats::Meter;
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

/// A session over a link that waits in the runtime.
pub(crate) type AsyncSession = Session<AnyBackend<TokioLink>>;

/// A flow that is under way.
pub(crate) type Flow<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// What begins a flow. Boxed, so that the code that runs flows is compiled once for each type of result, not for each flow (decision 48).
pub(crate) type Work<T> = Box<dyn for<'a> FnOnce(&'a mut AsyncSession) -> Flow<'a, T> + Send>;

/// Boxes the closure; the bound makes the compiler infer the lifetimes of a flow.
pub(crate) fn flow<T, F>(flow: F) -> Work<T>
where
    F: for<'a> FnOnce(&'a mut AsyncSession) -> Flow<'a, T> + Send + 'static,
{
    Box::new(flow)
}

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
pub(super) struct Afterwards {
    /// The error that broke the connection when nobody waited for it.
    failure: Mutex<Option<Error>>,
    /// Dropped objects: the next operation ends them first, so that their order is that of the program.
    discarded: Mutex<Vec<Work<()>>>,
}

impl Afterwards {
    pub(super) fn failure(&self) -> Option<Error> {
        lock(&self.failure).clone()
    }

    pub(super) fn fail(&self, error: &Error) {
        *lock(&self.failure) = Some(error.clone());
    }

    pub(super) fn take_discarded(&self) -> Vec<Work<()>> {
        mem::take(&mut lock(&self.discarded))
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
    pub(crate) async fn run<T: Send + 'static>(&self, flow: Work<T>) -> Result<T> {
        self.begin().run(Vec::new(), flow).await
    }

    /// Like [`run`](Self::run), and adds the cost to `meters`.
    pub(crate) async fn metered<T: Send + 'static>(&self, meters: Vec<Meter>, flow: Work<T>) -> Result<T> {
        self.begin().run(meters, flow).await
    }

    /// Closes something, even if the operation is cancelled already; but its wait for the server can be cancelled.
    pub(crate) async fn finish<T: Send + 'static>(&self, meters: Vec<Meter>, flow: Work<T>) -> Result<T> {
        self.begin().finish(meters, flow).await
    }

    /// Ends something that the caller has given up, whatever is cancelled.
    pub(crate) async fn release<T: Send + 'static>(&self, flow: Work<T>) -> Result<T> {
        self.call(Operation::shielded()).finish(Vec::new(), flow).await
    }

    /// [`release`](Self::release) in a destructor: before the next call, whenever that comes, or in the background.
    pub(crate) fn discard(&self, flow: Work<()>) {
        if self.is_failed() {
            return;
        }
        lock(&self.after.discarded).push(flow);
        if let Ok(runtime) = Handle::try_current() {
            let call = self.call(Operation::shielded());
            runtime.spawn(call.run_here(Vec::new(), false, flow!(_session => Ok(()))));
        }
    }

    /// Runs a flow; returns `None` if others keep the connection busy until `deadline`.
    pub(crate) async fn run_until<T: Send + 'static>(
        &self,
        deadline: Option<tokio::time::Instant>,
        flow: Work<T>,
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
            _entry: Arc::new(self.underway.enter(operation.clone())),
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
            Ok(mut session) => self.noted.look_at(&mut session),
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
                let mut turn = Turn::new(session, &noted);
                // A runtime that shuts down may drop this task in the middle of the packet.
                turn.is_whole = false;
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
