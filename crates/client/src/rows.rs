//! Many rows of parameters for one statement.

use crate::backend::{RowFailure, Written};
use crate::error::{Error, Kind};
use ::arrow::error::ArrowError;
use firearrow_proto::api::describe::RecordCounts;

/// What to do about the rows after one that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// Send no more of them. Those that were sent together with it may have been tried.
    #[default]
    Stop,
    /// Go on to the last row.
    Continue,
}

/// The outcome of parameter rows. Rows that failed are listed in [`failures`](Self::failures), whether the others went
/// on or not.
#[derive(Clone, Debug, Default)]
#[must_use = "rows that failed are no error of the call: look at `failures`"]
pub struct RowsExecuted {
    /// Rows that were tried, counted from the first.
    pub rows: usize,
    /// Rows inserted, updated and deleted by those that did not fail; `None` when the engine counts nothing.
    pub affected_rows: Option<u64>,
    /// The same, broken down by operation; `None` also where the engine's bulk interface counted rows that
    /// were not inserted together.
    pub counts: Option<RecordCounts>,
    /// Rows affected by each parameter row; `None` for one that failed, and where the engine counts nothing. Empty with
    /// [`OnFailure::Stop`], unless the statement returns rows. 16 bytes per row.
    pub affected_by_row: Vec<Option<u64>>,
    /// Rows that failed, in order.
    pub failures: Vec<RowFailure>,
}

impl From<Written> for RowsExecuted {
    fn from(written: Written) -> Self {
        let counts = written.counts();
        let Written { rows, affected: affected_rows, by_row, failures, .. } = written;
        Self { rows, affected_rows, counts, affected_by_row: by_row.unwrap_or_default(), failures }
    }
}

impl Error {
    /// An error of somebody who supplies rows.
    pub(crate) fn of_reader(error: ArrowError) -> Self {
        let text = "reading the rows to be written failed";
        match error {
            ArrowError::ExternalError(error) => match error.downcast::<Self>() {
                Ok(error) => error.context(text),
                Err(error) => Self::new(Kind::Data, format!("{text}: {error}")),
            },
            ArrowError::IoError(..) => Self::new(Kind::Io, format!("{text}: {error}")),
            error => Self::new(Kind::Data, format!("{text}: {error}")),
        }
    }
}
