//! The effect of an execution.

use crate::session::run;
use firearrow_proto::api::describe::RecordCounts;

/// The effect of an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// Rows inserted, updated and deleted; `None` when the engine counts nothing for this kind of statement.
    pub affected_rows: Option<u64>,
    /// The rows read, inserted, updated and deleted, each counted; see
    /// [`RowsExecuted::counts`](crate::RowsExecuted::counts).
    pub counts: Option<RecordCounts>,
}

impl From<run::Executed> for Executed {
    fn from(executed: run::Executed) -> Self {
        Self { affected_rows: executed.affected, counts: executed.counts }
    }
}
