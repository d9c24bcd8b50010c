//! Statements that stay prepared on the server between their executions.
//!
//! A known statement is prepared in the write that executes it, which saves the round trip; but preparing is still most of a small
//! statement's time. One that stays prepared keeps its tables in use, and others cannot drop them. So only those stay that were
//! prepared explicitly and have been executed before (`Statement::run` decides), until they fail, are changed or dropped, or DDL
//! runs in their session (`Execution::run` and `Session::define` release them).

use firearrow::Statement;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A statement between its executions.
#[derive(Default)]
pub(crate) struct Kept(Mutex<Option<Statement>>);

impl Kept {
    fn set(&self) -> MutexGuard<'_, Option<Statement>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the statement for another execution, unless a result of the last one is still open.
    pub(crate) fn take(&self) -> Option<Statement> {
        self.set().take().filter(|statement| !statement.is_in_use())
    }

    pub(crate) fn put(&self, statement: Statement) {
        *self.set() = Some(statement);
    }

    /// Lets the server free it.
    pub(crate) fn release(&self) {
        drop(self.set().take());
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kept").field(&self.set().is_some()).finish()
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

    /// Lets the server free all of them.
    pub(crate) fn release(&self) {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let all: Vec<Arc<Kept>> = all.iter().filter_map(Weak::upgrade).collect();
        all.iter().for_each(|kept| kept.release());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(all.iter().map(Arc::downgrade));
    }
}
