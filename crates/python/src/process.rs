//! The process: its id without a system call, which takes as long as everything else that a call does before it writes.
#![allow(unsafe_code)]

use std::process;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// 0 until somebody has asked.
static ID: AtomicU32 = AtomicU32::new(0);

/// The id of this process, which a child that was forked notices.
pub(crate) fn id() -> u32 {
    match ID.load(Ordering::Relaxed) {
        0 => first(),
        id => id,
    }
}

#[cold]
fn first() -> u32 {
    static REGISTERED: Once = Once::new();
    static IS_REGISTERED: AtomicU32 = AtomicU32::new(0);
    REGISTERED.call_once(|| {
        // SAFETY: `forked` stays as long as the process, and does what is allowed after a fork: one system call and one store.
        let failed = unsafe { libc::pthread_atfork(None, None, Some(forked)) };
        IS_REGISTERED.store(u32::from(failed == 0), Ordering::SeqCst);
    });
    let id = process::id();
    if IS_REGISTERED.load(Ordering::SeqCst) == 1 {
        ID.store(id, Ordering::Relaxed);
    }
    id
}

/// In the child, before anything else of it runs.
extern "C" fn forked() {
    ID.store(process::id(), Ordering::Relaxed);
}
