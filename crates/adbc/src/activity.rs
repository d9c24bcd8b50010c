//! What can be cancelled: the running calls and open streams of a statement, and all of those of a connection.

use crate::error::{Result, context, invalid_state, new, with_sqlstate};
use adbc_core::error::{Error, Status};
use firearrow::CancelToken;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// One execution, up to the end of its stream.
#[derive(Debug, Default)]
pub(crate) struct Task {
    token: CancelToken,
    /// Somebody cancelled it. Otherwise a token that is cancelled has run out of time.
    cancelled: AtomicBool,
    ended: AtomicBool,
}

impl Task {
    /// Runs calls of the client, unless the task is cancelled.
    pub(crate) fn run<T>(&self, call: impl FnOnce() -> Result<T>) -> Result<T> {
        self.check()?;
        self.token.run(call).map_err(|error| match error.status {
            Status::Cancelled if !self.is_cancelled() && self.token.is_cancelled() => of_late(error),
            _ => error,
        })
    }

    /// Runs `call`, which may be interrupted, even if the task is cancelled.
    pub(crate) fn finish<T>(&self, call: impl FnOnce() -> T) -> T {
        self.token.run(call)
    }

    /// Runs what must not be interrupted in the middle of [`run`](Self::run).
    pub(crate) fn spared<T>(call: impl FnOnce() -> T) -> T {
        CancelToken::shield(call)
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    /// Fails once the task is cancelled, or its time is up.
    pub(crate) fn check(&self) -> Result<()> {
        match self.token.is_cancelled() {
            true if self.is_cancelled() => Err(cancelled()),
            true => Err(late()),
            false => Ok(()),
        }
    }

    /// There is nothing to cancel any more.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        self.limit(None);
    }

    /// Interrupts it when this time is up: for what the engine has no time limit for, since it is many calls.
    pub(crate) fn limit(&self, time: Option<Duration>) {
        self.token.set_time_limit(time);
    }

    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        self.token.cancel();
    }
}

/// The tasks of a statement or a connection.
#[derive(Debug, Default)]
pub(crate) struct Activity(Mutex<Vec<Weak<Task>>>);

impl Activity {
    /// Begins a task, which belongs to all of these.
    pub(crate) fn begin(places: &[&Self]) -> Arc<Task> {
        let task = Arc::new(Task::default());
        for place in places {
            let mut tasks = place.0.lock().unwrap_or_else(PoisonError::into_inner);
            tasks.retain(|task| task.upgrade().is_some_and(|task| !task.ended.load(Ordering::SeqCst)));
            tasks.push(Arc::downgrade(&task));
        }
        task
    }

    /// Cancels all tasks.
    ///
    /// # Errors
    /// INVALID_STATE if there is none.
    pub(crate) fn cancel(&self) -> Result<()> {
        let tasks: Vec<Arc<Task>> = {
            let tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let live = tasks.iter().filter_map(Weak::upgrade);
            live.filter(|task| !task.ended.load(Ordering::SeqCst)).collect()
        };
        if tasks.is_empty() {
            return Err(invalid_state("there is nothing to cancel"));
        }
        tasks.iter().for_each(|task| task.cancel());
        Ok(())
    }
}

/// What a cancelled call fails with where the engine says nothing.
fn cancelled() -> Error {
    with_sqlstate(new(Status::Cancelled, "cancelled"), "HY008")
}

fn late() -> Error {
    of_late(cancelled())
}

/// What was cancelled because its time is up. Its details stay, such as what became of a commit.
fn of_late(error: Error) -> Error {
    let error = context(Error { status: Status::Timeout, ..error }, "the time of the execution is up");
    with_sqlstate(error, "HYT00")
}

/// What the C functions keep to cancel from other threads.
pub(crate) struct Canceller(pub(crate) Arc<Activity>);

impl adbc_core::CancelHandle for Canceller {
    fn try_cancel(&self) -> Result<()> {
        crate::panic::contain(|| (), || self.0.cancel())
    }
}
