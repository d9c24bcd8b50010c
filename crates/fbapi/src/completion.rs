//! The outcome of a bulk operation.

use crate::Error;
use crate::abi::{IBatchCompletionState, IStatus};
use crate::library::Library;
use crate::status::Status;
use firearrow_proto::api::status::StatusVector;
use std::ptr::NonNull;

/// `IBatchCompletionState::EXECUTE_FAILED`.
const FAILED: i32 = -1;
/// `IBatchCompletionState::NO_MORE_ERRORS`.
const NO_MORE: u32 = u32::MAX;
/// The version of release 4.0.
const VERSION: usize = 3;

/// The outcome of each message of one execution, numbered from 0 in the order of addition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Messages processed, including those that failed. Without [`multi_error`](crate::BatchOptions::multi_error) the
    /// last one may have failed; any after it are dropped.
    pub processed: usize,
    /// One state for each message processed, if [`record_counts`](crate::BatchOptions::record_counts) was requested;
    /// otherwise empty.
    pub records: Vec<RecordState>,
    /// The messages that failed, in order.
    pub failures: Vec<RecordFailure>,
}

/// The outcome of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordState {
    /// The message failed and changed nothing.
    Failed,
    /// The message was executed; the rows it changed were not counted.
    Done,
    /// The message was executed and changed this many rows.
    Changed(u32),
}

/// A message that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordFailure {
    /// The number of the message.
    pub record: usize,
    /// What went wrong; `None` beyond the limit of [`detailed_errors`](crate::BatchOptions::detailed_errors).
    pub status: Option<StatusVector>,
}

impl Completion {
    /// Returns the outcome of a message; `None` if it was not processed.
    pub fn state(&self, record: usize) -> Option<RecordState> {
        if record >= self.processed {
            return None;
        }
        let counted = self.records.get(record).copied();
        Some(counted.unwrap_or_else(|| {
            match self.failures.binary_search_by_key(&record, |failure| failure.record) {
                Ok(_) => RecordState::Failed,
                Err(_) => RecordState::Done,
            }
        }))
    }
}

impl RecordState {
    fn new(state: i32) -> Self {
        match u32::try_from(state) {
            Ok(rows) => Self::Changed(rows),
            Err(_) if state == FAILED => Self::Failed,
            Err(_) => Self::Done, // SUCCESS_NO_INFO
        }
    }
}

/// A completion state of the library, disposed of on drop.
struct Source(NonNull<IBatchCompletionState>);

impl Drop for Source {
    fn drop(&mut self) {
        // SAFETY: `self` owns the interface, and nothing that it returned is still in use.
        unsafe { IBatchCompletionState::dispose(self.0.as_ptr()) };
    }
}

impl Source {
    fn call<T>(
        &self,
        status: &Status,
        call: impl FnOnce(*mut IBatchCompletionState, *mut IStatus) -> T,
    ) -> Result<T, Error> {
        status.call(|status| call(self.0.as_ptr(), status))
    }
}

/// Copies a completion state and disposes of it. Reads the states of single messages only if they contain more than the
/// failures.
///
/// # Safety
/// `raw` must be null or a live completion state that belongs to the caller.
pub(crate) unsafe fn read(
    library: &Library,
    raw: *mut IBatchCompletionState,
    has_counts: bool,
) -> Result<Completion, Error> {
    let interface = |found| Error::Interface { name: "IBatchCompletionState", found, needed: VERSION };
    let source = Source(NonNull::new(raw).ok_or_else(|| interface(0))?);
    // SAFETY: the caller vouches for the interface.
    let version = unsafe { IBatchCompletionState::version(raw) };
    if version < VERSION {
        return Err(interface(version));
    }
    let status = Status::new(library)?;
    // SAFETY: the interface is alive.
    let size = source.call(&status, |this, status| unsafe { IBatchCompletionState::size(this, status) })?;
    let mut completion = Completion { processed: size as usize, ..Completion::default() };
    if has_counts {
        completion.records.reserve(completion.processed);
        for record in 0..size {
            let state = source
                // SAFETY: the interface is alive and has this record.
                .call(&status, |this, status| unsafe {
                    IBatchCompletionState::state(this, status, record)
                })?;
            completion.records.push(RecordState::new(state));
        }
    }
    let details = Status::new(library)?;
    let mut from = 0;
    while from < size {
        let record = source
            // SAFETY: the interface is alive.
            .call(&status, |this, status| unsafe { IBatchCompletionState::find_error(this, status, from) })?;
        if record == NO_MORE || record < from {
            break;
        }
        completion.failures.push(failure(&source, &status, &details, record));
        from = record + 1;
    }
    Ok(completion)
}

/// Reads a failure, with its status if the engine kept it.
fn failure(source: &Source, status: &Status, details: &Status, record: u32) -> RecordFailure {
    let kept = source.call(status, |this, status| {
        // SAFETY: the interface is alive, and the two statuses are not the same.
        unsafe { IBatchCompletionState::record_status(this, status, details.raw(), record) };
    });
    RecordFailure { record: record as usize, status: kept.ok().map(|()| details.vector()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_follow_from_failures_when_nothing_was_counted() {
        let failures = [2, 5].map(|record| RecordFailure { record, status: None }).to_vec();
        let completion = Completion { processed: 6, records: Vec::new(), failures };
        let states: Vec<_> = (0..7).map(|record| completion.state(record)).collect();
        assert_eq!(states[1..3], [Some(RecordState::Done), Some(RecordState::Failed)]);
        assert_eq!(states[4..], [Some(RecordState::Done), Some(RecordState::Failed), None]);
    }

    #[test]
    fn states_are_those_of_the_interface() {
        assert_eq!(
            [-1, -2, 0, 7].map(RecordState::new),
            [RecordState::Failed, RecordState::Done, RecordState::Changed(0), RecordState::Changed(7)]
        );
    }
}
