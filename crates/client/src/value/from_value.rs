//! Values as Rust types. What would be rounded or cut is an error.

use super::{Date, Decimal, Time, Timestamp, TimestampTz, Value};
use arrow::array::ArrayRef;
use thiserror::Error;

/// A Rust type that values of columns can be read as.
///
/// | type | values |
/// |---|---|
/// | `i8` … `i128`, `u8` … `u64` | integers and decimals without a fraction, within the range of the type |
/// | `f64`, `f32` | floats and integers, if they are exact in it; decimals only as [`Decimal`], which can be rounded |
/// | [`Decimal`] | decimals and integers |
/// | `bool` | BOOLEAN |
/// | `String`, `&str` | text |
/// | `Vec<u8>`, `&[u8]` | bytes |
/// | [`Date`], [`Time`], [`Timestamp`], [`TimestampTz`] | their own kind |
/// | [`ArrayRef`] | the elements of an array |
/// | `Option<T>` | the same as `T`, and NULL as `None` |
/// | [`Value`] | everything |
///
/// Implement it to read columns as types of your own:
///
/// ```
/// use firearrow::{FromValue, FromValueError, Value};
///
/// struct Percent(u8);
///
/// impl<'a> FromValue<'a> for Percent {
///     fn from_value(value: Value<'a>) -> Result<Self, FromValueError> {
///         match u8::from_value(value)? {
///             number @ 0..=100 => Ok(Self(number)),
///             number => Err(FromValueError::Other(format!("{number} is more than 100 percent"))),
///         }
///     }
/// }
/// ```
pub trait FromValue<'a>: Sized {
    /// Converts a value without loss.
    ///
    /// # Errors
    /// See [`FromValueError`].
    fn from_value(value: Value<'a>) -> Result<Self, FromValueError>;
}

/// Why a value is none of a Rust type. [`Row::get`](crate::Row::get) adds the row and the column.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FromValueError {
    /// The value is NULL.
    #[error("the value is NULL; read it as Option<{expected}>")]
    Null {
        /// The Rust type.
        expected: &'static str,
    },
    /// Values of this type are never read as that Rust type.
    #[error("{found} cannot be read as {expected}; read it as {instead}")]
    Type {
        /// The type of the value.
        found: String,
        /// The Rust type.
        expected: &'static str,
        /// A Rust type that takes it.
        instead: &'static str,
    },
    /// The value would have to be rounded or cut, or lies outside the range of the Rust type.
    #[error("{value} is not exact as {expected}; read it as {instead}")]
    Inexact {
        /// The value.
        value: String,
        /// The Rust type.
        expected: &'static str,
        /// A Rust type that takes it.
        instead: &'static str,
    },
    /// Any other reason, with the remedy if there is one.
    #[error("{0}")]
    Other(String),
}

impl Value<'_> {
    /// What it is, in SQL's words, and the Rust type for it.
    fn kind(&self) -> (&'static str, &'static str) {
        match self {
            Self::Null => ("NULL", "an Option"),
            Self::Boolean(_) => ("a BOOLEAN", "bool"),
            Self::Integer(_) => ("an integer", "i64"),
            Self::Unsigned(_) => ("an unsigned integer", "u64"),
            Self::Float(_) => ("a FLOAT", "f32"),
            Self::Double(_) => ("a DOUBLE PRECISION", "f64"),
            Self::Decimal(_) => ("a decimal", "Decimal"),
            Self::Text(_) => ("text", "String"),
            Self::Bytes(_) => ("binary data", "Vec<u8>"),
            Self::Date(_) => ("a DATE", "Date"),
            Self::Time(_) => ("a TIME", "Time"),
            Self::Timestamp(_) => ("a TIMESTAMP", "Timestamp"),
            Self::TimestampTz(_) => ("a TIMESTAMP WITH TIME ZONE", "TimestampTz"),
            Self::List(_) => ("an array", "ArrayRef"),
        }
    }

    /// The error for a value of a type that is not `expected`.
    fn refuse(&self, expected: &'static str) -> FromValueError {
        match self.kind() {
            _ if matches!(self, Self::Null) => FromValueError::Null { expected },
            (found, instead) => FromValueError::Type { found: found.to_owned(), expected, instead },
        }
    }

    /// The whole number that it is.
    fn integer(&self, expected: &'static str) -> Result<i128, FromValueError> {
        match self {
            Self::Integer(value) => Ok((*value).into()),
            Self::Unsigned(value) => Ok((*value).into()),
            Self::Decimal(decimal) => {
                decimal.to_integer().ok_or_else(|| inexact(decimal, expected, "Decimal"))
            }
            _ => Err(self.refuse(expected)),
        }
    }
}

