//! Rust values as parameters: arrays of one value.

use super::scalar::Scalar;
use crate::value::{Date, Decimal, Time, Timestamp, TimestampTz, Value};
use arrow::array::*;
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, TimeUnit, i256};
use std::borrow::Cow;
use std::sync::Arc;

/// A Rust value that can be a parameter, as in [`params!`](crate::params!).
///
/// Nothing is converted: the server gets the value as what it is and converts it to the type of the parameter; what would not
/// arrive whole is an error of the statement. For a BLOB, `&[u8]` and `&str` are its contents and `u64` is the id of a BLOB
/// that was [created](crate::Transaction::create_blob).
pub trait ToParam {
    /// Returns the value as an Arrow array of one value.
    fn to_param(&self) -> ArrayRef;

    /// Returns the value without an array, where that is possible: it need not make one for each execution.
    #[doc(hidden)]
    fn to_scalar(&self) -> Scalar {
        Scalar::Array(self.to_param())
    }

    /// Returns the Arrow type that a NULL in its place has. Statements that are executed again and again are a little faster if
    /// their parameters keep their types.
    fn null_type() -> DataType
    where
        Self: Sized,
    {
        DataType::Null
    }
}

/// Values with an Arrow type of their own.
macro_rules! to_param {
    ($($type:ty: $data_type:expr, |$value:ident| $array:expr;)+) => { $(
        impl ToParam for $type {
            fn to_param(&self) -> ArrayRef {
                let $value = *self;
                Arc::new($array)
            }

            fn null_type() -> DataType {
                $data_type
            }
        }
    )+ };
}

/// Those that need no array.
macro_rules! to_scalar {
    ($($type:ty: $data_type:expr, |$value:ident| $scalar:expr;)+) => { $(
        impl ToParam for $type {
            fn to_param(&self) -> ArrayRef {
                self.to_scalar().to_array()
            }

            fn to_scalar(&self) -> Scalar {
                let $value = *self;
                $scalar
            }

            fn null_type() -> DataType {
                $data_type
            }
        }
    )+ };
}

to_scalar! {
    bool: DataType::Boolean, |value| Scalar::Boolean(value);
    i16: DataType::Int16, |value| Scalar::Int16(value);
    i32: DataType::Int32, |value| Scalar::Int32(value);
    i64: DataType::Int64, |value| Scalar::Int64(value);
    f64: DataType::Float64, |value| Scalar::Double(value);
    Date: DataType::Date32, |value| Scalar::Date(value.unix_days());
    Timestamp: DataType::Timestamp(TimeUnit::Microsecond, None), |value| Scalar::Timestamp(value.unix_micros());
}

to_param! {
    i8: DataType::Int8, |value| Int8Array::from(vec![value]);
    u8: DataType::UInt8, |value| UInt8Array::from(vec![value]);
    u16: DataType::UInt16, |value| UInt16Array::from(vec![value]);
    u32: DataType::UInt32, |value| UInt32Array::from(vec![value]);
    u64: DataType::UInt64, |value| UInt64Array::from(vec![value]);
    f32: DataType::Float32, |value| Float32Array::from(vec![value]);
    Time: DataType::Time64(TimeUnit::Microsecond), |value| Time64MicrosecondArray::from(vec![value.micros()]);
    TimestampTz: DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        |value| TimestampMicrosecondArray::from(vec![value.utc().unix_micros()]).with_timezone(zone(value));
}

/// The displacement, as Arrow and Firebird write it.
fn zone(value: TimestampTz) -> String {
    match value.offset_minutes() {
        None => "UTC".into(),
        Some(minutes) => {
            let (sign, minutes) = (if minutes < 0 { '-' } else { '+' }, minutes.unsigned_abs());
            format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
        }
    }
}

impl ToParam for i128 {
    fn to_param(&self) -> ArrayRef {
        Decimal::from(*self).to_param()
    }

    fn null_type() -> DataType {
        DataType::Decimal128(38, 0)
    }
}

