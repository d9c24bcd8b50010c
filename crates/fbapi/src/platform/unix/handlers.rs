//! What the library takes from the process, and what it needs of files.
//!
//! It takes the application's handlers of SIGINT and SIGTERM.
//! The first call that reaches the library's dispatcher, successful or not, installs handlers that shut the engine down
//! (`CtrlCHandler` in `yvalve/why.cpp`, releases 3.0 to 5.0). This happens once per process, so only that call needs a
//! guard: restoring handlers around later calls could undo one that the application sets meanwhile in another thread.
//! The application misses a signal that arrives during the call. So the first call is one that fails at once, not one
//! that may wait for the engine.

use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

pub(crate) use super::descriptors::keep_from_children;

/// The signals that the library handles.
const TAKEN: [i32; 2] = [libc::SIGINT, libc::SIGTERM];

/// Whether that first call has been made.
static FIRST_CALL_DONE: Mutex<bool> = Mutex::new(false);

/// Runs `call`, which reaches the dispatcher, and then restores the handlers; only the first time.
pub(crate) fn keep(call: impl FnOnce()) {
    // The lock is held: another thread must not save the library's handlers as the application's.
    let mut done = FIRST_CALL_DONE.lock().unwrap_or_else(PoisonError::into_inner);
    if *done {
        return;
    }
    let saved = TAKEN.map(|signal| (signal, current(signal)));
    call();
    for (signal, action) in saved {
        if let Some(action) = action {
            restore(signal, &action);
        }
    }
    *done = true;
}

fn current(signal: i32) -> Option<libc::sigaction> {
    let mut action = MaybeUninit::uninit();
    // SAFETY: with no new action given, sigaction only fills the structure, completely if it returns 0.
    unsafe {
        (libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0).then(|| action.assume_init())
    }
}

fn restore(signal: i32, action: &libc::sigaction) {
    // SAFETY: the action is one that the system itself reported for this signal.
    unsafe { libc::sigaction(signal, action, std::ptr::null_mut()) };
}

/// Whether this process may read and execute the file; the library gives no details otherwise.
pub(crate) fn is_executable(path: &Path) -> bool {
    CString::new(path.as_os_str().as_bytes()).is_ok_and(|path| {
        // SAFETY: the path ends with NUL.
        unsafe { libc::access(path.as_ptr(), libc::R_OK | libc::X_OK) == 0 }
    })
}