fn inexact(value: impl ToString, expected: &'static str, instead: &'static str) -> FromValueError {
    FromValueError::Inexact { value: value.to_string(), expected, instead }
}

macro_rules! integers {
    ($($integer:ident)+) => { $(
        impl FromValue<'_> for $integer {
            fn from_value(value: Value<'_>) -> Result<Self, FromValueError> {
                const NAME: &str = stringify!($integer);
                let whole = value.integer(NAME)?;
                whole.try_into().map_err(|_| {
                    let instead = if i64::try_from(whole).is_ok() { "i64" } else { "i128" };
                    inexact(whole, NAME, instead)
                })
            }
        }
    )+ };
}

integers!(i8 i16 i32 i64 i128 u8 u16 u32 u64);

impl FromValue<'_> for f64 {
    fn from_value(value: Value<'_>) -> Result<Self, FromValueError> {
        match value {
            Value::Double(value) => Ok(value),
            Value::Float(value) => Ok(value.into()),
            Value::Integer(_) | Value::Unsigned(_) => {
                let whole = value.integer("f64")?;
                let float = whole as f64;
                // All numbers of 64 bits and their neighbours fit in 128 bits.
                if float as i128 == whole { Ok(float) } else { Err(inexact(whole, "f64", value.kind().1)) }
            }
            other => Err(other.refuse("f64")),
        }
    }
}

impl FromValue<'_> for f32 {
    fn from_value(value: Value<'_>) -> Result<Self, FromValueError> {
        match value {
            Value::Float(value) => Ok(value),
            Value::Double(value) => {
                let float = value as f32;
                let is_exact = f64::from(float).to_bits() == value.to_bits() || value.is_nan();
                if is_exact { Ok(float) } else { Err(inexact(format!("{value:?}"), "f32", "f64")) }
            }
            Value::Integer(_) | Value::Unsigned(_) => {
                let whole = value.integer("f32")?;
                let float = whole as f32;
                if float as i128 == whole { Ok(float) } else { Err(inexact(whole, "f32", value.kind().1)) }
            }
            other => Err(other.refuse("f32")),
        }
    }
}

impl FromValue<'_> for Decimal {
    fn from_value(value: Value<'_>) -> Result<Self, FromValueError> {
        match value {
            Value::Decimal(decimal) => Ok(decimal),
            Value::Integer(_) | Value::Unsigned(_) => value.integer("Decimal").map(Self::from),
            other => Err(other.refuse("Decimal")),
        }
    }
}

/// Types that one kind of value converts into.
macro_rules! own_kind {
    ($($type:ty = $name:literal: $variant:ident;)+) => { $(
        impl<'a> FromValue<'a> for $type {
            fn from_value(value: Value<'a>) -> Result<Self, FromValueError> {
                match value {
                    Value::$variant(value) => Ok(value.into()),
                    other => Err(other.refuse($name)),
                }
            }
        }
    )+ };
}

own_kind! {
    bool = "bool": Boolean;
    &'a str = "&str": Text;
    String = "String": Text;
    &'a [u8] = "&[u8]": Bytes;
    Vec<u8> = "Vec<u8>": Bytes;
    Date = "Date": Date;
    Time = "Time": Time;
    Timestamp = "Timestamp": Timestamp;
    TimestampTz = "TimestampTz": TimestampTz;
    ArrayRef = "ArrayRef": List;
}

