//! The common form of what drivers call the same: integers, decimals and times of other widths and units.
//!
//! Values are converted exactly or not at all; `arrow`'s `cast` would cut nanoseconds off.

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryArray, PrimitiveArray, new_null_array,
};
use arrow::compute::take;
use arrow::datatypes::{
    DataType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    Float16Type, Float32Type, Int8Type, Int64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use std::sync::Arc;

/// Why values have no common form.
pub(super) enum Unfit {
    /// The values of the dictionary cannot be looked up.
    Type,
    /// A value would be changed.
    Value(DataType),
}

/// Returns the values in their common form. Values already in it, and types without one, are returned unchanged. Timestamps lose
/// their zone.
pub(super) fn widened(values: &ArrayRef) -> Result<ArrayRef, Unfit> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    Ok(match values.data_type() {
        DataType::Int8 => each::<Int8Type, Int64Type>(values, |value| Some(value.into()))?,
        DataType::UInt8 => each::<UInt8Type, Int64Type>(values, |value| Some(value.into()))?,
        DataType::UInt16 => each::<UInt16Type, Int64Type>(values, |value| Some(value.into()))?,
        DataType::UInt32 => each::<UInt32Type, Int64Type>(values, |value| Some(value.into()))?,
        DataType::UInt64 => decimals::<UInt64Type>(values, 20, 0, |value| Some(value.into()))?,
        DataType::Float16 => each::<Float16Type, Float32Type>(values, |value| Some(value.into()))?,
        DataType::Decimal32(precision, scale) => {
            decimals::<Decimal32Type>(values, *precision, *scale, |value| Some(value.into()))?
        }
        DataType::Decimal64(precision, scale) => {
            decimals::<Decimal64Type>(values, *precision, *scale, |value| Some(value.into()))?
        }
        DataType::Decimal256(_, scale) => {
            decimals::<Decimal256Type>(values, 38, *scale, |value| value.to_i128())?
        }
        DataType::Timestamp(Second, _) => {
            each::<TimestampSecondType, TimestampMicrosecondType>(values, |value| {
                value.checked_mul(1_000_000)
            })?
        }
        DataType::Timestamp(Millisecond, _) => {
            each::<TimestampMillisecondType, TimestampMicrosecondType>(values, |value| {
                value.checked_mul(1_000)
            })?
        }
        DataType::Timestamp(Nanosecond, _) => {
            each::<TimestampNanosecondType, TimestampMicrosecondType>(values, |value| whole(value, 1_000))?
        }
        // The moment, whatever the zone in which it is shown.
        DataType::Timestamp(Microsecond, Some(_)) => {
            each::<TimestampMicrosecondType, TimestampMicrosecondType>(values, Some)?
        }
        DataType::Date64 => each::<Date64Type, Date32Type>(values, |value| {
            whole(value, 86_400_000).and_then(|days| days.try_into().ok())
        })?,
        DataType::Time32(Second) => each::<Time32SecondType, Time64MicrosecondType>(values, |value| {
            Some(i64::from(value) * 1_000_000)
        })?,
        DataType::Time32(_) => each::<Time32MillisecondType, Time64MicrosecondType>(values, |value| {
            Some(i64::from(value) * 1_000)
        })?,
        DataType::Time64(Nanosecond) => {
            each::<Time64NanosecondType, Time64MicrosecondType>(values, |value| whole(value, 1_000))?
        }
        DataType::FixedSizeBinary(_) => {
            Arc::new(values.as_fixed_size_binary().iter().collect::<BinaryArray>())
        }
        DataType::Null => new_null_array(&DataType::Utf8, values.len()),
        DataType::Dictionary(..) => {
            let dictionary = values.as_any_dictionary();
            let plain = take(dictionary.values(), dictionary.keys(), None).map_err(|_| Unfit::Type)?;
            widened(&plain)?
        }
        _ => Arc::clone(values),
    })
}

/// What each value becomes; `None` if it cannot.
fn each<F: ArrowPrimitiveType, T: ArrowPrimitiveType>(
    values: &ArrayRef,
    convert: impl Fn(F::Native) -> Option<T::Native>,
) -> Result<ArrayRef, Unfit> {
    let values = values.as_primitive::<F>();
    let new: PrimitiveArray<T> = values.unary_opt(convert);
    if new.null_count() != values.null_count() {
        return Err(Unfit::Value(T::DATA_TYPE));
    }
    Ok(Arc::new(new))
}

/// `None` if there is a remainder.
fn whole(value: i64, unit: i64) -> Option<i64> {
    (value % unit == 0).then_some(value / unit)
}

fn decimals<F: ArrowPrimitiveType>(
    values: &ArrayRef,
    precision: u8,
    scale: i8,
    convert: impl Fn(F::Native) -> Option<i128>,
) -> Result<ArrayRef, Unfit> {
    let unfit = || Unfit::Value(DataType::Decimal128(precision, scale));
    let values = each::<F, Decimal128Type>(values, convert).map_err(|_| unfit())?;
    let values = values.as_primitive::<Decimal128Type>().clone();
    let values = values.with_precision_and_scale(precision, scale).map_err(|_| unfit())?;
    values.validate_decimal_precision(precision).map_err(|_| unfit())?;
    Ok(Arc::new(values))
}
