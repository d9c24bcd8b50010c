//! Events that triggers and procedures post.

use crate::connection::{Connection, Part, closed};
use crate::options::{Bounded, duration};
use crate::signal;
use firearrow::EventListener;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest that an abandoned wait goes on.
const STEP: Duration = Duration::from_millis(100);

/// A listener, and what was posted since Python took it the last time: a wait that is interrupted loses nothing.
struct Listener {
    listener: EventListener,
    posted: Vec<(String, u64)>,
}

impl Listener {
    /// Waits up to `time`. Returns whether something was posted.
    fn wait(&mut self, time: Duration) -> firearrow::Result<bool> {
        if self.posted.is_empty()
            && let Some(counts) = self.listener.wait(time)?
        {
            self.posted = counts.iter().map(|(name, count)| (name.to_owned(), count.into())).collect();
        }
        Ok(!self.posted.is_empty())
    }
}

impl Part<Listener> {
    /// Waits up to `time`. Returns whether something was posted; `None` = it is closed.
    fn wait(&self, time: Duration) -> firearrow::Result<Option<bool>> {
        let mut listener = self.lock_detached();
        let listener = listener.as_mut().filter(|_| !self.shared.calls.is_closing());
        listener.map(|listener| listener.wait(time)).transpose()
    }
}

/// Listens for events of some names.
#[pyclass(frozen, module = "firearrow._core")]
pub(crate) struct Events {
    part: Arc<Part<Listener>>,
}

#[pymethods]
impl Events {
    #[new]
    fn new(py: Python<'_>, connection: &Connection, names: Vec<String>) -> PyResult<Self> {
        let shared = &connection.shared;
        shared.call(py, || {
            let listener = shared.run(py, |connection| {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                connection.events(&names)
            })?;
            Ok(Self { part: Part::new(shared, Listener { listener, posted: Vec::new() }) })
        })
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
                    let has_come = self.part.wait(left.min(STEP))?;
                    if left <= STEP || has_come != Some(false) || self.part.shared.calls.is_closing() {
                        return Ok(has_come);
                    }
                }
            })
        };
        let has_come = self.part.shared.call(py, wait)?.ok_or_else(|| closed(py))?;
        // Afterwards, what a handler raises would take the counts with it.
        py.check_signals()?;
        let take = || self.part.lock_detached().as_mut().map(|listener| mem::take(&mut listener.posted));
        match has_come.then(|| py.detach(take)).flatten() {
            Some(posted) if !posted.is_empty() => posted.into_py_dict(py).map(Some),
            // It is over, or another thread has taken them.
            _ => Ok(None),
        }
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let shared = &self.part.shared;
        if shared.calls.is_closing() {
            // A connection that ends ends this, too.
            return Ok(());
        }
        shared.call(py, || match self.part.take(py) {
            Some(Listener { listener, .. }) => signal::wait(py, || listener.close()),
            None => Ok(()),
        })
    }
}
