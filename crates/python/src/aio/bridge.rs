//! From the runtime's threads to an event loop: a queue, and a socket that wakes the loop. Several results share a wakeup, and the
//! runtime's threads need nothing of Python for it.

use super::runtime;
use crate::error;
use crate::lock::plain;
use pyo3::exceptions::{PyNotImplementedError, PyRuntimeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::mem;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};

/// Makes the result of a call, in the thread of the event loop; `None` cancels the future.
pub(super) type Finish = Box<dyn FnOnce(Python<'_>) -> Option<PyResult<Py<PyAny>>> + Send>;

/// Results on their way to one event loop. It has nothing of Python, so that whoever sends keeps no event loop alive.
pub(super) struct Queue {
    results: Mutex<Vec<(u64, Finish)>>,
    /// Written to when the first result comes.
    bell: UnixStream,
    /// What the loop listens to.
    ear: UnixStream,
}

impl Queue {
    /// Hands the result for a future to the loop. Never blocks.
    pub(super) fn push(&self, future: u64, finish: Finish) {
        let mut results = plain(&self.results);
        results.push((future, finish));
        if results.len() == 1 {
            // A full socket wakes the loop as well.
            drop((&self.bell).write(&[1]));
        }
    }
}

/// What an event loop calls when results have arrived. The loop owns it: what waits for results goes with the loop.
#[pyclass(frozen, module = "firearrow._core")]
pub(crate) struct Bridge {
    queue: Arc<Queue>,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    last: u64,
    futures: HashMap<u64, Py<PyAny>>,
}

#[pymethods]
impl Bridge {
    fn __call__(&self, py: Python<'_>) -> PyResult<()> {
        let mut bytes = [0; 64];
        while matches!((&self.queue.ear).read(&mut bytes), Ok(count) if count == bytes.len()) {}
        let results = mem::take(&mut *plain(&self.queue.results));
        // Results that nobody wants any more may have parts of connections.
        runtime::within(|| {
            let mut told = Ok(());
            for (number, finish) in results {
                let Some(future) = plain(&self.waiting).futures.remove(&number) else { continue };
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
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        plain(&self.waiting).futures.values().try_for_each(|future| visit.call(future))
    }

    fn __clear__(&self) {
        let futures = mem::take(&mut plain(&self.waiting).futures);
        drop(futures);
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

/// A future of an event loop that waits for a result.
pub(super) struct Awaited {
    pub(super) future: Py<PyAny>,
    pub(super) number: u64,
    pub(super) queue: Arc<Queue>,
}

/// A new future of the running event loop.
pub(super) fn future(py: Python<'_>) -> PyResult<Awaited> {
    let running = running(py)?;
    let bridge = match running.getattr_opt(intern!(py, "_firearrow"))? {
        Some(bridge) => bridge.cast_into::<Bridge>()?,
        None => connect(py, &running)?,
    };
    let future = running.call_method0(intern!(py, "create_future"))?.unbind();
    let mut waiting = plain(&bridge.get().waiting);
    waiting.last += 1;
    let number = waiting.last;
    waiting.futures.insert(number, future.clone_ref(py));
    Ok(Awaited { future, number, queue: Arc::clone(&bridge.get().queue) })
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
    let (bell, ear) = UnixStream::pair()?;
    bell.set_nonblocking(true)?;
    ear.set_nonblocking(true)?;
    let fd = ear.as_raw_fd();
    let queue = Arc::new(Queue { results: Mutex::default(), bell, ear });
    let bridge = Bound::new(py, Bridge { queue, waiting: Mutex::default() })?;
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
