//! In a conversation, such as that of the shell, Ctrl-C ends the running statement and not the command.

use super::{AGAIN, cancel, spawn};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Whether there is one.
static LISTENS: AtomicBool = AtomicBool::new(false);
/// The number of the statement that runs: odd ones run, even ones are the time between two.
static STATEMENT: AtomicU64 = AtomicU64::new(0);
/// The number of the statement that is to end.
static CANCELLED: AtomicU64 = AtomicU64::new(u64::MAX);

/// While it lives, Ctrl-C ends statements.
#[derive(Debug)]
#[must_use]
pub(crate) struct Conversation;

/// Begins a conversation.
pub(crate) fn converse() -> Conversation {
    LISTENS.store(true, Ordering::SeqCst);
    Conversation
}

impl Conversation {
    /// Runs a statement, which Ctrl-C ends.
    pub(crate) fn turn<T>(&self, work: impl FnOnce() -> T) -> T {
        STATEMENT.fetch_add(1, Ordering::SeqCst);
        let done = work();
        // A later Ctrl-C has nothing to cancel.
        STATEMENT.fetch_add(1, Ordering::SeqCst);
        done
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        LISTENS.store(false, Ordering::SeqCst);
    }
}

/// Whether the running statement is to end.
pub(super) fn is_cancelled() -> bool {
    CANCELLED.load(Ordering::SeqCst) == STATEMENT.load(Ordering::SeqCst)
}

/// Takes a Ctrl-C, if there is a conversation.
pub(super) fn hears() -> bool {
    if !LISTENS.load(Ordering::SeqCst) {
        return false;
    }
    let statement = STATEMENT.load(Ordering::SeqCst);
    // Even numbers are between two statements.
    if statement.is_multiple_of(2) {
        return true;
    }
    let was_told = CANCELLED.swap(statement, Ordering::SeqCst) == statement;
    if !was_told {
        // A call that has just begun has not seen it, so it is told again until the statement ends. Without the thread,
        // rows are still checked between batches.
        let _ = spawn("cancelling", move || {
            while STATEMENT.load(Ordering::SeqCst) == statement && LISTENS.load(Ordering::SeqCst) {
                cancel();
                thread::sleep(AGAIN);
            }
        });
    }
    true
}
