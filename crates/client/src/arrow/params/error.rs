//! Arrow values that cannot become parameters.

use thiserror::Error;

/// What is wrong with a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParamErrorKind {
    /// The batch has another number of columns than the statement has parameters.
    Count,
    /// The Arrow type has no counterpart in Firebird, or none that the parameter takes without loss.
    Unsupported,
    /// The batch is not of the schema that the encoder was made for.
    Schema,
    /// The value would have to be rounded or cut.
    Inexact,
    /// The value lies outside the range of its type.
    OutOfRange,
    /// The text or the list is no value of the parameter's type.
    Malformed,
    /// The value is too long for anything but a BLOB.
    TooLong,
}

/// A parameter that could not be encoded, with where it is and what would help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{message}", self.place())]
pub struct ParamError {
    /// Name of the Arrow field.
    pub field: String,
    /// 0-based index of the parameter.
    pub column: usize,
    /// 0-based row within the batch, for faults of single values.
    pub row: Option<usize>,
    /// What is wrong.
    pub kind: ParamErrorKind,
    /// The same in words, with the remedy if there is one.
    pub message: String,
}

impl ParamError {
    /// The beginning of the message: where it is.
    fn place(&self) -> String {
        if self.kind == ParamErrorKind::Count {
            return String::new();
        }
        let field = if self.field.is_empty() { String::new() } else { format!(" (\"{}\")", self.field) };
        let row = self.row.map_or_else(String::new, |row| format!(", row {row}"));
        format!("parameter {}{field}{row}: ", self.column + 1)
    }
}

/// What is wrong with one value or type, said by code that knows neither field nor row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reason {
    pub(super) kind: ParamErrorKind,
    pub(super) message: String,
}

impl Reason {
    pub(super) fn new(kind: ParamErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(super) fn in_row(self, row: usize) -> RowReason {
        RowReason { row, reason: self }
    }
}

/// A [`Reason`] in this row of the rows being encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RowReason {
    pub(super) row: usize,
    pub(super) reason: Reason,
}
