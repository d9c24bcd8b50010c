//! The state that a connection and everything made from it share.

use super::call::{Call, of_task};
use super::flow;
use crate::backend::link::tokio::TokioLink;
use crate::backend::{AnyBackend, Backend};
use crate::cancel::{CancelHandle, Operation, Underway};
use crate::config::{Config, KeySource, Target};
use crate::error::{Error, Kind, Result};
use crate::session::Session;
use crate::session::connect::Facts;
use crate::session::idle::Idle;
use crate::stats::{Meter, WireStats};
use crate::warning::Warning;
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

/// A closure as a flow, so that the compiler takes it for one.
pub(crate) fn flow<T, F>(flow: F) -> F
where
    F: for<'a> FnOnce(&'a mut AsyncSession) -> Flow<'a, T> + Send + 'static,
{
    flow
}

/// A flow that nobody waits for.
pub(super) type Discarded = Box<dyn for<'a> FnOnce(&'a mut AsyncSession) -> Flow<'a, ()> + Send>;

/// The session, and facts known without asking it.
pub(crate) struct Shared {
    session: Arc<tokio::sync::Mutex<Box<AsyncSession>>>,
    /// An engine in this process: its calls block.
    blocks: bool,
    underway: Underway,
    pub(crate) facts: Arc<Facts>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) has_firebird4: bool,
    known: Arc<Known>,
}

/// The state at the end of the last operation, and the work that the next one must do first.
#[derive(Default)]
pub(super) struct Known {
    is_failed: AtomicBool,
    wire_stats: Mutex<WireStats>,
    /// The error that broke the connection when nobody waited for it.
    failure: Mutex<Option<Error>>,
    /// Dropped objects: the next operation ends them first, so that their order is that of the program.
    discarded: Mutex<Vec<Discarded>>,
}

impl Known {
    pub(super) fn failure(&self) -> Option<Error> {
        lock(&self.failure).clone()
    }

    pub(super) fn fail(&self, error: &Error) {
        *lock(&self.failure) = Some(error.clone());
    }

    pub(super) fn take_discarded(&self) -> Vec<Discarded> {
        mem::take(&mut lock(&self.discarded))
    }

    pub(super) fn note(&self, session: &AsyncSession) {
        self.is_failed.store(session.backend.is_failed(), Ordering::SeqCst);
        *lock(&self.wire_stats) = session.backend.wire_stats();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(crate) async fn open(config: &Config, create: bool) -> Result<Arc<Self>> {
        let facts = Arc::new(Facts::of(config)?);
        let blocks = matches!(config.target, Target::Embedded { .. });
        let reads_key = matches!(config.db_key, Some(KeySource::Command(_) | KeySource::File(_)));
        let (session, warnings) = match (blocks, reads_key) {
            (false, false) => Session::connect(&facts, create).await?,
            _ => {
                let (facts, runtime) = (Arc::clone(&facts), Handle::current());
                let connect = move || runtime.block_on(Session::connect(&facts, create));
                spawn_blocking(connect).await.unwrap_or_else(|error| Err(of_task(error)))?
            }
        };
        let known = Arc::new(Known::default());
        known.note(&session);
        let has_firebird4 = session.backend.is_firebird4();
        let session = Arc::new(tokio::sync::Mutex::new(Box::new(session)));
        if let (Some(interval), false) = (config.keepalive, blocks) {
            tokio::spawn(keep_alive(Arc::downgrade(&session), interval));
        }
        let underway = Underway::default();
        Ok(Arc::new(Self { session, blocks, underway, facts, warnings, has_firebird4, known }))
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
        lock(&self.known.discarded).push(Box::new(flow));
        if let Ok(runtime) = Handle::try_current() {
            let call = self.call(Operation::shielded());
            runtime.spawn(call.run_here(Vec::new(), false, flow!(_session => Ok(()))));
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
            _entry: Arc::new(self.underway.enter(&operation)),
            operation,
            underway: self.underway.clone(),
            deadline: None,
            known: Arc::clone(&self.known),
        }
    }

    /// The cost of the connection up to the end of the last operation.
    pub(crate) fn wire_stats(&self) -> WireStats {
        *lock(&self.known.wire_stats)
    }

    pub(crate) fn is_failed(&self) -> bool {
        self.known.is_failed.load(Ordering::SeqCst)
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
async fn keep_alive(session: Weak<tokio::sync::Mutex<Box<AsyncSession>>>, interval: Duration) {
    let mut idle = Idle::new();
    loop {
        tokio::time::sleep(Idle::step(interval)).await;
        let Some(session) = session.upgrade() else { return };
        match session.try_lock() {
            Ok(mut session) => {
                if !matches!(session.keep_alive(&mut idle, interval).await, Ok(true)) {
                    return;
                }
            }
            Err(_) => idle.interrupt(),
        };
    }
}
