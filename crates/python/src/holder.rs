//! A lock that is held while Python code may run: a signal handler, a finaliser or a generator in the same thread must not
//! wait for it.

use crate::connection::lock;
use pyo3::prelude::*;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// A value, and the thread that holds it.
#[derive(Default)]
pub(crate) struct Held<T> {
    value: Mutex<T>,
    holder: Mutex<Option<ThreadId>>,
}

impl<T> Held<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Mutex::new(value), holder: Mutex::new(None) }
    }

    /// Locks without holding up other Python threads; `None` if this thread has locked it.
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
        Some(self.guard(self.value.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_own(&self) -> bool {
        *self.holder() == Some(thread::current().id())
    }

    fn holder(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn guard<'a>(&'a self, value: MutexGuard<'a, T>) -> Guard<'a, T> {
        *self.holder() = Some(thread::current().id());
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
        *self.held.holder() = None;
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
