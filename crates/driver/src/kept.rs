//! Statements that stay prepared on the server between their executions.
//!
//! A known statement is prepared in the write that executes it, which saves the round trip; but preparing is still most of a small
//! statement's time. One that stays prepared keeps its tables in use, and others cannot drop them. So only those stay that were
//! prepared explicitly and have been executed before (`Statement::run` decides), until they fail, are changed or dropped, or DDL
//! runs in their session (`Execution::run` and `Session::define` release them), and for a second at most: the engine does not
//! apply new constraints, triggers and columns to what was prepared before.

use firearrow::Statement;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How long a statement stays prepared.
const LONGEST: Duration = Duration::from_secs(1);

/// A statement between its executions.
#[derive(Default)]
pub(crate) struct Kept(Mutex<Slot>);

#[derive(Default)]
struct Slot {
    statement: Option<Statement>,
    /// When it was prepared.
    since: Option<Instant>,
}

impl Kept {
    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the statement for another execution, unless a result of the last one is still open or it was prepared too long ago:
    /// then the caller prepares another one.
    pub(crate) fn take(&self) -> Option<Statement> {
        let mut slot = self.slot();
        let is_fresh = slot.since.is_some_and(|since| since.elapsed() < LONGEST);
        let statement = slot.statement.take().filter(|statement| is_fresh && !statement.is_in_use());
        if statement.is_none() {
            slot.since = Some(Instant::now());
        }
        statement
    }

    pub(crate) fn put(&self, statement: Statement) {
        self.slot().statement = Some(statement);
    }

    /// Lets the server free it; returns whether there was one.
    pub(crate) fn release(&self) -> bool {
        self.slot().statement.take().is_some()
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kept").field(&self.slot().statement.is_some()).finish()
    }
}

/// Those of a session.
#[derive(Debug, Default)]
pub(crate) struct AllKept(Mutex<Vec<Weak<Kept>>>);

impl AllKept {
    /// Makes room for a statement.
    pub(crate) fn add(&self) -> Arc<Kept> {
        let kept = Arc::default();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() == all.capacity() {
            all.retain(|kept| kept.strong_count() > 0);
            // It doubles before it is looked through again.
            let length = all.len();
            all.reserve(length.max(8));
        }
        all.push(Arc::downgrade(&kept));
        kept
    }

    /// Lets the server free all of them; returns whether there were any.
    pub(crate) fn release(&self) -> bool {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let all: Vec<Arc<Kept>> = all.iter().filter_map(Weak::upgrade).collect();
        let released = all.iter().filter(|kept| kept.release()).count();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(all.iter().map(Arc::downgrade));
        released > 0
    }
}
