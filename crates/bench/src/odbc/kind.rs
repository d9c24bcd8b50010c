//! The C types in which the benchmarks read columns.

use super::abi::c_type;
use crate::demo::{Column, Values, checksum as hash};
use crate::error::{Error, Result};

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
    /// With so many digits after the point.
    Decimal(i8),
    Timestamp,
    Date,
    Time,
    /// Text of at most this many characters.
    Text(usize),
    /// At most this many bytes.
    Binary(usize),
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
            Values::Decimal(_, scale, _) => Self::Decimal(scale),
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
            Self::Time => c_type::TYPE_TIME,
            Self::Binary(_) => c_type::BINARY,
        }
    }

    /// Returns the bytes of a value, including the terminator of text.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Boolean => 1,
            Self::Int16 => 2,
            Self::Int32 | Self::Float32 => 4,
            Self::Int64 | Self::Float64 => 8,
            Self::Date | Self::Time => 6,
            Self::Timestamp => 16,
            // The digits of 128 bits, with sign, point and terminator.
            Self::Decimal(..) => 48,
            // UTF-8 has up to four bytes per character.
            Self::Text(characters) => 4 * characters + 1,
            Self::Binary(bytes) => bytes.max(1),
        }
    }

    /// Returns the [checksum](demo::checksum()) of a value as the driver wrote it.
    #[inline]
    pub(super) fn hash(self, bytes: &[u8]) -> Result<u64> {
        macro_rules! number {
            ($type:ty) => {
                <$type>::from_ne_bytes(fixed(bytes)?)
            };
        }
        Ok(match self {
            Self::Int16 => hash::number(number!(i16).into(), 0),
            Self::Int32 => hash::number(number!(i32).into(), 0),
            Self::Int64 => hash::number(number!(i64).into(), 0),
            Self::Float32 => hash::float(number!(f32).into()),
            Self::Float64 => hash::float(number!(f64)),
            Self::Boolean => hash::boolean(number!(u8) != 0),
            Self::Decimal(scale) => hash::number(unscaled(bytes, scale)?, scale),
            Self::Timestamp => hash::timestamp(microseconds(bytes)?),
            Self::Date => hash::date(days(bytes)?),
            Self::Time => hash::time(seconds(bytes)? * 1_000_000),
            Self::Text(_) => match std::str::from_utf8(bytes) {
                Ok(text) => hash::text(text.as_bytes()),
                Err(_) => return Err(wrong("text that is no UTF-8")),
            },
            Self::Binary(_) => hash::bytes(bytes),
        })
    }
}

/// Returns the length in `VARCHAR(n) …`.
fn length(sql: &str) -> usize {
    let digits = sql.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(digits, _)| digits);
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(8191)
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    bytes.try_into().map_err(|_| wrong("a length"))
}

/// Returns `-12.3400` with scale 4 as -123400. Drivers may leave out zeros at the end, but not digits.
fn unscaled(text: &[u8], scale: i8) -> Result<i128> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    let (mut value, mut places, mut count) = (0_i128, None, 0);
    for byte in digits {
        match byte {
            b'.' if places.is_none() => places = Some(0),
            // More digits than 128 bits have are an overflow below.
            b'0'..=b'9' => {
                value = add_digit(value, i128::from(byte - b'0'))?;
                count += 1;
                places = places.map(|places| places + 1);
            }
            _ => return Err(wrong("a decimal")),
        }
    }
    if count == 0 {
        return Err(wrong("a decimal"));
    }
    let places = places.unwrap_or(0);
    for _ in places..i32::from(scale) {
        value = add_digit(value, 0)?;
    }
    for _ in i32::from(scale)..places {
        if value % 10 != 0 {
            return Err(wrong("a decimal"));
        }
        value /= 10;
    }
    Ok(if is_negative { -value } else { value })
}

#[inline]
fn add_digit(value: i128, digit: i128) -> Result<i128> {
    let sum = value.checked_mul(10).and_then(|value| value.checked_add(digit));
    sum.ok_or_else(|| wrong("a decimal"))
}

/// Returns the microseconds since 1970 of a `SQL_TIMESTAMP_STRUCT`.
fn microseconds(bytes: &[u8]) -> Result<i64> {
    let bytes: [u8; 16] = fixed(bytes)?;
    let nanoseconds = u32::from_ne_bytes(fixed(&bytes[12..])?);
    let seconds = days(&bytes[..6])? * 86_400 + seconds(&bytes[6..12])?;
    Ok(seconds * 1_000_000 + i64::from(nanoseconds / 1000))
}

