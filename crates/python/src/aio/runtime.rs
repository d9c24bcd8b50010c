//! The runtime, one for the process.

use crate::lock::plain;
use crate::process;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};

/// How long the end of the interpreter waits for calls of an engine in this process.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Locked for moments, and only by threads that have Python's lock, so that a fork never finds it locked.
static RUNTIME: Mutex<State> = Mutex::new(State::None);

/// Set when the interpreter ends, before the runtime does.
pub(super) static IS_OVER: AtomicBool = AtomicBool::new(false);

enum State {
    None,
    /// And the process that made it: a forked child has none of its threads.
    Running(u32, Runtime),
    /// The interpreter ends.
    Over,
}

fn state() -> MutexGuard<'static, State> {
    plain(&RUNTIME)
}

/// The runtime, which the first call makes.
pub(super) fn handle(py: Python<'_>) -> PyResult<Handle> {
    let mut state = state();
    match &*state {
        State::Running(owner, runtime) if *owner == process::id() => return Ok(runtime.handle().clone()),
        State::Over => return Err(PyRuntimeError::new_err("the interpreter is shutting down")),
        _ => {}
    }
    let threads = thread::available_parallelism().map_or(2, |threads| threads.get().clamp(1, 4));
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads)
        .thread_name("firearrow")
        .enable_all()
        .build()
        .map_err(|failed| PyRuntimeError::new_err(format!("no threads for connections: {failed}")))?;
    let handle = runtime.handle().clone();
    // The parent's threads are not here: nothing of its runtime can be ended.
    mem::forget(mem::replace(&mut *state, State::Running(process::id(), runtime)));
    py.import("atexit")?.call_method1("register", (wrap_pyfunction!(end, py)?,))?;
    Ok(handle)
}

/// Runs what may drop parts of connections: within the runtime they end in the background.
pub(super) fn within<T>(work: impl FnOnce() -> T) -> T {
    let handle = match &*state() {
        State::Running(owner, runtime) if *owner == process::id() => Some(runtime.handle().clone()),
        _ => None,
    };
    let _entered = handle.as_ref().map(Handle::enter);
    work()
}

/// Ends the runtime before the interpreter does.
#[pyfunction]
fn end(py: Python<'_>) {
    let ended = mem::replace(&mut *state(), State::Over);
    match ended {
        State::Running(owner, runtime) if owner == process::id() => {
            IS_OVER.store(true, Ordering::SeqCst);
            py.detach(|| runtime.shutdown_timeout(SHUTDOWN_TIMEOUT));
        }
        other => mem::forget(other),
    }
}
