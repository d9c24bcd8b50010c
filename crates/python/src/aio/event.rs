//! Events that triggers and procedures post.

use super::connection::{Connection, Shared};
use super::operation::{Operation, spawn, spawn_plain};
use super::runtime;
use crate::connection::{Dependent, duration};
use crate::event;
use crate::flow::Failure;
use firearrow::EventCounts;
use firearrow::asynchronous::EventListener;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;

struct Inner {
    shared: Arc<Shared>,
    /// Those that wait for events share it; they do not keep the connection from ending.
    listener: Mutex<Option<Arc<EventListener>>>,
    /// Told when the connection ends.
    ended: Notify,
}

impl Dependent for Inner {
    fn end(&self) {
        let listener = self.take();
        self.ended.notify_waiters();
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
        let inner = Arc::new(Self { shared: Arc::clone(&shared), listener, ended: Notify::new() });
        let weak: Weak<Self> = Arc::downgrade(&inner);
        shared.dependents.adopt(weak);
        Ok(inner)
    }

    fn take(&self) -> Option<Arc<EventListener>> {
        self.listener.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn listener(&self) -> Result<Arc<EventListener>, Failure> {
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner).clone();
        listener.ok_or(Failure::Interface(
            "nobody listens for these events any more, or the connection is closed",
        ))
    }

    async fn wait(&self, time: Duration) -> Result<Option<EventCounts>, Failure> {
        // From here on the end is noted.
        let ended = self.ended.notified();
        let listener = self.listener()?;
        tokio::select! {
            counts = listener.wait(time) => Ok(counts?),
            () = ended => Err(Failure::Closed),
        }
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

    /// Waits up to so many seconds, or as long as it takes. The result is how often each event was posted since the last time,
    /// or `None`.
    #[pyo3(signature = (seconds=None))]
    fn wait(&self, py: Python<'_>, seconds: Option<f64>) -> PyResult<Operation> {
        self.inner.shared.facts.check_process(py)?;
        let time = seconds.map(duration).transpose()?.unwrap_or(Duration::MAX);
        let inner = Arc::clone(&self.inner);
        let wait = async move { inner.wait(time).await };
        spawn(py, wait, |py, counts| match counts {
            Some(counts) => Ok(event::tell(py, &counts)?.into_any().unbind()),
            None => Ok(py.None()),
        })
    }

    fn close(&self, py: Python<'_>) -> PyResult<Operation> {
        if !self.inner.shared.facts.is_here() {
            return Ok(Operation::ready(py.None()));
        }
        let inner = Arc::clone(&self.inner);
        spawn_plain(py, async move { inner.close().await })
    }
}
