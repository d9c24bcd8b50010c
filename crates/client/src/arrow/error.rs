//! Rows that no batch can be made from.

use super::options::MaxBlob;
use thiserror::Error;

/// What is wrong with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DecodeErrorKind {
    /// The bytes are no value of the column's type; a fault of the sender or of the connection.
    Malformed,
    /// The value lies outside what the Arrow type can hold.
    OutOfRange,
    /// The text is not in the encoding that it was taken for.
    InvalidText,
    /// One value is too long for the offsets of its Arrow type.
    TooLong,
    /// One value is longer than an option allows.
    OverLimit,
    /// The value can only be shown with knowledge that the row does not carry.
    UnknownZone,
    /// The builder was called in the wrong order. Unlike the others this does not poison it.
    Misuse,
}

/// A value that could not be decoded, with where it is and what would help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("column {} (\"{column_name}\"), row {row}: {message}", column + 1)]
pub struct DecodeError {
    /// Label of the column.
    pub column_name: String,
    /// 0-based index of the column.
    pub column: usize,
    /// 0-based row within the whole result.
    pub row: u64,
    /// What is wrong.
    pub kind: DecodeErrorKind,
    /// The same in words, with the remedy if there is one.
    pub message: String,
}

/// What is wrong with one value, said by the code that reads it and knows neither column nor row.
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
        Self::new(DecodeErrorKind::Malformed, format!("the row holds no legal {what}"))
    }
}

/// A BLOB or an array of `length` bytes is longer than the option allows.
pub(super) fn over_limit(length: u64, longest: MaxBlob) -> Fault {
    let message = format!(
        "a value of {length} bytes is longer than max_blob={longest}; set max_blob higher, or read it as a stream with blobs=lazy"
    );
    Fault::new(DecodeErrorKind::OverLimit, message)
}

/// A [`Fault`] in this row, counted as the caller counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ColumnError {
    pub(super) row: usize,
    pub(super) fault: Fault,
}
