//! Locks, with regard to Python's own.

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

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
    value: Mutex<T>,
    holder: Mutex<Option<ThreadId>>,
}

impl<T> Held<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Mutex::new(value), holder: Mutex::new(None) }
    }

    /// [`lock`]; `None` if this thread has locked it.
    pub(crate) fn lock(&self, py: Python<'_>) -> Option<Guard<'_, T>> {
        if self.is_own() {
            return None;
        }
        Some(self.guard(lock(py, &self.value)))
    }

    /// Locks while Python is left to others; `None` if this thread has locked it.
    pub(crate) fn lock_detached(&self) -> Option<Guard<'_, T>> {
        if self.is_own() {
            return None;
        }
        Some(self.guard(plain(&self.value)))
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        own(&mut self.value)
    }

    fn is_own(&self) -> bool {
        *plain(&self.holder) == Some(thread::current().id())
    }

    fn guard<'a>(&'a self, value: MutexGuard<'a, T>) -> Guard<'a, T> {
        *plain(&self.holder) = Some(thread::current().id());
        Guard { held: self, value }
    }
}

/// The value, as long as it is locked.
pub(crate) struct Guard<'a, T> {
    held: &'a Held<T>,
    value: MutexGuard<'a, T>,
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        *plain(&self.held.holder) = None;
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
