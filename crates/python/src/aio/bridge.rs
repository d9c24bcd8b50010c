//! From the runtime's threads to an event loop: a queue, and a socket that wakes the loop. Several results share a wakeup, and the
//! runtime's threads need nothing of Python for it.

use super::runtime;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::io::{Read, Write};
use std::mem;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

/// Makes the result of a call, in the thread of the event loop; `None` cancels the future.
pub(super) type Finish = Box<dyn FnOnce(Python<'_>) -> Option<PyResult<Py<PyAny>>> + Send>;

/// Results on their way to one event loop.
pub(super) struct Queue {
    results: Mutex<Vec<(Py<PyAny>, Finish)>>,
    /// Written to when the first result comes.
    bell: UnixStream,
    /// What the loop listens to.
    ear: UnixStream,
}

impl Queue {
    /// Hands a result to the loop. Never blocks.
    pub(super) fn push(&self, future: Py<PyAny>, finish: Finish) {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results.push((future, finish));
        if results.len() == 1 {
            // A full socket wakes the loop as well.
            drop((&self.bell).write(&[1]));
        }
    }
}

/// What an event loop calls when results have come. It lives as long as the loop.
#[pyclass(frozen, module = "firearrow._core")]
pub(crate) struct Bridge {
    queue: Arc<Queue>,
}

#[pymethods]
impl Bridge {
    fn __call__(&self, py: Python<'_>) -> PyResult<()> {
        let mut bytes = [0; 64];
        while matches!((&self.queue.ear).read(&mut bytes), Ok(count) if count == bytes.len()) {}
        let results = {
            let mut results = self.queue.results.lock().unwrap_or_else(PoisonError::into_inner);
            mem::take(&mut *results)
        };
        // Results that nobody wants any more may have parts of connections.
        runtime::within(|| {
            for (future, finish) in results {
                let future = future.bind(py);
                if future.call_method0(intern!(py, "done"))?.is_truthy()? {
                    continue;
                }
                match finish(py) {
                    Some(Ok(result)) => future.call_method1(intern!(py, "set_result"), (result,))?,
                    Some(Err(failed)) => future.call_method1(intern!(py, "set_exception"), (failed,))?,
                    None => future.call_method0(intern!(py, "cancel"))?,
                };
            }
            Ok(())
        })
    }
}

/// A new future of the running event loop, and the way to it.
pub(super) fn future(py: Python<'_>) -> PyResult<(Py<PyAny>, Arc<Queue>)> {
    static RUNNING: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static BRIDGES: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let running = RUNNING.import(py, "asyncio", "get_running_loop")?.call0()?;
    let bridges = BRIDGES.get_or_try_init(py, || {
        PyResult::Ok(py.import("weakref")?.getattr("WeakKeyDictionary")?.call0()?.unbind())
    })?;
    let bridges = bridges.bind(py);
    let known = bridges.call_method1(intern!(py, "get"), (&running,))?;
    let queue = match known.cast::<Bridge>() {
        Ok(bridge) => Arc::clone(&bridge.get().queue),
        Err(_) => {
            let bridge = connect(py, &running)?;
            let queue = Arc::clone(&bridge.get().queue);
            bridges.set_item(&running, bridge)?;
            queue
        }
    };
    Ok((running.call_method0(intern!(py, "create_future"))?.unbind(), queue))
}

/// Lets an event loop listen.
fn connect<'py>(py: Python<'py>, running: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Bridge>> {
    let (bell, ear) = UnixStream::pair()?;
    bell.set_nonblocking(true)?;
    ear.set_nonblocking(true)?;
    let fd = ear.as_raw_fd();
    let bridge = Bound::new(py, Bridge { queue: Arc::new(Queue { results: Mutex::default(), bell, ear }) })?;
    running.call_method1("add_reader", (fd, &bridge)).map_err(|failed| {
        match failed.is_instance_of::<PyNotImplementedError>(py) {
            true => PyNotImplementedError::new_err(
                "this event loop cannot watch sockets: use asyncio's SelectorEventLoop, or uvloop",
            ),
            false => failed,
        }
    })?;
    Ok(bridge)
}