impl<'a, T: FromValue<'a>> FromValue<'a> for Option<T> {
    fn from_value(value: Value<'a>) -> Result<Self, FromValueError> {
        match value {
            Value::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl<'a> FromValue<'a> for Value<'a> {
    fn from_value(value: Value<'a>) -> Result<Self, FromValueError> {
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read<'a, T: FromValue<'a>>(value: Value<'a>) -> Result<T, String> {
        T::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn integers_fit_or_say_what_would_take_them() {
        assert_eq!(read(Value::Integer(-128)), Ok(i8::MIN));
        assert_eq!(read::<i8>(Value::Integer(128)).unwrap_err(), "128 is not exact as i8; read it as i64");
        assert_eq!(
            read::<i64>(Value::Unsigned(u64::MAX)).unwrap_err(),
            "18446744073709551615 is not exact as i64; read it as i128"
        );
        assert_eq!(read(Value::Unsigned(u64::MAX)), Ok(u64::MAX));
        assert!(read::<u64>(Value::Integer(-1)).is_err());
        assert_eq!(read(Value::Decimal(Decimal::new(i128::MIN, 0))), Ok(i128::MIN));
        assert_eq!(read(Value::Decimal(Decimal::new(500, 2))), Ok(5_i32));
        assert_eq!(
            read::<i64>(Value::Decimal(Decimal::new(501, 2))).unwrap_err(),
            "5.01 is not exact as i64; read it as Decimal"
        );
    }

    #[test]
    fn floats_are_exact() {
        assert_eq!(read(Value::Float(0.1)), Ok(f64::from(0.1_f32)));
        assert_eq!(read(Value::Double(0.5)), Ok(0.5_f32));
        assert_eq!(read::<f32>(Value::Double(0.1)).unwrap_err(), "0.1 is not exact as f32; read it as f64");
        assert!(read::<f32>(Value::Double(1e300)).is_err());
        assert!(read::<f32>(Value::Double(f64::NAN)).unwrap().is_nan());
        assert_eq!(read(Value::Double(f64::NEG_INFINITY)), Ok(f32::NEG_INFINITY));
        assert_eq!(read::<f32>(Value::Double(-0.0)).map(f32::to_bits), Ok((-0.0_f32).to_bits()));
        assert_eq!(read(Value::Integer(1 << 53)), Ok(9_007_199_254_740_992.0));
        assert!(read::<f64>(Value::Integer((1 << 53) + 1)).is_err());
        assert!(read::<f64>(Value::Integer(i64::MAX)).is_err());
        assert_eq!(read::<f32>(Value::Integer(1 << 24)), Ok(16_777_216.0));
        assert!(read::<f32>(Value::Integer((1 << 24) + 1)).is_err());
        assert_eq!(
            read::<f64>(Value::Decimal(Decimal::new(5, 1))).unwrap_err(),
            "a decimal cannot be read as f64; read it as Decimal"
        );
    }

    #[test]
    fn null_needs_an_option() {
        assert_eq!(read::<String>(Value::Null).unwrap_err(), "the value is NULL; read it as Option<String>");
        assert_eq!(read::<i64>(Value::Null).unwrap_err(), "the value is NULL; read it as Option<i64>");
        assert_eq!(read(Value::Null), Ok(None::<Decimal>));
        assert_eq!(read(Value::Text("a")), Ok(Some("a")));
        assert!(read::<Option<i64>>(Value::Text("1")).is_err());
    }

    #[test]
    fn types_do_not_mix() {
        assert_eq!(
            read::<i64>(Value::Text("1")).unwrap_err(),
            "text cannot be read as i64; read it as String"
        );
        assert!(read::<bool>(Value::Integer(1)).is_err());
        assert!(read::<String>(Value::Integer(1)).is_err());
        assert!(read::<&[u8]>(Value::Text("a")).is_err());
        assert!(read::<&str>(Value::Bytes(b"a")).is_err());
        let timestamp = Timestamp::from_unix_micros(0).unwrap();
        assert!(read::<Date>(Value::Timestamp(timestamp)).is_err());
        assert!(read::<Timestamp>(Value::TimestampTz(TimestampTz::from_utc(timestamp))).is_err());
        assert!(read::<Decimal>(Value::Double(1.0)).is_err());
    }

    #[test]
    fn each_type_takes_its_own() {
        let utc = Timestamp::from_unix_micros(0).unwrap();
        assert_eq!(read(Value::Boolean(true)), Ok(true));
        assert_eq!(read(Value::Text("ü")), Ok("ü".to_owned()));
        assert_eq!(read(Value::Bytes(b"\0")), Ok(vec![0_u8]));
        assert_eq!(read(Value::Bytes(b"\0")), Ok(&b"\0"[..]));
        assert_eq!(read(Value::Date(utc.date())), Ok(utc.date()));
        assert_eq!(read(Value::Time(utc.time())), Ok(utc.time()));
        assert_eq!(read(Value::Timestamp(utc)), Ok(utc));
        assert_eq!(read(Value::TimestampTz(TimestampTz::from_utc(utc))), Ok(TimestampTz::from_utc(utc)));
        assert_eq!(read(Value::Integer(-7)), Ok(Decimal::new(-7, 0)));
        assert_eq!(read(Value::Null), Ok(Value::Null));
    }

    proptest! {
        #[test]
        fn whatever_is_read_as_a_float_is_the_same_number(value: i64) {
            if let Ok(float) = read::<f64>(Value::Integer(value)) {
                prop_assert_eq!(float as i128, i128::from(value));
            }
            if let Ok(float) = read::<f32>(Value::Integer(value)) {
                prop_assert_eq!(float as i128, i128::from(value));
            }
        }
    }
}
