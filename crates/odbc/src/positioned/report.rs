//! What became of the rows of a call.

use crate::abi::{self, Return, USmallInt};
use crate::diagnostics::{Diagnostics, Failure};

/// The status of each slot of a row set, and the records.
pub(super) struct Report {
    /// `None` for slots that the call leaves alone.
    statuses: Vec<Option<USmallInt>>,
    failures: Vec<Failure>,
    worked: usize,
    failed: usize,
    /// Rows that were changed.
    pub(super) changed: u64,
}

impl Report {
    pub(super) fn new(slots: usize) -> Self {
        Self { statuses: vec![None; slots], failures: Vec::new(), worked: 0, failed: 0, changed: 0 }
    }

    /// A slot that was given to the call and now has this status.
    pub(super) fn succeed(&mut self, slot: usize, status: USmallInt) {
        self.set(slot, status);
        self.worked += 1;
        self.changed += 1;
    }

    /// Notes what is wrong with a slot. Warnings here mean that the row was not changed, so its status is the same.
    pub(super) fn fail(&mut self, slot: usize, failure: Failure) {
        match failure.state.is_warning() {
            true => self.worked += usize::from(!self.has_failed(slot)),
            false => self.failed += usize::from(!self.has_failed(slot)),
        }
        self.set(slot, abi::ROW_ERROR);
        self.failures.push(failure.in_row(slot + 1));
    }

    /// A slot fails with others, whose record is enough.
    pub(super) fn fail_too(&mut self, slot: usize) {
        self.failed += 1;
        self.set(slot, abi::ROW_ERROR);
    }

    fn has_failed(&self, slot: usize) -> bool {
        self.statuses.get(slot) == Some(&Some(abi::ROW_ERROR))
    }

    fn set(&mut self, slot: usize, status: USmallInt) {
        if let Some(place) = self.statuses.get_mut(slot) {
            *place = Some(status);
        }
    }

    /// Writes the statuses and the records, and returns the code: the call has failed only if nothing worked.
    ///
    /// # Safety
    /// The array is NULL or has an element for each slot.
    pub(super) unsafe fn finish(mut self, statuses: *mut USmallInt, diagnostics: &mut Diagnostics) -> Return {
        if !statuses.is_null() {
            for (slot, status) in self.statuses.iter().enumerate() {
                if let Some(status) = status {
                    // SAFETY: the caller's promise.
                    unsafe { statuses.add(slot).write_unaligned(*status) };
                }
            }
        }
        self.failures.sort_by_key(|failure| (failure.row, failure.column));
        self.failures.into_iter().for_each(|failure| diagnostics.add(failure));
        match (self.worked, self.failed) {
            (0, 1..) => abi::ERROR,
            _ => abi::SUCCESS,
        }
    }
}
