//! The C types in which the benchmark reads the columns of demo tables.

use super::abi::c_type;
use crate::demo::{Column, Values};
use crate::error::{Error, Result};
use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int16Array, Int32Array,
    Int64Array, StringArray, TimestampMicrosecondArray,
};
use std::sync::Arc;

/// What a column contains, and how it is read: numbers, dates and timestamps in their own C types; decimals and texts as
/// `SQL_C_CHAR`, which is what `SQL_C_DEFAULT` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Int16,
    Int32,
    Int64,
    Float32,
    Float64,
    Boolean,
    Decimal(u8, i8),
    Timestamp,
    Date,
    /// Text of at most this many characters.
    Text(usize),
}

impl Kind {
    pub(super) fn of(column: &Column) -> Self {
        match column.values {
            Values::Int16(_) => Self::Int16,
            Values::Int32(_) => Self::Int32,
            Values::Int64(_) => Self::Int64,
            Values::Float32(_) => Self::Float32,
            Values::Float64(_) => Self::Float64,
            Values::Boolean(_) => Self::Boolean,
            Values::Decimal(precision, scale, _) => Self::Decimal(precision, scale),
            Values::Timestamp(_) => Self::Timestamp,
            Values::Date(_) => Self::Date,
            Values::Text(_) => Self::Text(length(column.sql)),
        }
    }

    pub(super) fn c_type(self) -> i16 {
        match self {
            Self::Int16 => c_type::SSHORT,
            Self::Int32 => c_type::SLONG,
            Self::Int64 => c_type::SBIGINT,
            Self::Float32 => c_type::FLOAT,
            Self::Float64 => c_type::DOUBLE,
            Self::Boolean => c_type::BIT,
            Self::Decimal(..) | Self::Text(_) => c_type::CHAR,
            Self::Timestamp => c_type::TYPE_TIMESTAMP,
            Self::Date => c_type::TYPE_DATE,
        }
    }

    /// Returns the bytes of a value, including the terminator of text.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Boolean => 1,
            Self::Int16 => 2,
            Self::Int32 | Self::Float32 => 4,
            Self::Int64 | Self::Float64 => 8,
            Self::Date => 6,
            Self::Timestamp => 16,
            // The digits of 128 bits, with sign, point and terminator.
            Self::Decimal(..) => 48,
            // UTF-8 has up to four bytes per character.
            Self::Text(characters) => 4 * characters + 1,
        }
    }

    /// Returns an array of these values as the driver wrote them; `None` is NULL.
    pub(super) fn array<'a>(self, values: impl Iterator<Item = Option<&'a [u8]>>) -> Result<ArrayRef> {
        macro_rules! numbers {
            ($array:ident, $type:ty) => {
                Arc::new(collect::<$type, $array>(values, |bytes| Ok(<$type>::from_ne_bytes(fixed(bytes)?)))?)
            };
        }
        Ok(match self {
            Self::Int16 => numbers!(Int16Array, i16),
            Self::Int32 => numbers!(Int32Array, i32),
            Self::Int64 => numbers!(Int64Array, i64),
            Self::Float32 => numbers!(Float32Array, f32),
            Self::Float64 => numbers!(Float64Array, f64),
            Self::Boolean => Arc::new(collect::<_, BooleanArray>(values, |bytes| Ok(bytes[0] != 0))?),
            Self::Decimal(precision, scale) => {
                let array = collect::<_, Decimal128Array>(values, |bytes| unscaled(text(bytes)?, scale))?;
                let array = array.with_precision_and_scale(precision, scale);
                Arc::new(array.map_err(|error| Error::other(error.to_string()))?)
            }
            Self::Timestamp => Arc::new(collect::<_, TimestampMicrosecondArray>(values, microseconds)?),
            Self::Date => {
                let days = |bytes| i32::try_from(days(bytes)?).map_err(|_| wrong("a date"));
                Arc::new(collect::<_, Date32Array>(values, days)?)
            }
            Self::Text(_) => {
                let texts = values.map(|value| value.map(text).transpose());
                Arc::new(texts.collect::<Result<StringArray>>()?)
            }
        })
    }
}

