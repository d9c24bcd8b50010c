//! What went wrong, or is worth a warning.

use super::State;
use crate::abi::Integer;

/// A failure or a warning, before it becomes a record of a handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) state: State,
    /// The SQLCODE of the engine, or 0.
    pub(crate) native: Integer,
    pub(crate) text: String,
    /// Whether the engine reported it.
    pub(crate) of_server: bool,
    /// The row of a row set or of the parameters, counted from 1.
    pub(crate) row: Option<usize>,
    /// The column or parameter, counted from 1.
    pub(crate) column: Option<usize>,
}

impl Failure {
    pub(crate) fn new(state: State, text: impl Into<String>) -> Self {
        Self { state, native: 0, text: text.into(), of_server: false, row: None, column: None }
    }

    /// Of a call without a time limit of its own: if it took too long, that was the connection's limit.
    pub(crate) fn of_unlimited(self) -> Self {
        match self.state {
            State::TIMEOUT if !self.of_server => Self { state: State::CONNECTION_TIMEOUT, ..self },
            _ => self,
        }
    }

    pub(crate) fn in_row(self, row: usize) -> Self {
        Self { row: Some(row), ..self }
    }

    pub(crate) fn in_column(self, column: usize) -> Self {
        Self { column: Some(column), ..self }
    }
}
