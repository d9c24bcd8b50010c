//! A value as it is stored in a column.

use super::{Date, Decimal, FromValueError, Time, Timestamp, TimestampTz, Value};
use arrow::datatypes::{DataType, TimeUnit, i256};

/// The stored form of one value. What it means depends on the Arrow type of its column.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Raw<'a> {
    Null,
    Boolean(bool),
    Int16(i16),
    Int32(i32),
    Int64(i64),
    Int128(i128),
    Int256(i256),
    Unsigned(u64),
    Float(f32),
    Double(f64),
    Bytes(&'a [u8]),
}

macro_rules! from {
    ($($native:ty => $variant:ident),+ $(,)?) => { $(
        impl From<$native> for Raw<'_> {
            fn from(value: $native) -> Self {
                Self::$variant(value)
            }
        }
    )+ };
}

from! {
    i16 => Int16, i32 => Int32, i64 => Int64, i128 => Int128, i256 => Int256, u64 => Unsigned, f32 => Float,
    f64 => Double,
}

impl<'a> Raw<'a> {
    /// The value in a column of this type.
    pub(crate) fn value(self, data_type: &DataType) -> Result<Value<'a>, FromValueError> {
        use DataType as T;
        Ok(match (self, data_type) {
            (Self::Null, _) => Value::Null,
            (Self::Boolean(value), T::Boolean) => Value::Boolean(value),
            (Self::Int16(value), T::Int16) => Value::Integer(value.into()),
            (Self::Int32(value), T::Int32) => Value::Integer(value.into()),
            (Self::Int64(value), T::Int64) => Value::Integer(value),
            (Self::Unsigned(value), T::UInt64) => Value::Unsigned(value),
            (Self::Float(value), T::Float32) => Value::Float(value),
            (Self::Double(value), T::Float64) => Value::Double(value),
            (Self::Int128(unscaled), T::Decimal128(_, scale)) => {
                Value::Decimal(Decimal::new(unscaled, *scale))
            }
            (Self::Int256(unscaled), T::Decimal256(_, scale)) => {
                let narrow = unscaled.to_i128();
                let narrow = narrow.ok_or_else(|| out_of_range(format!("{unscaled} is beyond INT128")))?;
                Value::Decimal(Decimal::new(narrow, *scale))
            }
            (Self::Bytes(bytes), T::Utf8 | T::LargeUtf8 | T::Utf8View) => {
                Value::Text(std::str::from_utf8(bytes).map_err(|error| out_of_range(error.to_string()))?)
            }
            (Self::Bytes(bytes), T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_)) => {
                Value::Bytes(bytes)
            }
            (Self::Int32(days), T::Date32) => {
                let date = Date::from_unix_days(days);
                let text = || out_of_range(format!("day {days} from 1970 is not in the years 1 to 9999"));
                Value::Date(date.ok_or_else(text)?)
            }
            (Self::Int64(micros), T::Time64(TimeUnit::Microsecond)) => {
                let time = Time::from_micros(micros);
                Value::Time(time.ok_or_else(|| out_of_range(format!("{micros} µs is no time of day")))?)
            }
            (Self::Int64(micros), T::Timestamp(TimeUnit::Microsecond, zone)) => {
                let timestamp = timestamp(micros)?;
                match zone {
                    None => Value::Timestamp(timestamp),
                    Some(_) => Value::TimestampTz(TimestampTz::from_utc(timestamp)),
                }
            }
            (_, other) => return Err(unreadable(other)),
        })
    }
}

pub(super) fn timestamp(micros: i64) -> Result<Timestamp, FromValueError> {
    Timestamp::from_unix_micros(micros)
        .ok_or_else(|| out_of_range(format!("{micros} µs from 1970 is not in the years 1 to 9999")))
}

pub(super) fn out_of_range(message: String) -> FromValueError {
    FromValueError::Other(message)
}

pub(super) fn unreadable(data_type: &DataType) -> FromValueError {
    FromValueError::Other(format!(
        "values of the Arrow type {data_type} cannot be read one at a time; cast the column first"
    ))
}
