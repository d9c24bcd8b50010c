//! Cancellable work: the running calls and open results of a statement, and all of those of a session.

use crate::error::{Error, Result};
use firearrow::CancelToken;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// One execution, up to the end of its result.
#[derive(Debug, Default)]
pub struct Task {
    token: CancelToken,
    /// Set by [`cancel`](Self::cancel). Without it a cancelled token has run out of time.
    cancelled: AtomicBool,
    ended: AtomicBool,
}

impl Task {
    /// Runs calls of the client, which end when the task is cancelled or its time is up.
    ///
    /// # Errors
    /// Those of `call`; [`Class::Cancelled`](crate::Class::Cancelled) or [`Class::Timeout`](crate::Class::Timeout) at once
    /// if the task is cancelled already.
    pub fn run<T>(&self, call: impl FnOnce() -> Result<T>) -> Result<T> {
        self.check()?;
        self.token.run(call).map_err(|error| {
            let is_timeout = error.is_cancelled() && !self.is_cancelled() && self.token.is_cancelled();
            if is_timeout { error.into_timeout() } else { error }
        })
    }

    /// Runs `call`, which may be interrupted, even if the task is cancelled already.
    pub(crate) fn finish<T>(&self, call: impl FnOnce() -> T) -> T {
        self.token.run(call)
    }

    /// Runs what must not be interrupted within [`run`](Self::run).
    pub fn spared<T>(call: impl FnOnce() -> T) -> T {
        CancelToken::shield(call)
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    /// Fails once the task is cancelled, or its time is up.
    ///
    /// # Errors
    /// [`Class::Cancelled`](crate::Class::Cancelled) or [`Class::Timeout`](crate::Class::Timeout).
    pub fn check(&self) -> Result<()> {
        match self.token.is_cancelled() {
            true if self.is_cancelled() => Err(Error::cancelled()),
            true => Err(Error::cancelled().into_timeout()),
            false => Ok(()),
        }
    }

    /// There is nothing to cancel any more.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        self.limit(None);
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Interrupts the task when this time is up: an execution may be many calls, for which the engine has no time limit.
    pub fn limit(&self, time: Option<Duration>) {
        self.token.set_time_limit(time);
    }

    /// Cancels the task, from any thread.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        self.token.cancel();
    }
}

/// The tasks of a statement or a session.
#[derive(Debug, Default)]
pub struct Activity(Mutex<Vec<Weak<Task>>>);

impl Activity {
    /// Begins a task that each of these can cancel.
    pub fn begin(places: &[&Self]) -> Arc<Task> {
        let task = Arc::new(Task::default());
        for place in places {
            let mut tasks = place.0.lock().unwrap_or_else(PoisonError::into_inner);
            tasks.retain(|task| task.upgrade().is_some_and(|task| !task.has_ended()));
            tasks.push(Arc::downgrade(&task));
        }
        task
    }

    /// Cancels all tasks, from any thread. Returns whether there were any.
    pub fn cancel(&self) -> bool {
        let tasks: Vec<Arc<Task>> = {
            let tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            tasks.iter().filter_map(Weak::upgrade).filter(|task| !task.has_ended()).collect()
        };
        tasks.iter().for_each(|task| task.cancel());
        !tasks.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Class;

    #[test]
    fn a_cancelled_task_and_a_late_one_fail_differently() {
        let (cancelled, late) = (Task::default(), Task::default());
        cancelled.cancel();
        late.limit(Some(Duration::ZERO));
        for (task, class, sqlstate) in
            [(&cancelled, Class::Cancelled, "HY008"), (&late, Class::Timeout, "HYT00")]
        {
            let error = task.run(|| Ok(())).expect_err("it is over");
            assert_eq!((error.class(), error.sqlstate()), (class, Some(sqlstate)));
        }
        // Both causes of an interruption look the same.
        let task = Task::default();
        let interrupted = task.run(|| {
            task.limit(Some(Duration::ZERO));
            Err::<(), _>(Error::cancelled())
        });
        assert_eq!(interrupted.expect_err("its time is up").class(), Class::Timeout);
    }

    #[test]
    fn an_activity_cancels_what_goes_on() {
        let (statement, session) = (Activity::default(), Activity::default());
        assert!(!statement.cancel());
        let (one, other) = (Activity::begin(&[&statement, &session]), Activity::begin(&[&session]));
        one.end();
        assert!(!statement.cancel() && session.cancel());
        assert!(one.check().is_ok() && other.check().is_err());
        drop(other);
        assert!(!session.cancel());
    }
}
