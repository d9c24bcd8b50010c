//! A call: an operation that runs in tasks of the runtime, with the right to use the session for as long as it needs it.

use super::shared::{Afterwards, AsyncSession, Work};
use crate::backend::Backend;
use crate::backend::link::reactor;
use crate::cancel::{Entry, Operation, Underway, Wake, interrupted};
use crate::error::{Error, Kind, Result};
use crate::session::noted::Noted;
use crate::session::ready;
use crate::stats::Meter;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedMutexGuard};
use tokio::task::{JoinError, spawn_blocking};

/// A part of an operation that is under way. It puts its result into a slot; its type names neither the flow nor the result, so that
/// it is compiled once (see [`Work`]).
type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where a part of an operation puts its result.
type Slot<T> = Arc<Mutex<Option<Result<T>>>>;

/// Takes the result. There is none only if the part has panicked, which its caller has seen by then.
fn taken<T>(slot: &Slot<T>) -> Option<Result<T>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn put<T>(slot: &Slot<T>, result: Result<T>) {
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
}

/// An operation of a connection, in one or more parts. Clones are the same operation.
#[derive(Clone)]
pub(crate) struct Call {
    pub(super) session: Arc<tokio::sync::Mutex<Box<AsyncSession>>>,
    /// Whether the calls of the backend block.
    pub(super) blocks: bool,
    pub(super) operation: Operation,
    pub(super) _entry: Arc<Entry>,
    pub(super) underway: Underway,
    /// Deadline for getting its turn.
    pub(super) deadline: Option<tokio::time::Instant>,
    pub(super) noted: Arc<Noted>,
    pub(super) after: Arc<Afterwards>,
}

impl Call {
    /// Runs a part of it at the expense of `meters`, unless it is cancelled. Dropping the future cancels the operation.
    pub(crate) async fn run<T: Send + 'static>(&self, meters: Vec<Meter>, flow: Work<T>) -> Result<T> {
        self.operation.check()?;
        self.spawn(meters, true, flow).await
    }

    /// Runs its last part, even if it is cancelled.
    pub(crate) async fn finish<T: Send + 'static>(&self, meters: Vec<Meter>, flow: Work<T>) -> Result<T> {
        self.spawn(meters, false, flow).await
    }

    async fn spawn<T: Send + 'static>(
        &self,
        meters: Vec<Meter>,
        can_be_refused: bool,
        flow: Work<T>,
    ) -> Result<T> {
        let guard = CancelOnDrop(Some(self.operation.clone()));
        let slot = Slot::default();
        let run: Running = {
            let (slot, run) = (Arc::clone(&slot), self.clone().run_here(meters, can_be_refused, flow));
            Box::pin(async move { put(&slot, run.await) })
        };
        let ended = match reactor::is_within() {
            // Whoever has brought an event loop polls what it has begun.
            true => {
                Here(Some(run)).await;
                Ok(())
            }
            // In a task, so that neither a future that is dropped nor one that nobody polls holds up the connection.
            false => tokio::spawn(run).await.map_err(of_task),
        };
        guard.disarm();
        ended.and_then(|()| taken(&slot).unwrap_or_else(|| Err(given_up())))
    }

    /// Runs a part of it in the task that calls this.
    pub(super) async fn run_here<T: Send + 'static>(
        self,
        meters: Vec<Meter>,
        can_be_refused: bool,
        flow: Work<T>,
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
        let turn = Turn::new(session, &self.noted);
        if self.blocks {
            let slot = Slot::default();
            let work: Box<dyn FnOnce() + Send> = {
                let slot = Arc::clone(&slot);
                Box::new(move || put(&slot, ready(self.run_in(turn, &meters, can_be_refused, flow))))
            };
            spawn_blocking(work).await.map_err(of_task)?;
            return taken(&slot).unwrap_or_else(|| Err(given_up()));
        }
        self.run_in(turn, &meters, can_be_refused, flow).await
    }

    async fn run_in<T>(
        self,
        mut turn: Turn,
        meters: &[Meter],
        can_be_refused: bool,
        flow: Work<T>,
    ) -> Result<T> {
        turn.is_whole = false;
        let mut ended = Ok(());
        for flow in self.after.take_discarded() {
            // What cancels this operation does not concern them.
            let entry = self.underway.enter(Operation::shielded());
            let entered = turn.session.enter(entry.operation());
            let closed = flow(&mut turn.session).await;
            let closed = turn.session.leave_operation(entered, meters, closed);
            if let Err(error) = closed {
                tracing::debug!(%error, "closing something failed");
                ended = ended.and(Err(error));
            }
        }
        let entered = turn.session.enter(&self.operation);
        let result = match ended {
            // The error that broke the connection is more specific.
            Err(error) if turn.session.backend.is_failed() => {
                self.after.fail(&error);
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
        let result = turn.session.leave_operation(entered, meters, result);
        turn.is_whole = true;
        result
    }
}

/// The right to use the session.
pub(super) struct Turn {
    pub(super) session: OwnedMutexGuard<Box<AsyncSession>>,
    noted: Arc<Noted>,
    /// Whether no flow is in the middle of something.
    pub(super) is_whole: bool,
}

impl Turn {
    pub(super) fn new(session: OwnedMutexGuard<Box<AsyncSession>>, noted: &Arc<Noted>) -> Self {
        Self { session, noted: Arc::clone(noted), is_whole: true }
    }
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
pub(super) fn given_up() -> Error {
    Error::new(
        Kind::Cancelled,
        "an earlier call was given up before its end, and its rows with it: run the query again",
    )
}

/// A part of an operation that runs in the task of its caller. Should that be dropped, the rest of it runs in one of its own, so that
/// the connection remains usable.
struct Here(Option<Running>);

impl Future for Here {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // After a panic there is no rest.
        let Some(mut run) = self.0.take() else { return Poll::Ready(()) };
        let polled = run.as_mut().poll(context);
        if polled.is_pending() {
            self.0 = Some(run);
        }
        polled
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        if let (Some(run), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(run);
        }
    }
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
pub(super) fn of_task(error: JoinError) -> Error {
    match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(_) => {
            Error::new(Kind::Closed, "the runtime was shut down during the call; the connection was closed")
        }
    }
}
