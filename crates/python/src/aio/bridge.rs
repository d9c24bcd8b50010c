//! An event loop and the calls that run in it: it listens to one descriptor for all of them, and gives their results to its futures.

use super::runtime;
use super::task::{Finish, Tasks, Work};
use crate::error;
use crate::lock::plain;
use pyo3::exceptions::{PyNotImplementedError, PyRuntimeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex};

/// What an event loop calls when calls can go on. The loop owns it: what waits for results goes with the loop.
#[pyclass(frozen, module = "firearrow._core")]
pub(crate) struct Bridge {
    tasks: Arc<Tasks>,
    waiting: Mutex<HashMap<u64, Py<PyAny>>>,
}

#[pymethods]
impl Bridge {
    fn __call__(&self, py: Python<'_>) -> PyResult<()> {
        let runtime = runtime::handle(py)?;
        let mut told = Ok(());
        for (number, finish) in self.tasks.go_on(&runtime) {
            // Results that nobody wants any more may have parts of connections.
            let _entered = runtime.enter();
            let Some(future) = plain(&self.waiting).remove(&number) else { continue };
            let future = future.bind(py);
            if let Err(failed) = tell(future, finish) {
                // Whoever waits must not wait for ever, nor the other futures go without their results.
                let set = future.call_method1(intern!(py, "set_exception"), (failed.clone_ref(py),));
                let set = set.or_else(|_| future.call_method0(intern!(py, "cancel")));
                told = told.and(set.and(Err(failed)));
            }
        }
        // The loop reports it.
        told
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        plain(&self.waiting).values().try_for_each(|future| visit.call(future))
    }

    fn __clear__(&self) {
        let futures = mem::take(&mut *plain(&self.waiting));
        drop(futures);
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.tasks.give_up_all();
    }
}

/// Gives a future its result, unless nobody wants that any more.
fn tell(future: &Bound<'_, PyAny>, finish: Finish) -> PyResult<()> {
    let py = future.py();
    if future.call_method0(intern!(py, "done"))?.is_truthy()? {
        return Ok(());
    }
    match finish(py) {
        Some(Ok(result)) => future.call_method1(intern!(py, "set_result"), (result,))?,
        Some(Err(failed)) => future.call_method1(intern!(py, "set_exception"), (failed,))?,
        None => future.call_method0(intern!(py, "cancel"))?,
    };
    Ok(())
}

/// A call that has begun.
pub(super) enum Begun {
    /// Completed without waiting.
    Over(Finish),
    /// A future of the event loop waits for it.
    Awaited { future: Py<PyAny>, number: u64, tasks: Arc<Tasks> },
}

/// Begins a call in the running event loop, or in the runtime if it writes much.
pub(super) fn begin(py: Python<'_>, work: Work, writes_much: bool) -> PyResult<Begun> {
    let runtime = runtime::handle(py)?;
    let running = running(py)?;
    let bridge = match running.getattr_opt(intern!(py, "_firearrow"))? {
        Some(bridge) => bridge.cast_into::<Bridge>()?,
        None => connect(py, &running)?,
    };
    let Bridge { tasks, waiting } = bridge.get();
    let number = match writes_much {
        true => tasks.begin_in_runtime(&runtime, work),
        false => match tasks.begin(&runtime, work) {
            Ok(number) => number,
            Err(finish) => return Ok(Begun::Over(finish)),
        },
    };
    let future = running.call_method0(intern!(py, "create_future"));
    let future = future.inspect_err(|_| tasks.give_up(number))?.unbind();
    plain(waiting).insert(number, future.clone_ref(py));
    Ok(Begun::Awaited { future, number, tasks: Arc::clone(tasks) })
}

/// The running event loop.
fn running(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static RUNNING: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    RUNNING.import(py, "asyncio", "get_running_loop")?.call0().or_else(|failed| {
        match failed.is_instance_of::<PyRuntimeError>(py) {
            // Does the same, and says what to do about it.
            true => py.import("firearrow.aio._loop")?.call_method0("running_loop"),
            false => Err(failed),
        }
    })
}

/// Gives an event loop a bridge, to which it listens.
fn connect<'py>(py: Python<'py>, running: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Bridge>> {
    let tasks = Tasks::new()?;
    let fd = tasks.fd();
    let bridge = Bound::new(py, Bridge { tasks, waiting: Mutex::default() })?;
    running.call_method1("add_reader", (fd, &bridge)).map_err(|failed| {
        match failed.is_instance_of::<PyNotImplementedError>(py) {
            true => error::not_supported(
                py,
                "this event loop cannot watch sockets: use asyncio's SelectorEventLoop, or uvloop",
            ),
            false => failed,
        }
    })?;
    running.setattr(intern!(py, "_firearrow"), &bridge)?;
    Ok(bridge)
}
