//! What ends with a connection: its cursors, transactions, BLOBs and listeners.

use crate::lock::plain;
use std::mem;
use std::sync::{Mutex, Weak};

/// Part of a connection, which ends with it.
pub(crate) trait Dependent: Send + Sync {
    /// Ends it. Whoever uses it afterwards is told that it is closed.
    fn end(&self);
}

/// All parts of a connection.
#[derive(Default)]
pub(crate) struct Dependents(Mutex<Vec<Weak<dyn Dependent>>>);

impl Dependents {
    pub(crate) fn adopt(&self, dependent: Weak<dyn Dependent>) {
        let mut dependents = plain(&self.0);
        if dependents.len() == dependents.capacity() {
            dependents.retain(|dependent| dependent.strong_count() > 0);
        }
        dependents.push(dependent);
    }

    pub(crate) fn end(&self) {
        let dependents = mem::take(&mut *plain(&self.0));
        for dependent in dependents {
            if let Some(dependent) = dependent.upgrade() {
                dependent.end();
            }
        }
    }
}
