//! A call that Python awaits.

use super::bridge::{self, Begun};
use super::task::{Finish, Tasks};
use crate::failure::Failure;
use pyo3::exceptions::PyStopIteration;
use pyo3::exceptions::asyncio::CancelledError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use std::pin::Pin;
use std::sync::Arc;

/// A call: awaitable, once. Nobody waits for it any more when it is dropped, or its future is cancelled; then the client's
/// future is dropped, which interrupts the server.
#[pyclass(frozen, module = "firearrow._core")]
pub(crate) struct Operation(State);

enum State {
    /// It had its result from the start.
    Over(PyResult<Py<PyAny>>),
    Awaited {
        future: Py<PyAny>,
        number: u64,
        tasks: Arc<Tasks>,
    },
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
        let future = match &self.0 {
            State::Over(Ok(result)) => return Err(PyStopIteration::new_err((result.clone_ref(py),))),
            State::Over(Err(failed)) => return Err(failed.clone_ref(py)),
            State::Awaited { future, .. } => future.bind(py),
        };
        if !future.call_method0(intern!(py, "done"))?.is_truthy()? {
            future.setattr(intern!(py, "_asyncio_future_blocking"), true)?;
            return Ok(future.clone());
        }
        let result = future.call_method0(intern!(py, "result")).inspect_err(|_| self.give_up())?;
        Err(PyStopIteration::new_err((result.unbind(),)))
    }

    // The task that waits for the future has this, too. The garbage collector finds the cycle when the event loop has gone.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.0 {
            State::Awaited { future, .. } => visit.call(future),
            State::Over(_) => Ok(()),
        }
    }
}

impl Operation {
    /// One that is over already.
    pub(super) fn ready(result: Py<PyAny>) -> Self {
        Self::over(Ok(result))
    }

    fn over(result: PyResult<Py<PyAny>>) -> Self {
        Self(State::Over(result))
    }

    fn give_up(&self) {
        if let State::Awaited { number, tasks, .. } = &self.0 {
            tasks.give_up(*number);
        }
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        self.give_up();
    }
}

/// Begins a call, whose result `finish` makes in the thread of the event loop.
pub(super) fn spawn<T: Send + 'static>(
    py: Python<'_>,
    work: impl Future<Output = Result<T, Failure>> + Send + 'static,
    finish: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Operation> {
    begin(py, work, finish, false)
}

/// [`spawn`] for a call that writes much.
pub(super) fn spawn_writing<T: Send + 'static>(
    py: Python<'_>,
    work: impl Future<Output = Result<T, Failure>> + Send + 'static,
    finish: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Operation> {
    begin(py, work, finish, true)
}

fn begin<T: Send + 'static>(
    py: Python<'_>,
    work: impl Future<Output = Result<T, Failure>> + Send + 'static,
    finish: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
    writes_much: bool,
) -> PyResult<Operation> {
    let work = async move {
        let result = work.await;
        let finish: Finish = Box::new(move |py| {
            Some(result.map_err(|failed| failed.into_exception(py)).and_then(|value| finish(py, value)))
        });
        finish
    };
    Ok(match bridge::begin(py, Box::pin(work), writes_much)? {
        Begun::Over(finish) => {
            Operation::over(finish(py).unwrap_or_else(|| Err(CancelledError::new_err(()))))
        }
        Begun::Awaited { future, number, tasks } => Operation(State::Awaited { future, number, tasks }),
    })
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
    // Boxed, so that the runtime's tasks are compiled once for each type of result.
    let work: Pin<Box<dyn Future<Output = Result<T, Failure>> + Send>> = Box::pin(work);
    let done = tokio::spawn(work).await;
    done.unwrap_or(Err(Failure::Internal("the call was given up, because the interpreter is shutting down")))
}
