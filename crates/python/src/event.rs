//! Events that triggers and procedures post.

use crate::connection::{Connection, Dependent, Shared, closed, duration, lock};
use crate::signal;
use firearrow::EventListener;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Arc, Mutex, PoisonError, Weak};

struct Inner {
    shared: Arc<Shared>,
    listener: Mutex<Option<EventListener>>,
}

impl Dependent for Inner {
    fn end(&self) {
        drop(self.listener.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let listener = self.listener.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        self.shared.facts.discard(listener);
    }
}

/// Listens for events of some names.
#[pyclass(frozen, module = "firearrow._core")]
pub(crate) struct Events {
    inner: Arc<Inner>,
}

#[pymethods]
impl Events {
    #[new]
    fn new(py: Python<'_>, connection: &Connection, names: Vec<String>) -> PyResult<Self> {
        let shared = Arc::clone(&connection.shared);
        let listener = shared.run(py, |connection| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            connection.events(&names)
        })?;
        let inner = Arc::new(Inner { shared, listener: Mutex::new(Some(listener)) });
        let weak: Weak<Inner> = Arc::downgrade(&inner);
        inner.shared.dependents.adopt(weak);
        Ok(Self { inner })
    }

    /// Waits up to so many seconds. Returns how often each event was posted since the last time, or `None`.
    fn wait<'py>(&self, py: Python<'py>, seconds: f64) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.inner.shared.facts.check_process(py)?;
        let time = duration(seconds)?;
        let waited = signal::wait(py, || {
            let listener = self.inner.listener.lock().unwrap_or_else(PoisonError::into_inner);
            listener.as_ref().map(|listener| listener.wait(time)).transpose()
        })?;
        let Some(counts) = waited.ok_or_else(|| closed(py))? else { return Ok(None) };
        let to = PyDict::new(py);
        for (name, count) in counts.iter() {
            to.set_item(name, count)?;
        }
        Ok(Some(to))
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let listener = lock(py, &self.inner.listener).take();
        match listener {
            Some(listener) => signal::wait(py, || listener.close()),
            None => Ok(()),
        }
    }
}
