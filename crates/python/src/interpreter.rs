//! The one interpreter of a process that the module serves. It keeps Python's objects in statics, which another interpreter
//! must not use. And what that says of Ctrl+C.
#![allow(unsafe_code)]

use pyo3::exceptions::PyImportError;
use pyo3::{ffi, prelude::*};
use std::sync::atomic::{AtomicI64, Ordering};

/// The number of the interpreter that came first; -1 is none's.
static FIRST: AtomicI64 = AtomicI64::new(-1);

/// Refuses to be imported by a second interpreter.
pub(crate) fn check(py: Python<'_>) -> PyResult<()> {
    // SAFETY: the thread is attached to an interpreter, as `py` shows, and the state is that interpreter's.
    let number = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    if number < 0 {
        return Err(PyErr::fetch(py));
    }
    match FIRST.compare_exchange(-1, number, Ordering::SeqCst, Ordering::SeqCst) {
        Err(first) if first != number => Err(PyImportError::new_err(
            "firearrow does not support subinterpreters: another interpreter of this process has imported it; use threads or \
             processes",
        )),
        _ => Ok(()),
    }
}

/// Takes back a SIGINT whose handler has not run yet. In the main thread.
pub(crate) fn take_interrupt(_py: Python<'_>) -> bool {
    // SAFETY: the thread is attached.
    unsafe { ffi::PyOS_InterruptOccurred() != 0 }
}

/// Does what a SIGINT does.
pub(crate) fn interrupt(_py: Python<'_>) {
    // SAFETY: it may be called at any time.
    unsafe { ffi::PyErr_SetInterrupt() }
}
