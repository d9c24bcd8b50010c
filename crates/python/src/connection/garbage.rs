//! Parts of a connection that were dropped without being closed. Ending them may wait for the server, or for another thread that
//! uses the connection, and whoever drops them must not wait: it may be the garbage collector, which has Python's lock.

use super::Shared;
use crate::lock::{GLANCE, plain};
use firearrow::CancelToken;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// How long parts that hold no locks wait for the next call of their connection, which ends them at little cost. Nobody waits for
/// them, but what a program has dropped must not stay on the server while it does something else.
const LATER: Duration = Duration::from_millis(50);
/// How long the thread that otherwise ends them waits for more.
const IDLE: Duration = Duration::from_secs(1);

type End = Box<dyn FnOnce() + Send>;

/// Whether others may be waiting for the end of a part: those blocked by its locks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hurry {
    Yes,
    No,
}

/// The parts of one connection that are still to be ended.
#[derive(Default)]
pub(super) struct Garbage {
    heap: Mutex<Heap>,
    added: Condvar,
    /// Told when none are left.
    ended: Condvar,
    /// Locked by whoever ends parts, so that nobody overtakes that.
    ending: Mutex<()>,
    /// Parts that have not ended yet.
    count: AtomicUsize,
}

#[derive(Default)]
struct Heap {
    ends: Vec<End>,
    is_urgent: bool,
    has_thread: bool,
}

impl Garbage {
    pub(super) fn is_empty(&self) -> bool {
        self.count.load(Ordering::SeqCst) == 0
    }

    /// Ends all of them, if nobody else is doing it and the connection is idle; otherwise the thread does, and the call waits for
    /// it like for anything else: it can be cancelled. `is_busy`: whether another call may be using the connection.
    fn settle(&self, is_busy: impl Fn() -> bool) -> firearrow::Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let mut heap = plain(&self.heap);
        while !self.is_empty() {
            let is_for_thread = heap.has_thread && (heap.is_urgent || is_busy());
            if !is_for_thread && let Some(alone) = self.try_alone() {
                drop(heap);
                self.end_all(&alone);
                return Ok(());
            }
            heap.is_urgent = true;
            self.added.notify_one();
            drop(heap);
            // It may wait for Python's lock, whose holder may be adding a part.
            CancelToken::check()?;
            heap = plain(&self.heap);
            if !self.is_empty() {
                heap = self.ended.wait_timeout(heap, GLANCE).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        Ok(())
    }

    /// Ends all of them. Waits for those that another thread is ending.
    pub(super) fn clear(&self) {
        if !self.is_empty() {
            self.end_all(&plain(&self.ending));
        }
    }

    fn try_alone(&self) -> Option<MutexGuard<'_, ()>> {
        match self.ending.try_lock() {
            Ok(alone) => Some(alone),
            Err(TryLockError::Poisoned(alone)) => Some(alone.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn end_all(&self, _alone: &MutexGuard<'_, ()>) {
        loop {
            let mut heap = plain(&self.heap);
            heap.is_urgent = false;
            let ends = mem::take(&mut heap.ends);
            drop(heap);
            if ends.is_empty() {
                return self.ended.notify_all();
            }
            for end in ends {
                end();
                self.count.fetch_sub(1, Ordering::SeqCst);
            }
        }
    }

    /// Notes that the background thread has ended.
    fn leave(&self) {
        plain(&self.heap).has_thread = false;
        self.ended.notify_all();
    }

    /// Adds a part. Returns whether a thread is needed.
    fn add(&self, end: End, hurry: Hurry) -> bool {
        self.count.fetch_add(1, Ordering::SeqCst);
        let mut heap = plain(&self.heap);
        heap.ends.push(end);
        if hurry == Hurry::Yes {
            heap.is_urgent = true;
            self.added.notify_one();
        }
        !mem::replace(&mut heap.has_thread, true)
    }

    /// Waits until parts are to be ended. Returns whether the thread goes on.
    fn wait(&self) -> bool {
        let since = Instant::now();
        let mut heap = plain(&self.heap);
        loop {
            let waiting = |heap: &mut Heap| !heap.is_urgent;
            let waited = self.added.wait_timeout_while(heap, LATER, waiting);
            heap = waited.unwrap_or_else(PoisonError::into_inner).0;
            if !heap.ends.is_empty() {
                return true;
            }
            if since.elapsed() > IDLE {
                heap.has_thread = false;
                return false;
            }
        }
    }
}

impl Shared {
    /// Ends what was dropped before a call, so that it does not come after that, unless the call is cancelled meanwhile.
    pub(crate) fn end_dropped(&self) -> firearrow::Result<()> {
        self.garbage.settle(|| !self.facts.cancel.is_idle())
    }

    /// Drops part of the connection, which `end` ends, now or later. Never waits.
    pub(crate) fn discard(self: &Arc<Self>, hurry: Hurry, end: impl FnOnce() + Send + 'static) {
        if !self.facts.is_owner_process() {
            // Not a byte may go to the server from here.
            return mem::forget(end);
        }
        if !self.garbage.add(Box::new(end), hurry) {
            return;
        }
        let (garbage, shared) = (Arc::clone(&self.garbage), Arc::downgrade(self));
        let started = thread::Builder::new().name("firearrow drop".into()).spawn(move || {
            while garbage.wait() {
                if !clear(&garbage, &shared) {
                    return garbage.leave();
                }
            }
        });
        if started.is_err() {
            // The next call ends it, or the end of the connection.
            self.garbage.leave();
        }
    }
}

/// Ends parts, as a call of the connection; `false` once that ends, and with it what is left.
fn clear(garbage: &Garbage, shared: &Weak<Shared>) -> bool {
    let Some(shared) = shared.upgrade() else { return false };
    let Some(_call) = shared.calls.enter() else { return false };
    garbage.clear();
    true
}