impl ToParam for Decimal {
    fn to_param(&self) -> ArrayRef {
        // Arrow's scales go from 0 to 38 here; what has no such form is for DECFLOAT, which takes digits.
        let is_usual = (0..=38).contains(&self.scale);
        let usual = if is_usual { Some(*self) } else { self.rescale(self.scale.clamp(0, 38)) };
        let Some(Self { unscaled, scale }) = usual else { return self.to_string().to_param() };
        if unscaled.unsigned_abs() < 10_u128.pow(38) {
            decimal(Decimal128Array::from(vec![unscaled]).with_precision_and_scale(38, scale))
        } else {
            let unscaled = i256::from_i128(unscaled);
            decimal(Decimal256Array::from(vec![unscaled]).with_precision_and_scale(39, scale))
        }
    }
}

fn decimal<T: Array + 'static, E: std::fmt::Debug>(array: Result<T, E>) -> ArrayRef {
    Arc::new(array.expect("the scale is not above the precision"))
}

impl ToParam for str {
    fn to_param(&self) -> ArrayRef {
        self.to_scalar().to_array()
    }

    fn to_scalar(&self) -> Scalar {
        Scalar::Text(self.to_owned())
    }
}

impl ToParam for String {
    fn to_param(&self) -> ArrayRef {
        self.as_str().to_param()
    }

    fn to_scalar(&self) -> Scalar {
        self.as_str().to_scalar()
    }

    fn null_type() -> DataType {
        DataType::Utf8
    }
}

impl ToParam for [u8] {
    fn to_param(&self) -> ArrayRef {
        self.to_scalar().to_array()
    }

    fn to_scalar(&self) -> Scalar {
        Scalar::Bytes(self.to_owned())
    }
}

impl<const N: usize> ToParam for [u8; N] {
    fn to_param(&self) -> ArrayRef {
        self.as_slice().to_param()
    }

    fn to_scalar(&self) -> Scalar {
        self.as_slice().to_scalar()
    }
}

impl ToParam for Vec<u8> {
    fn to_param(&self) -> ArrayRef {
        self.as_slice().to_param()
    }

    fn to_scalar(&self) -> Scalar {
        self.as_slice().to_scalar()
    }
}

impl<T: ToParam + ToOwned + ?Sized> ToParam for Cow<'_, T> {
    fn to_param(&self) -> ArrayRef {
        self.as_ref().to_param()
    }

    fn to_scalar(&self) -> Scalar {
        self.as_ref().to_scalar()
    }
}

impl<T: ToParam> ToParam for Option<T> {
    fn to_param(&self) -> ArrayRef {
        match self {
            Some(value) => value.to_param(),
            None => new_null_array(&T::null_type(), 1),
        }
    }

    fn to_scalar(&self) -> Scalar {
        match self {
            Some(value) => value.to_scalar(),
            None => Scalar::Null(T::null_type()),
        }
    }

    fn null_type() -> DataType {
        T::null_type()
    }
}

/// The array itself: one value, or as many rows of parameters as it has values.
impl ToParam for ArrayRef {
    fn to_param(&self) -> ArrayRef {
        Self::clone(self)
    }
}

impl ToParam for Value<'_> {
    fn to_param(&self) -> ArrayRef {
        match self {
            Self::Null => Arc::new(NullArray::new(1)),
            Self::Boolean(value) => value.to_param(),
            Self::Integer(value) => value.to_param(),
            Self::Unsigned(value) => value.to_param(),
            Self::Float(value) => value.to_param(),
            Self::Double(value) => value.to_param(),
            Self::Decimal(value) => value.to_param(),
            Self::Text(value) => value.to_param(),
            Self::Bytes(value) => value.to_param(),
            Self::Date(value) => value.to_param(),
            Self::Time(value) => value.to_param(),
            Self::Timestamp(value) => value.to_param(),
            Self::TimestampTz(value) => value.to_param(),
            Self::List(items) => {
                let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
                let offsets = OffsetBuffer::from_lengths([items.len()]);
                Arc::new(LargeListArray::new(field, offsets, Arc::clone(items), None))
            }
        }
    }

    fn to_scalar(&self) -> Scalar {
        match self {
            Self::Null => Scalar::Null(DataType::Null),
            Self::Boolean(value) => value.to_scalar(),
            Self::Integer(value) => value.to_scalar(),
            Self::Double(value) => value.to_scalar(),
            Self::Text(value) => value.to_scalar(),
            Self::Bytes(value) => value.to_scalar(),
            Self::Date(value) => value.to_scalar(),
            Self::Timestamp(value) => value.to_scalar(),
            _ => Scalar::Array(self.to_param()),
        }
    }
}

