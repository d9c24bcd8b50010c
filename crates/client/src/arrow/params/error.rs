//! Errors of Arrow values that cannot become parameters.

use arrow::error::ArrowError;
use thiserror::Error;

/// The kind of a parameter error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParamErrorKind {
    /// The number of columns differs from the number of parameters.
    Count,
    /// The Arrow type has no counterpart in Firebird, or none that the parameter accepts without loss.
    Unsupported,
    /// The batch does not have the schema of the encoder.
    Schema,
    /// The value would have to be rounded or cut off.
    Inexact,
    /// The value is out of range for its type.
    OutOfRange,
    /// The text or the list is not a value of the parameter's type.
    Malformed,
    /// The value is too long for anything but a BLOB.
    TooLong,
}

/// A parameter that could not be encoded, with its location and a remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{message}", self.place())]
pub struct ParamError {
    /// The name of the Arrow field.
    pub field: String,
    /// 0-based index of the parameter.
    pub column: usize,
    /// 0-based row within the batch, for errors of single values.
    pub row: Option<usize>,
    /// What is wrong.
    pub kind: ParamErrorKind,
    /// An explanation, with the remedy if there is one.
    pub message: String,
}

impl ParamError {
    /// The beginning of the message: where it is.
    fn place(&self) -> String {
        if self.kind == ParamErrorKind::Count {
            return String::new();
        }
        let row = self.row.map_or_else(String::new, |row| format!(", row {row} (counted from 0)"));
        format!("{}{row}: ", parameter(self.column, &self.field))
    }
}

/// Names a parameter: by its number, and by the name of its field if that says more.
pub(crate) fn parameter(index: usize, field: &str) -> String {
    let number = (index + 1).to_string();
    if field.is_empty() || field == number {
        format!("parameter {number}")
    } else {
        format!("parameter {number} (\"{field}\")")
    }
}

/// An error about one value or type, from code that knows neither its field nor its row.
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

/// `arrow` cannot take the values out of a dictionary or runs: more texts than one array of their type can hold.
impl From<ArrowError> for Reason {
    fn from(error: ArrowError) -> Self {
        Self::new(ParamErrorKind::Unsupported, error.to_string())
    }
}

/// A [`Reason`] with its row among those being encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RowReason {
    pub(super) row: usize,
    pub(super) reason: Reason,
}
