//! Events that triggers and procedures post.

use crate::connection::{Connection, Part, closed};
use crate::options::{Bounded, duration};
use crate::signal;
use firearrow::{EventCounts, EventListener};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest that an abandoned wait goes on.
const STEP: Duration = Duration::from_millis(100);

impl Part<EventListener> {
    /// Waits up to `time`. `None` = it is closed.
    fn wait(&self, time: Duration) -> firearrow::Result<Option<Option<EventCounts>>> {
        let listener = self.lock_detached();
        let listener = listener.as_ref().filter(|_| !self.shared.calls.is_closing());
        listener.map(|listener| listener.wait(time)).transpose()
    }
}

/// Listens for events of some names.
#[pyclass(frozen, module = "firearrow._core")]
pub(crate) struct Events {
    part: Arc<Part<EventListener>>,
}

#[pymethods]
impl Events {
    #[new]
    fn new(py: Python<'_>, connection: &Connection, names: Vec<String>) -> PyResult<Self> {
        let shared = &connection.shared;
        let listener = shared.run(py, |connection| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            connection.events(&names)
        })?;
        Ok(Self { part: Part::new(shared, listener) })
    }

    /// Waits up to so many seconds. Returns how often each event was posted since the last time, or `None`.
    fn wait<'py>(&self, py: Python<'py>, seconds: Bounded<f64>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let time = duration(py, seconds.0)?;
        let wait = || {
            signal::wait(py, || {
                let since = Instant::now();
                loop {
                    let left = time.saturating_sub(since.elapsed());
                    // In steps, between which it can be closed.
                    let counts = self.part.wait(left.min(STEP))?;
                    if left <= STEP || !matches!(counts, Some(None)) || self.part.shared.calls.is_closing() {
                        return Ok(counts);
                    }
                }
            })
        };
        let waited = self.part.shared.call(py, wait)?;
        let Some(counts) = waited.ok_or_else(|| closed(py))? else { return Ok(None) };
        let to = PyDict::new(py);
        for (name, count) in counts.iter() {
            to.set_item(name, count)?;
        }
        Ok(Some(to))
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let shared = &self.part.shared;
        if shared.calls.is_closing() {
            // A connection that ends ends this, too.
            return Ok(());
        }
        shared.call(py, || match self.part.take(py) {
            Some(listener) => signal::wait(py, || listener.close()),
            None => Ok(()),
        })
    }
}
