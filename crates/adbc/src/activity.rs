//! What can be cancelled: the running calls and open streams of a statement, and all of those of a connection.

use crate::error::{Result, context, internal, invalid_state, new, with_sqlstate};
use adbc_core::error::{Error, Status};
use firearrow::CancelHandle;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// How often, and in which distance, a call is interrupted that does not end: it may have been between two packets.
const ATTEMPTS: usize = 10;
const PAUSE: Duration = Duration::from_millis(40);

/// One execution, up to the end of its stream.
#[derive(Debug, Default)]
pub(crate) struct Task {
    /// Threads that are in a call of the client for it.
    running: Mutex<Vec<ThreadId>>,
    cancelled: AtomicBool,
    ended: AtomicBool,
    /// Its time is up.
    late: AtomicBool,
    /// Ends the thread that looks after its time.
    limit: Mutex<Option<Sender<()>>>,
    /// By what it was interrupted. Held by whoever does that, so that it does not end meanwhile and the next one is hit.
    interrupted: Mutex<Option<CancelHandle>>,
}

impl Task {
    /// Runs a call of the client, unless the task is cancelled.
    pub(crate) fn run<T>(&self, call: impl FnOnce() -> Result<T>) -> Result<T> {
        self.check()?;
        let _running = self.enter();
        call().map_err(|error| {
            let is_late = error.status == Status::Cancelled && self.late.load(Ordering::SeqCst);
            if is_late { of_late(error) } else { error }
        })
    }

    /// Runs what must not be interrupted in the middle of [`run`](Self::run): nobody cancels this thread meanwhile.
    pub(crate) fn spared<T>(&self, call: impl FnOnce() -> T) -> T {
        drop(Running(self, thread::current().id()));
        let result = call();
        // `run` ends what goes on from here.
        mem::forget(self.enter());
        result
    }

    /// From here on this thread works for it, and can be interrupted.
    pub(crate) fn enter(&self) -> Running<'_> {
        let thread = thread::current().id();
        self.running().push(thread);
        Running(self, thread)
    }

    /// Fails once the task is cancelled, or its time is up.
    pub(crate) fn check(&self) -> Result<()> {
        match self.cancelled.load(Ordering::SeqCst) {
            true if self.late.load(Ordering::SeqCst) => Err(late()),
            true => Err(cancelled()),
            false => Ok(()),
        }
    }

    /// There is nothing to cancel any more.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        self.unlimit();
    }

    /// It may take as long as it takes.
    pub(crate) fn unlimit(&self) {
        *self.limit.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Interrupts it when this time is up: for what the engine has no time limit for, since it is many calls.
    pub(crate) fn limit(self: &Arc<Self>, time: Duration, handle: CancelHandle) -> Result<()> {
        let (sender, receiver) = channel();
        let task = Arc::downgrade(self);
        let watch = move || {
            // Otherwise the sender has gone, and the task with it.
            if receiver.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
                && let Some(task) = task.upgrade()
            {
                task.late.store(true, Ordering::SeqCst);
                // It fails by itself at the latest when it looks.
                let _ = task.stop(&handle);
            }
        };
        let thread = thread::Builder::new().name("firearrow-limit".into()).spawn(watch);
        thread.map_err(|error| internal(format!("no thread to look after the time: {error}")))?;
        *self.limit.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        Ok(())
    }

    fn running(&self) -> MutexGuard<'_, Vec<ThreadId>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn interrupted(&self) -> MutexGuard<'_, Option<CancelHandle>> {
        self.interrupted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cancels it, and interrupts it as long as it runs, for a while.
    pub(crate) fn stop(&self, handle: &CancelHandle) -> Result<()> {
        stop(&[self], handle)
    }

    /// Interrupts it; `false` if it is not running. What other threads do with the connection goes on.
    fn interrupt(&self, handle: &CancelHandle) -> Result<bool> {
        let mut interrupted = self.interrupted();
        let running = self.running().clone();
        for &thread in &running {
            handle.cancel_thread(thread).map_err(crate::error::of)?;
            *interrupted = Some(handle.clone());
        }
        Ok(!running.is_empty())
    }
}

/// A call that has not returned; also by a panic.
pub(crate) struct Running<'a>(&'a Task, ThreadId);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let Self(task, thread) = self;
        let interrupted = task.interrupted();
        let mut running = task.running();
        if let Some(last) = running.iter().rposition(|other| other == thread) {
            running.swap_remove(last);
        }
        if let Some(handle) = &*interrupted {
            handle.spare_thread(*thread);
        }
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

    /// Cancels all tasks, and interrupts those that run.
    ///
    /// # Errors
    /// INVALID_STATE if there is none.
    pub(crate) fn cancel(&self, handle: &CancelHandle) -> Result<()> {
        let tasks: Vec<Arc<Task>> = {
            let tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let live = tasks.iter().filter_map(Weak::upgrade);
            live.filter(|task| !task.ended.load(Ordering::SeqCst)).collect()
        };
        if tasks.is_empty() {
            return Err(invalid_state("there is nothing to cancel"));
        }
        stop(&tasks.iter().map(Arc::as_ref).collect::<Vec<_>>(), handle)
    }
}

/// Cancels the tasks, and interrupts those that run.
fn stop(tasks: &[&Task], handle: &CancelHandle) -> Result<()> {
    for task in tasks {
        task.cancelled.store(true, Ordering::SeqCst);
    }
    for _ in 0..ATTEMPTS {
        let mut running = false;
        for task in tasks {
            running |= task.interrupt(handle)?;
        }
        if !running {
            break;
        }
        thread::sleep(PAUSE);
    }
    Ok(())
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
pub(crate) struct Canceller {
    pub(crate) activity: Arc<Activity>,
    pub(crate) handle: CancelHandle,
}

impl adbc_core::CancelHandle for Canceller {
    fn try_cancel(&self) -> Result<()> {
        crate::panic::contain(|| (), || self.activity.cancel(&self.handle))
    }
}