impl<T: ToParam + ?Sized> ToParam for &T {
    fn to_param(&self) -> ArrayRef {
        (**self).to_param()
    }

    fn to_scalar(&self) -> Scalar {
        (**self).to_scalar()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::cell;

    #[test]
    fn values_come_back_out_of_their_arrays() {
        let utc = Timestamp::from_unix_micros(-100).unwrap();
        for value in [
            Value::Null,
            Value::Boolean(true),
            Value::Integer(i64::MIN),
            Value::Unsigned(u64::MAX),
            Value::Float(0.1),
            Value::Double(0.1),
            Value::Decimal(Decimal::new(-1250, 2)),
            Value::Decimal(Decimal::new(i128::MIN, 38)),
            Value::Text("ü"),
            Value::Bytes(b"\0"),
            Value::Date(utc.date()),
            Value::Time(utc.time()),
            Value::Timestamp(utc),
            Value::TimestampTz(TimestampTz::from_utc(utc)),
            Value::List(Arc::new(Int32Array::from(vec![Some(1), None]))),
        ] {
            let array = value.to_param();
            assert_eq!(array.len(), 1);
            assert_eq!(cell(&array, 0), Ok(value.clone()));
        }
    }

    #[test]
    fn decimals_of_any_scale_keep_their_digits() {
        let of = |unscaled, scale| Decimal::new(unscaled, scale).to_param();
        assert_eq!(of(15, -3).data_type(), &DataType::Decimal128(38, 0));
        assert_eq!(cell(&of(15, -3), 0), Ok(Value::Decimal(Decimal::new(15_000, 0))));
        assert_eq!(cell(&of(500, 40), 0), Ok(Value::Decimal(Decimal::new(5, 38))));
        assert_eq!(of(i128::MAX, 0).data_type(), &DataType::Decimal256(39, 0));
        assert_eq!(of(10_i128.pow(38) - 1, 0).data_type(), &DataType::Decimal128(38, 0));
        for (unscaled, scale) in [(1, 40), (1, -100), (-1, -128), (1, 127)] {
            let text = Decimal::new(unscaled, scale).to_string();
            assert_eq!(cell(&of(unscaled, scale), 0), Ok(Value::Text(&text)));
        }
    }

    #[test]
    fn zones_are_kept() {
        let utc = Timestamp::from_unix_micros(0).unwrap();
        for (minutes, zone) in [(90, "+01:30"), (-180, "-03:00"), (0, "+00:00"), (-1, "-00:01")] {
            let array = TimestampTz::with_offset(utc, minutes).unwrap().to_param();
            assert_eq!(array.data_type(), &DataType::Timestamp(TimeUnit::Microsecond, Some(zone.into())));
        }
    }

    #[test]
    fn nulls_have_the_type_of_the_values() {
        assert_eq!(None::<i32>.to_param().data_type(), 5_i32.to_param().data_type());
        assert_eq!(None::<String>.to_param().data_type(), String::new().to_param().data_type());
        assert_eq!(None::<i128>.to_param().data_type(), 5_i128.to_param().data_type());
        assert_eq!(None::<Option<Date>>.to_param().data_type(), &DataType::Date32);
        assert_eq!(None::<&str>.to_param().logical_null_count(), 1);
        assert_eq!(None::<bool>.to_param().logical_null_count(), 1);
    }
}
