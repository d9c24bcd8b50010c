//! Events that triggers and procedures post.

use super::connection::{Connection, Shared};
use super::operation::{Operation, spawn, spawn_plain};
use super::runtime;
use crate::dependent::Dependent;
use crate::failure::Failure;
use crate::lock::{lock, plain};
use crate::options::{Bounded, duration};
use firearrow::EventCounts;
use firearrow::asynchronous::EventListener;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;
use tokio::sync::Notify;

struct Inner {
    shared: Arc<Shared>,
    /// Those that wait for events share it; they do not keep the connection from ending.
    listener: Mutex<Option<Arc<EventListener>>>,
    /// What was posted since Python took it the last time: a task that is cancelled loses nothing.
    posted: Mutex<Vec<(String, u64)>>,
    /// Told when there is something, and when the connection ends.
    changed: Notify,
}

impl Dependent for Inner {
    fn end(&self) {
        let listener = self.take();
        self.changed.notify_waiters();
        drop(listener);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let listener = self.take();
        runtime::within(|| self.shared.facts.discard(listener));
    }
}

impl Inner {
    /// Begins to listen.
    async fn open(shared: Arc<Shared>, names: &[String]) -> Result<Arc<Self>, Failure> {
        let connection = shared.enter().await?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let listener = Mutex::new(Some(Arc::new(connection.events(&names).await?)));
        let inner = Arc::new(Self {
            shared: Arc::clone(&shared),
            listener,
            posted: Mutex::default(),
            changed: Notify::new(),
        });
        let weak: Weak<Self> = Arc::downgrade(&inner);
        shared.dependents.adopt(weak);
        Ok(inner)
    }

    fn take(&self) -> Option<Arc<EventListener>> {
        plain(&self.listener).take()
    }

    fn listener(&self) -> Result<Arc<EventListener>, Failure> {
        let listener = plain(&self.listener).clone();
        listener.ok_or(Failure::Interface(
            "nobody listens for these events any more, or the connection is closed",
        ))
    }

    fn posted(&self) -> MutexGuard<'_, Vec<(String, u64)>> {
        plain(&self.posted)
    }

    /// Adds to what was posted.
    fn note(&self, counts: &EventCounts) {
        let mut posted = self.posted();
        for (name, count) in counts.iter() {
            match posted.iter_mut().find(|(known, _)| known == name) {
                Some((_, sum)) => *sum += u64::from(count),
                None => posted.push((name.to_owned(), count.into())),
            }
        }
        drop(posted);
        self.changed.notify_waiters();
    }

    /// Waits until something was posted; `false` if nothing was in time.
    async fn wait(&self, time: Duration) -> Result<bool, Failure> {
        // From here on changes are noted.
        let changed = self.changed.notified();
        let listener = self.listener()?;
        if !self.posted().is_empty() {
            return Ok(true);
        }
        tokio::select! {
            counts = listener.wait(time) => match counts? {
                Some(counts) => self.note(&counts),
                None => return Ok(false),
            },
            () = changed => drop(self.listener().map_err(|_| Failure::Closed)?),
        }
        Ok(true)
    }

    async fn close(&self) -> Result<(), Failure> {
        // A connection that ends has ended this, too.
        let Ok(_connection) = self.shared.enter().await else { return Ok(()) };
        match self.take() {
            Some(listener) => Ok(listener.close().await?),
            None => Ok(()),
        }
    }
}

/// Listens for events of some names.
#[pyclass(frozen, name = "AioEvents", module = "firearrow._core")]
pub(crate) struct Events {
    inner: Arc<Inner>,
}

#[pymethods]
impl Events {
    #[staticmethod]
    fn open(py: Python<'_>, connection: &Connection, names: Vec<String>) -> PyResult<Operation> {
        connection.shared.facts.check_process(py)?;
        let shared = Arc::clone(&connection.shared);
        let open = async move { Inner::open(shared, &names).await };
        spawn(py, open, |py, inner| Ok(Py::new(py, Self { inner })?.into_any()))
    }

    /// How often each event was posted since the last time; `None` if none was.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let posted = mem::take(&mut *lock(py, &self.inner.posted));
        match posted.is_empty() {
            true => Ok(None),
            false => posted.into_py_dict(py).map(Some),
        }
    }

    /// Waits up to so many seconds, or as long as it takes, until there is something to take. The result is whether there is.
    #[pyo3(signature = (seconds=None))]
    fn wait(&self, py: Python<'_>, seconds: Option<Bounded<f64>>) -> PyResult<Operation> {
        self.inner.shared.facts.check_process(py)?;
        let time = seconds.map(|seconds| duration(py, seconds.0)).transpose()?.unwrap_or(Duration::MAX);
        let inner = Arc::clone(&self.inner);
        let wait = async move { inner.wait(time).await };
        spawn(py, wait, |py, is_some| Ok(is_some.into_pyobject(py)?.to_owned().into_any().unbind()))
    }

    fn close(&self, py: Python<'_>) -> PyResult<Operation> {
        if !self.inner.shared.facts.is_owner_process() {
            return Ok(Operation::ready(py.None()));
        }
        let inner = Arc::clone(&self.inner);
        spawn_plain(py, async move { inner.close().await })
    }
}
