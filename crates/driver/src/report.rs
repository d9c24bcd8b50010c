//! The outcome of each parameter row.

use crate::activity::Task;
use crate::error::{Detail, Error, Result};
use crate::progress::Progress;
use crate::rows::Failure;
use firearrow::{Kind, OnFailure, RowsExecuted};
use std::sync::Arc;

/// The outcome of one parameter row.
#[derive(Clone, Debug)]
pub enum RowOutcome {
    /// It was executed and affected this many rows. `None` where that is not counted, as for procedures.
    Done(Option<u64>),
    /// It failed and had no effect. The error names the row.
    Failed(Box<Error>),
    /// It was executed, and rolled back with the whole execution or transaction.
    Undone,
    /// It was executed, but the response to the commit was lost, and the server cannot tell the outcome.
    Unknown,
}

/// Reports the parameter rows of one execution.
pub(crate) struct Report {
    pub(crate) on_failure: OnFailure,
    /// Whether callers want to know how many rows were affected.
    pub(crate) counts: bool,
    /// The error of the rows' producer.
    pub(crate) failure: Failure,
    pub(crate) task: Arc<Task>,
    pub(crate) progress: Arc<Progress>,
}

impl Report {
    /// Reports the outcome of all rows. With [`OnFailure::Stop`] the first failure is an error.
    pub(crate) fn complete(&self, done: &RowsExecuted) -> Result<()> {
        if self.on_failure == OnFailure::Stop {
            let failed = done.failures.first();
            return failed.map_or(Ok(()), |failed| Err(Error::of_row(failed.row, failed.error.clone())));
        }
        self.note(done);
        let is_interrupted =
            |error: &firearrow::Error| matches!(error.kind(), Kind::Cancelled | Kind::Timeout);
        match done.failures.iter().any(|failed| is_interrupted(&failed.error)) {
            // The row did not fail by itself.
            true => self.task.check(),
            false => Ok(()),
        }
    }

    /// Reports the rows that were executed before an error that concerns no single row. Returns that error, or the
    /// producer's if that was the cause.
    pub(crate) fn broken_off(&self, error: firearrow::Error) -> Error {
        if let Some(done) = error.rows_executed() {
            self.note(done);
        }
        let error = self.failure.instead_of(error.into());
        // The rows that failed before are outcomes, not its cause.
        if self.on_failure == OnFailure::Continue { error.without_detail(Detail::Row) } else { error }
    }

    fn note(&self, done: &RowsExecuted) {
        if self.on_failure == OnFailure::Stop {
            return;
        }
        let mut failures = done.failures.iter().peekable();
        let outcome = |row| match failures.next_if(|failed| failed.row == row) {
            Some(failed) => RowOutcome::Failed(Box::new(Error::of_row(row, failed.error.clone()))),
            None => {
                let affected = done.affected_by_row.get(row).copied().flatten();
                RowOutcome::Done(affected.filter(|_| self.counts))
            }
        };
        self.progress.set_row_outcomes((0..done.rows).map(outcome).collect());
    }
}
