//! A call that Python awaits.

use super::bridge::{self, Awaited, Finish, Queue};
use super::runtime;
use crate::failure::Failure;
use pyo3::exceptions::PyStopIteration;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::Arc;
use std::thread;
use tokio::task::AbortHandle;

/// A call: awaitable, once. Nobody waits for it any more when it is dropped, or its future is cancelled; then the client's
/// future is dropped, which interrupts the server.
#[pyclass(frozen, module = "firearrow._core")]
pub(crate) struct Operation {
    future: Py<PyAny>,
    /// `None` for one that had its result from the start.
    task: Option<AbortHandle>,
}

#[pymethods]
impl Operation {
    fn __await__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// What `asyncio.Future` does when it is awaited.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.task.is_none() {
            return Err(PyStopIteration::new_err((self.future.clone_ref(py),)));
        }
        let future = self.future.bind(py);
        if !future.call_method0(intern!(py, "done"))?.is_truthy()? {
            future.setattr(intern!(py, "_asyncio_future_blocking"), true)?;
            return Ok(future.clone());
        }
        let result = future.call_method0(intern!(py, "result")).inspect_err(|_| self.abort())?;
        Err(PyStopIteration::new_err((result.unbind(),)))
    }

    // The task that waits for the future has this, too. The garbage collector finds the cycle when the event loop has gone.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.future)
    }
}

impl Operation {
    /// One that is over already.
    pub(super) fn ready(result: Py<PyAny>) -> Self {
        Self { future: result, task: None }
    }

    fn abort(&self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        self.abort();
    }
}

/// Begins a call, whose result `finish` makes in the thread of the event loop.
pub(super) fn spawn<T: Send + 'static>(
    py: Python<'_>,
    work: impl Future<Output = Result<T, Failure>> + Send + 'static,
    finish: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Operation> {
    let runtime = runtime::handle(py)?;
    let Awaited { future, number, queue } = bridge::future(py)?;
    let mut reply = Reply { to: Some((number, queue)) };
    let task = runtime.spawn(async move {
        let result = work.await;
        reply.send(Box::new(move |py| {
            Some(result.map_err(|failed| failed.into_exception(py)).and_then(|value| finish(py, value)))
        }));
    });
    Ok(Operation { future, task: Some(task.abort_handle()) })
}

/// [`spawn`] for a call without a result.
pub(super) fn spawn_plain(
    py: Python<'_>,
    work: impl Future<Output = Result<(), Failure>> + Send + 'static,
) -> PyResult<Operation> {
    spawn(py, work, |py, ()| Ok(py.None()))
}

/// Runs to its end, whether or not the caller waits for it.
pub(super) async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::spawn(work).await;
    done.unwrap_or(Err(Failure::Internal("the call was given up, because the interpreter is shutting down")))
}

/// The future that waits for a call. It is told even if the call ends in another way.
struct Reply {
    to: Option<(u64, Arc<Queue>)>,
}

impl Reply {
    fn send(&mut self, finish: Finish) {
        if let Some((future, queue)) = self.to.take() {
            queue.push(future, finish);
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        self.send(match thread::panicking() {
            true => Box::new(|py| {
                let failed = Failure::Internal("a bug in firearrow: the call has panicked");
                Some(Err(failed.into_exception(py)))
            }),
            false => Box::new(|_| None),
        });
    }
}