/// Returns the seconds since midnight of a `SQL_TIME_STRUCT`.
fn seconds(bytes: &[u8]) -> Result<i64> {
    let [hour, minute, second] = shorts(bytes)?.map(i64::from);
    Ok((hour * 60 + minute) * 60 + second)
}

/// Returns the days since 1970 of a `SQL_DATE_STRUCT`, in the Gregorian calendar.
fn days(bytes: &[u8]) -> Result<i64> {
    let [year, month, day] = shorts(bytes)?.map(i64::from);
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) {
        return Err(wrong("a date"));
    }
    // Years that begin in March: the leap day is the last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    Ok(year * 365 + leap_days + (153 * month + 2) / 5 + day - 719_469)
}

fn shorts(bytes: &[u8]) -> Result<[u16; 3]> {
    let bytes: [u8; 6] = fixed(bytes)?;
    Ok([0, 2, 4].map(|at| u16::from_ne_bytes([bytes[at], bytes[at + 1]])))
}

fn wrong(what: &str) -> Error {
    Error::other(format!("the driver returned {what} that no demo table has"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Decimal128Array, Float64Array, Int64Array, StringArray};

    #[test]
    fn decimals_keep_their_scale() {
        let of = |text: &str, scale| unscaled(text.as_bytes(), scale).unwrap();
        assert_eq!((of("-12.3400", 4), of("-0.5", 2), of(".5", 2), of("7", 2)), (-123_400, -50, 50, 700));
        assert_eq!((of("1.500", 1), of("+3", 0), of("-.00", 0)), (15, 3, 0));
        for wrong in ["1e5", "", "-", ".", "1.2.3", "1.25"] {
            assert!(unscaled(wrong.as_bytes(), 1).is_err(), "{wrong}");
        }
        assert!(unscaled(&[b'9'; 40], 0).is_err());
    }

    #[test]
    fn timestamps_count_from_1970() {
        let mut bytes = Vec::new();
        for part in [2000_u16, 3, 1, 12, 30, 59] {
            bytes.extend(part.to_ne_bytes());
        }
        assert_eq!(seconds(&bytes[6..]).unwrap(), 45_059);
        bytes.extend(123_400_000_u32.to_ne_bytes());
        assert_eq!(microseconds(&bytes).unwrap(), 951_913_859_123_400);
        let days = |year: u16, month: u16, day: u16| {
            days(&[year, month, day].map(u16::to_ne_bytes).concat()).unwrap()
        };
        assert_eq!((days(1970, 1, 1), days(1900, 2, 28), days(2100, 12, 31)), (0, -25_509, 47_846));
    }

    /// As Arrow's values of the same columns.
    #[test]
    fn hashes_are_those_of_demo_tables() {
        let sum = |array: &dyn arrow::array::Array| crate::demo::checksum(array).unwrap();
        let of = |kind: Kind, bytes: &[u8]| kind.hash(bytes).unwrap();
        assert_eq!(of(Kind::Int16, &(-7_i16).to_ne_bytes()), sum(&Int64Array::from(vec![-7])));
        assert_eq!(of(Kind::Float32, &1.5_f32.to_ne_bytes()), sum(&Float64Array::from(vec![1.5])));
        assert_eq!(of(Kind::Text(9), "Łódź".as_bytes()), sum(&StringArray::from(vec!["Łódź"])));
        let decimal = Decimal128Array::from(vec![-1250]).with_precision_and_scale(9, 2).unwrap();
        assert_eq!(of(Kind::Decimal(2), b"-12.5"), sum(&decimal));
        assert!(Kind::Int32.hash(&[0]).is_err() && Kind::Text(9).hash(&[0xFF]).is_err());
    }

    #[test]
    fn widths_fit_the_columns() {
        let kinds =
            |table: usize| crate::demo::TABLES[table].columns.iter().map(Kind::of).collect::<Vec<_>>();
        assert_eq!(kinds(1), [Kind::Int32; 10]);
        assert!(kinds(0).contains(&Kind::Text(200)) && kinds(0).contains(&Kind::Decimal(4)));
    }
}