/// Returns the length in `VARCHAR(n) …`.
fn length(sql: &str) -> usize {
    let digits = sql.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(digits, _)| digits);
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(8191)
}

fn collect<'a, T, A: FromIterator<Option<T>>>(
    values: impl Iterator<Item = Option<&'a [u8]>>,
    value: impl Fn(&'a [u8]) -> Result<T>,
) -> Result<A> {
    values.map(|bytes| bytes.map(&value).transpose()).collect()
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    bytes.try_into().map_err(|_| wrong("a length"))
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| wrong("text that is no UTF-8"))
}

/// Returns `-12.3400` with scale 4 as -123400.
fn unscaled(text: &str, scale: i8) -> Result<i128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction:0<width$}", width = usize::from(scale.unsigned_abs()));
    digits.parse().map_err(|_| wrong("a decimal"))
}

/// Returns the microseconds since 1970 of a `SQL_TIMESTAMP_STRUCT`.
fn microseconds(bytes: &[u8]) -> Result<i64> {
    let [hour, minute, second] =
        [6, 8, 10].map(|at| i64::from(u16::from_ne_bytes([bytes[at], bytes[at + 1]])));
    let nanoseconds = u32::from_ne_bytes(fixed(&bytes[12..16])?);
    let seconds = ((days(&bytes[..6])? * 24 + hour) * 60 + minute) * 60 + second;
    Ok(seconds * 1_000_000 + i64::from(nanoseconds / 1000))
}

/// Returns the days since 1970 of a `SQL_DATE_STRUCT`, in the Gregorian calendar.
fn days(bytes: &[u8]) -> Result<i64> {
    let [year, month, day] = [0, 2, 4].map(|at| i64::from(u16::from_ne_bytes([bytes[at], bytes[at + 1]])));
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) {
        return Err(wrong("a date"));
    }
    // Years that begin in March: the leap day is the last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    Ok(year * 365 + leap_days + (153 * month + 2) / 5 + day - 719_469)
}

fn wrong(what: &str) -> Error {
    Error::other(format!("the driver returned {what} that no demo table has"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Array, AsArray};
    use arrow::datatypes::TimestampMicrosecondType;

    #[test]
    fn decimals_keep_their_scale() {
        let of = |text, scale| unscaled(text, scale).unwrap();
        assert_eq!((of("-12.3400", 4), of("-0.5", 2), of(".5", 2), of("7", 2)), (-123_400, -50, 50, 700));
        assert!(unscaled("1e5", 2).is_err() && unscaled("", 0).is_err());
    }

    #[test]
    fn timestamps_count_from_1970() {
        let mut bytes = Vec::new();
        for part in [2000_u16, 3, 1, 12, 30, 59] {
            bytes.extend(part.to_ne_bytes());
        }
        bytes.extend(123_400_000_u32.to_ne_bytes());
        let array = Kind::Timestamp.array([Some(&bytes[..]), None].into_iter()).unwrap();
        let array = array.as_primitive::<TimestampMicrosecondType>();
        assert_eq!(array.value(0), 951_913_859_123_400);
        assert_eq!(array.null_count(), 1);
        let days = |year: u16, month: u16, day: u16| {
            days(&[year, month, day].map(u16::to_ne_bytes).concat()).unwrap()
        };
        assert_eq!((days(1970, 1, 1), days(1900, 2, 28), days(2100, 12, 31)), (0, -25_509, 47_846));
    }

    #[test]
    fn widths_fit_the_columns() {
        let kinds =
            |table: usize| crate::demo::TABLES[table].columns.iter().map(Kind::of).collect::<Vec<_>>();
        assert_eq!(kinds(1), [Kind::Int32; 10]);
        assert!(kinds(0).contains(&Kind::Text(200)) && kinds(0).contains(&Kind::Decimal(18, 4)));
    }
}
