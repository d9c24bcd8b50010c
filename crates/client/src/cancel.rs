//! Interrupting a running call from another thread.

use crate::error::Result;
#[cfg(feature = "embedded")]
use firearrow_fbapi::{CancelKind, Canceller};
#[cfg(feature = "embedded")]
use firearrow_proto::api::gds;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// Whether somebody wants the running call to end. The thread that waits for the server looks at it: only that one may
/// write to the connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signal(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// The running call shall end, whosever it is.
    is_set: AtomicBool,
    calls: Mutex<Calls>,
    /// Threads that are marked in there; a look at it is cheap.
    marks: AtomicUsize,
}

/// Whose calls shall end.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// The thread of the last call; it may be over.
    caller: Option<ThreadId>,
    /// Threads whose call shall end; and whether it waits to begin or to go on, because that of another one is running.
    marked: Vec<(ThreadId, bool)>,
    /// The engine, which looks at no flag, was told to interrupt, and may not have noticed.
    #[cfg(feature = "embedded")]
    pub(crate) is_engine_told: bool,
}

impl Calls {
    /// The call of this thread is the one that runs, and the one that it was waiting for.
    fn enter(&mut self) {
        let this = thread::current().id();
        self.caller = Some(this);
        for (thread, waits) in &mut self.marked {
            *waits &= *thread != this;
        }
    }

    fn is_marked(&self) -> bool {
        self.marked.contains(&(thread::current().id(), false))
    }
}

impl Signal {
    /// A call of this thread begins. What was said of earlier ones is over.
    pub(crate) fn begin(&self) {
        self.0.is_set.store(false, Ordering::SeqCst);
        let mut calls = self.calls();
        let this = thread::current().id();
        calls.marked.retain(|mark| *mark != (this, false));
        self.count(&calls);
        calls.enter();
    }

    /// A call of this thread goes on. Nobody tells the engine anything as long as the guard lives.
    pub(crate) fn resume(&self) -> MutexGuard<'_, Calls> {
        let mut calls = self.calls();
        calls.enter();
        calls
    }

    /// Whether the call of this thread shall end.
    pub(crate) fn is_set(&self) -> bool {
        self.0.is_set.load(Ordering::Relaxed)
            || self.0.marks.load(Ordering::Relaxed) > 0 && self.calls().is_marked()
    }

    /// [`is_set`](Self::is_set), for who holds the guard.
    #[cfg(feature = "embedded")]
    pub(crate) fn is_set_in(&self, calls: &Calls) -> bool {
        self.0.is_set.load(Ordering::SeqCst) || calls.is_marked()
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, calls: &Calls) {
        self.0.marks.store(calls.marked.len(), Ordering::SeqCst);
    }
}

/// Interrupts what its connection is doing; may be used from any thread. It does not keep the connection open.
///
/// The interrupted call fails with [`Kind::Cancelled`](crate::Kind::Cancelled). The statement can be run again, and the
/// transaction goes on. Servers cannot be interrupted while another request waits behind the running one, as the question
/// for its counts does behind an UPDATE; then the connection is closed after two seconds, which ends the statement, and
/// [`is_failed`](crate::Connection::is_failed) tells. Where nothing is running, nothing happens, not even to the next call.
#[derive(Clone)]
pub struct CancelHandle {
    pub(crate) signal: Signal,
    /// Engines notice only what comes while they work, and not what comes between two rows.
    #[cfg(feature = "embedded")]
    pub(crate) engine: Option<Canceller>,
}

impl CancelHandle {
    /// Interrupts the running call, if there is one. Returns at once.
    pub fn cancel(&self) -> Result<()> {
        let calls = self.signal.calls();
        self.signal.0.is_set.store(true, Ordering::SeqCst);
        self.tell_engine(calls)
    }

    /// Interrupts the call of this thread, or the one that it waits to begin. A connection that several threads share does
    /// their calls one after the other; those of others are not interrupted. Returns at once.
    pub fn cancel_thread(&self, thread: ThreadId) -> Result<()> {
        let mut calls = self.signal.calls();
        let waits = calls.caller != Some(thread);
        calls.marked.retain(|&(marked, _)| marked != thread);
        calls.marked.push((thread, waits));
        self.signal.count(&calls);
        if waits { Ok(()) } else { self.tell_engine(calls) }
    }

    /// Takes it back, should the thread not have begun the call that it was waiting for.
    pub fn spare_thread(&self, thread: ThreadId) {
        let mut calls = self.signal.calls();
        calls.marked.retain(|&(marked, _)| marked != thread);
        self.signal.count(&calls);
    }

    #[cfg(feature = "embedded")]
    fn tell_engine(&self, mut calls: MutexGuard<'_, Calls>) -> Result<()> {
        let Some(engine) = &self.engine else { return Ok(()) };
        calls.is_engine_told = true;
        match engine.cancel(CancelKind::Raise) {
            Err(firearrow_fbapi::Error::Status(status)) if status.contains(gds::ISC_NOTHING_TO_CANCEL) => {
                Ok(())
            }
            result => Ok(result?),
        }
    }

    #[cfg(not(feature = "embedded"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "there is no engine in this build")]
    fn tell_engine(&self, _: MutexGuard<'_, Calls>) -> Result<()> {
        Ok(())
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

    #[test]
    fn what_a_call_waits_for_is_to_begin_or_to_go_on() {
        let signal = Signal::default();
        let handle = CancelHandle {
            signal: signal.clone(),
            #[cfg(feature = "embedded")]
            engine: None,
        };
        let this = thread::current().id();
        let another_begins = || thread::scope(|scope| scope.spawn(|| signal.begin()).join());
        signal.begin();
        another_begins().expect("it begins");
        handle.cancel_thread(this).expect("it waits");
        assert!(!signal.is_set(), "the call of another one is running");
        drop(signal.resume());
        assert!(signal.is_set());
        signal.begin();
        assert!(!signal.is_set(), "this is another call");
        another_begins().expect("it begins");
        handle.cancel_thread(this).expect("it waits");
        signal.begin();
        assert!(signal.is_set());
        handle.spare_thread(this);
        assert!(!signal.is_set());
    }
}
