//! The calls that use a connection, which its end waits for.

use crate::lock::plain;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// How often calls that delay the end are cancelled again: they may have been between two requests.
const AGAIN: Duration = Duration::from_millis(50);

/// The calls of all threads.
#[derive(Default)]
pub(crate) struct Calls {
    threads: Mutex<Vec<ThreadId>>,
    one_ended: Condvar,
    is_closing: AtomicBool,
}

/// What is left after waiting for calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Nothing,
    /// Calls of the thread that waited: of a signal handler or an iterator that runs within them.
    Own,
    /// Calls that cancelling did not end in time.
    Others,
}

impl Calls {
    /// Begins a call; `None` once the connection ends.
    pub(crate) fn enter(&self) -> Option<Call<'_>> {
        let mut threads = self.lock();
        if self.is_closing() {
            return None;
        }
        threads.push(thread::current().id());
        Some(Call(self))
    }

    /// Whether no call can begin any more.
    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::SeqCst)
    }

    /// Lets no further call begin. Returns whether this is the first request to.
    pub(super) fn refuse(&self) -> bool {
        let _threads = self.lock();
        !self.is_closing.swap(true, Ordering::SeqCst)
    }

    /// Waits for the calls of other threads, with `cancel` again and again.
    pub(super) fn wait(&self, limit: Duration, cancel: impl Fn()) -> Left {
        let own = thread::current().id();
        let since = Instant::now();
        let mut threads = self.lock();
        while threads.iter().any(|thread| *thread != own) {
            if since.elapsed() > limit {
                return Left::Others;
            }
            cancel();
            threads = self.one_ended.wait_timeout(threads, AGAIN).unwrap_or_else(PoisonError::into_inner).0;
        }
        if threads.is_empty() { Left::Nothing } else { Left::Own }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ThreadId>> {
        plain(&self.threads)
    }
}

/// A call, which ends when this is dropped.
pub(crate) struct Call<'a>(&'a Calls);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        let own = thread::current().id();
        let mut threads = self.0.lock();
        if let Some(index) = threads.iter().rposition(|thread| *thread == own) {
            threads.swap_remove(index);
        }
        drop(threads);
        if self.0.is_closing() {
            self.0.one_ended.notify_all();
        }
    }
}
