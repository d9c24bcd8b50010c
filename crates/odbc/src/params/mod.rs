//! Parameters: from an application's buffers to Arrow rows, which the client sends as they are.
//!
//! ```text
//!  Binding ─► Cells: the bytes of each value ─► one Arrow array by C type and Target ─► RecordBatch
//!  Pieces ──┘
//! ```
//!
//! | buffer | Arrow | except for |
//! |---|---|---|
//! | integers | Int16, Int32, Int64, Decimal128 | truth values: Boolean |
//! | floats | Float32, Float64 | DECIMAL, NUMERIC as bound: Decimal128; text |
//! | `SQL_C_NUMERIC` | Decimal128 | truth values: Boolean |
//! | bits | Boolean | numbers and text: Int16 |
//! | text | Utf8 | FLOAT, DOUBLE, BOOLEAN: those; hexadecimal digits, GUIDs: Binary |
//! | binary | Binary | |
//! | GUID | Binary | text: Utf8 |
//! | dates, times | Date32, Time64, Timestamp | text: Utf8 |
//!
//! The client refuses, row by row, numbers that the server would round; floats count by 15 digits, or 6. Only binding as DECIMAL or NUMERIC rounds.

mod binary;
mod binding;
mod cell;
mod column;
mod datetime;
mod decimal;
mod float;
mod guid;
mod moment;
mod number;
mod pieces;
mod read;
mod target;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use binding::{Binding, Given, classify, given};
pub(crate) use cell::Source;
#[cfg(test)]
pub(crate) use pieces::Pieces;
pub(crate) use pieces::Supplied;
pub(crate) use read::{Read, read};
