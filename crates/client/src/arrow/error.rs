//! Errors of decoding rows into batches.

use super::options::MaxBlob;
use thiserror::Error;

/// The kind of a decoding error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DecodeErrorKind {
    /// The bytes are not a value of the column's type: the sender or the connection is at fault.
    Malformed,
    /// The value is out of range for the Arrow type.
    OutOfRange,
    /// The text is not in the expected encoding.
    InvalidText,
    /// A value is too long for the offsets of its Arrow type.
    TooLong,
    /// A value is longer than an option allows.
    OverLimit,
    /// The row does not carry the zone displacement needed to convert the value.
    UnknownZone,
    /// The builder's methods were called in the wrong order. Unlike the other errors, this does not poison the builder.
    Misuse,
}

/// A value that could not be decoded, with its location and a remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("column {} (\"{column_name}\"), row {row} (counted from 0): {message}", column + 1)]
pub struct DecodeError {
    /// The column's label.
    pub column_name: String,
    /// 0-based index of the column.
    pub column: usize,
    /// 0-based row within the whole result.
    pub row: u64,
    /// What is wrong.
    pub kind: DecodeErrorKind,
    /// An explanation, with the remedy if there is one.
    pub message: String,
}

/// An error about one value, from code that knows neither its column nor its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) kind: DecodeErrorKind,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(kind: DecodeErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(super) fn malformed(what: &str) -> Self {
        Self::new(DecodeErrorKind::Malformed, format!("the row does not hold a valid {what}"))
    }
}

/// Returns the error for a BLOB or array of `length` bytes, longer than the option allows.
pub(super) fn over_limit(length: u64, longest: MaxBlob) -> Fault {
    let message = format!(
        "a value of {length} bytes is longer than max_blob={longest}; set max_blob higher, or read it as a stream \
         through the API, with blobs=lazy"
    );
    Fault::new(DecodeErrorKind::OverLimit, message)
}

/// A [`Fault`] with its row, as numbered by the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ColumnError {
    pub(super) row: usize,
    pub(super) fault: Fault,
}
