//! What the client has made for a connection, and the connection ends: BLOBs, listeners, queries in parts.

use super::{Hurry, Shared};
use crate::dependent::Dependent;
use crate::lock::{own, plain};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// Part of a connection; `None` once it has ended.
pub(crate) struct Part<T: Send + 'static> {
    pub(crate) shared: Arc<Shared>,
    value: Mutex<Option<T>>,
}

impl<T: Send + Sync + 'static> Part<T> {
    pub(crate) fn new(shared: &Arc<Shared>, value: T) -> Arc<Self> {
        let part = Arc::new(Self { shared: Arc::clone(shared), value: Mutex::new(Some(value)) });
        let weak: Weak<Self> = Arc::downgrade(&part);
        shared.dependents.adopt(weak);
        part
    }

    /// Locks it while Python is left to others.
    pub(crate) fn lock_detached(&self) -> MutexGuard<'_, Option<T>> {
        plain(&self.value)
    }

    /// Takes it away, when nobody uses it any more.
    pub(crate) fn take(&self, py: Python<'_>) -> Option<T> {
        py.detach(|| self.lock_detached().take())
    }

    pub(crate) fn close(&self, py: Python<'_>) {
        // A connection that ends ends this, too.
        if self.shared.facts.is_owner_process()
            && let Some(_call) = self.shared.calls.enter()
        {
            py.detach(|| drop(self.lock_detached().take()));
        }
    }
}

impl<T: Send + Sync + 'static> Dependent for Part<T> {
    fn end(&self) {
        drop(self.lock_detached().take());
    }
}

impl<T: Send + 'static> Drop for Part<T> {
    fn drop(&mut self) {
        if let Some(value) = own(&mut self.value).take() {
            self.shared.discard(Hurry::No, || drop(value));
        }
    }
}
