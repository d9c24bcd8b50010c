//! Single values, read from a column or written to a parameter without loss.
//!
//! ```text
//!  column, row ──cell──► Value ──FromValue──► i64, String, Decimal, Date …
//!  i64, &str, Decimal, Date, Value … ──ToParam──► array of one value
//! ```

mod cell;
mod date;
mod decimal;
mod from_value;
mod raw;
mod time;

use arrow::array::ArrayRef;
pub(crate) use cell::cell;
pub use date::Date;
pub use decimal::{Decimal, ParseDecimalError};
pub use from_value::{FromValue, FromValueError};
pub(crate) use raw::Raw;
pub use time::{Time, Timestamp, TimestampTz};

/// A value of a column, as its Arrow type has it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// BOOLEAN.
    Boolean(bool),
    /// SMALLINT, INTEGER, BIGINT.
    Integer(i64),
    /// An unsigned number: the id of a BLOB that is read on demand.
    Unsigned(u64),
    /// FLOAT.
    Float(f32),
    /// DOUBLE PRECISION.
    Double(f64),
    /// NUMERIC, DECIMAL, INT128.
    Decimal(Decimal),
    /// CHAR, VARCHAR, text BLOBs, and what [`ReadOptions`](crate::ReadOptions) turn into text: DECFLOAT, TIME WITH TIME ZONE.
    Text(&'a str),
    /// BINARY, VARBINARY, other BLOBs.
    Bytes(&'a [u8]),
    /// DATE.
    Date(Date),
    /// TIME.
    Time(Time),
    /// TIMESTAMP.
    Timestamp(Timestamp),
    /// TIMESTAMP WITH TIME ZONE.
    TimestampTz(TimestampTz),
    /// The elements of an array along its first dimension.
    List(ArrayRef),
}
