//! Many rows for one statement, on their way.

use super::wire::write::Pipe;
use super::{StatementId, TransactionId};
use crate::error::Error;
use firearrow_proto::api::describe::StatementKind;

/// A statement that rows of parameters are written into.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) statement: StatementId,
    pub(crate) transaction: TransactionId,
    pub(crate) kind: StatementKind,
    /// Whether each execution returns a row, which nobody reads.
    pub(crate) has_output: bool,
    /// Whether the engine must be asked how many rows each execution affected; else each affects one.
    pub(crate) asks_counts: bool,
    /// Whether rows behind a failed one are wanted; some that are under way may be tried all the same.
    pub(crate) stops_at_error: bool,
    pub(crate) written: Written,
    /// What the wire backend has sent.
    pub(crate) pipe: Pipe,
}

/// What became of the rows.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Rows from the first on that were tried.
    pub(crate) rows: usize,
    pub(crate) affected: Option<u64>,
    pub(crate) failures: Vec<RowFailure>,
}

/// A row of parameters that was refused.
#[derive(Clone, Debug)]
pub struct RowFailure {
    /// 0-based row of the parameters.
    pub row: usize,
    /// Why.
    pub error: Error,
}

impl Writer {
    pub(crate) fn should_stop(&self) -> bool {
        self.stops_at_error && !self.written.failures.is_empty()
    }
}

impl Written {
    pub(crate) fn count(&mut self, affected: u64) {
        self.affected = Some(self.affected.unwrap_or(0) + affected);
    }
}
