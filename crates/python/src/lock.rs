//! Locks, with regard to Python's own.

use crate::signal;
use firearrow::CancelToken;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use std::convert::Infallible;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// How often a wait looks whether it was cancelled.
pub(crate) const GLANCE: Duration = Duration::from_millis(20);

/// Locks without holding up other Python threads.
pub(crate) fn lock<'a, T>(py: Python<'_>, mutex: &'a Mutex<T>) -> MutexGuard<'a, T> {
    mutex.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
}

/// Locks a mutex that is only ever held briefly, or only while the GIL is released.
pub(crate) fn plain<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The value of a mutex that nobody else can reach.
pub(crate) fn own<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// A value, and the thread that holds it. Python code may run while it is locked: a signal handler, a finaliser or a
/// generator in the same thread must not wait for it.
#[derive(Default)]
pub(crate) struct Held<T> {
    /// Locked by the holder only.
    value: Mutex<T>,
    holder: Holder,
}

impl<T> Held<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Mutex::new(value), holder: Holder::default() }
    }

    /// [`lock`]; `None` if this thread has locked it.
    pub(crate) fn lock(&self, py: Python<'_>) -> Option<Guard<'_, T>> {
        let holder = &self.holder;
        match holder.try_hold() {
            Some(true) => Some(self.guard()),
            Some(false) => py.detach(|| holder.hold()).then(|| self.guard()),
            None => None,
        }
    }

    /// [`lock`](Self::lock), of which Ctrl+C ends the wait.
    pub(crate) fn lock_heard(&self, py: Python<'_>) -> PyResult<Option<Guard<'_, T>>> {
        let holder = &self.holder;
        let hold = match holder.try_hold() {
            Some(true) => return Ok(Some(self.guard())),
            Some(false) => signal::wait(py, || {
                let is_held = holder.hold_unless(CancelToken::check)?;
                Ok(is_held.then_some(Hold(holder)))
            })?,
            None => None,
        };
        // The guard frees it.
        Ok(hold.map(|hold| {
            mem::forget(hold);
            self.guard()
        }))
    }

    /// Locks while Python is left to others; `None` if this thread has locked it.
    pub(crate) fn lock_detached(&self) -> Option<Guard<'_, T>> {
        self.holder.hold().then(|| self.guard())
    }

    /// [`lock_detached`](Self::lock_detached), unless a token of this thread is cancelled before.
    pub(crate) fn lock_for(&self) -> firearrow::Result<Option<Guard<'_, T>>> {
        Ok(self.holder.hold_unless(CancelToken::check)?.then(|| self.guard()))
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        own(&mut self.value)
    }

    fn guard(&self) -> Guard<'_, T> {
        Guard { held: self, value: plain(&self.value) }
    }
}

/// Who holds a value.
#[derive(Default)]
struct Holder {
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    thread: Option<ThreadId>,
    /// How many threads wait. A wake-up is a system call even if nobody waits.
    waiting: usize,
}

impl Holder {
    /// Holds it if nobody does; `None` if this thread does already.
    fn try_hold(&self) -> Option<bool> {
        let this = thread::current().id();
        let mut state = plain(&self.state);
        match state.thread {
            Some(other) => (other != this).then_some(false),
            None => {
                state.thread = Some(this);
                Some(true)
            }
        }
    }

    /// Waits until nobody holds it, and holds it; `false` if this thread does already.
    fn hold(&self) -> bool {
        let held: Result<bool, Infallible> = self.hold_unless(|| Ok(()));
        held.unwrap_or_else(|never| match never {})
    }

    /// [`hold`](Self::hold), unless `check` fails before.
    fn hold_unless<E>(&self, check: impl Fn() -> Result<(), E>) -> Result<bool, E> {
        loop {
            match self.try_hold() {
                Some(true) => return Ok(true),
                None => return Ok(false),
                Some(false) => check()?,
            }
            let mut state = plain(&self.state);
            state.waiting += 1;
            let is_held = |state: &mut State| state.thread.is_some();
            let ended = self.freed.wait_timeout_while(state, GLANCE, is_held);
            ended.unwrap_or_else(PoisonError::into_inner).0.waiting -= 1;
        }
    }

    fn free(&self) {
        let mut state = plain(&self.state);
        state.thread = None;
        let is_awaited = state.waiting > 0;
        drop(state);
        if is_awaited {
            self.freed.notify_one();
        }
    }
}

/// Frees what this thread holds, unless it is forgotten.
struct Hold<'a>(&'a Holder);

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.0.free();
    }
}

/// The value, as long as it is locked.
pub(crate) struct Guard<'a, T> {
    held: &'a Held<T>,
    value: MutexGuard<'a, T>,
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.held.holder.free();
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
