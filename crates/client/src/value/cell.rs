//! One cell of an Arrow column as a [`Value`].

use super::raw::{Raw, out_of_range, timestamp, unreadable};
use super::{FromValueError, TimestampTz, Value};
use arrow::array::{Array, AsArray};
use arrow::datatypes::*;

/// The value at `row` of `array`, which has that many.
pub(crate) fn cell(array: &dyn Array, row: usize) -> Result<Value<'_>, FromValueError> {
    use DataType as T;
    if array.is_null(row) {
        return Ok(Value::Null);
    }
    let raw = match array.data_type() {
        T::Null => Raw::Null,
        T::Boolean => Raw::Boolean(array.as_boolean().value(row)),
        T::Int16 => array.as_primitive::<Int16Type>().value(row).into(),
        T::Int32 => array.as_primitive::<Int32Type>().value(row).into(),
        T::Int64 => array.as_primitive::<Int64Type>().value(row).into(),
        T::UInt64 => array.as_primitive::<UInt64Type>().value(row).into(),
        T::Float32 => array.as_primitive::<Float32Type>().value(row).into(),
        T::Float64 => array.as_primitive::<Float64Type>().value(row).into(),
        T::Decimal128(..) => array.as_primitive::<Decimal128Type>().value(row).into(),
        T::Decimal256(..) => array.as_primitive::<Decimal256Type>().value(row).into(),
        T::Binary => Raw::Bytes(array.as_binary::<i32>().value(row)),
        T::LargeBinary => Raw::Bytes(array.as_binary::<i64>().value(row)),
        T::BinaryView => Raw::Bytes(array.as_binary_view().value(row)),
        T::FixedSizeBinary(_) => Raw::Bytes(array.as_fixed_size_binary().value(row)),
        T::Date32 => array.as_primitive::<Date32Type>().value(row).into(),
        T::Time64(TimeUnit::Microsecond) => array.as_primitive::<Time64MicrosecondType>().value(row).into(),
        T::Timestamp(TimeUnit::Microsecond, _) => {
            array.as_primitive::<TimestampMicrosecondType>().value(row).into()
        }
        other => return special(array, row, other),
    };
    raw.value(array.data_type())
}

/// Values of types that have no stored form of their own, or whose arrays have checked it.
fn special<'a>(array: &'a dyn Array, row: usize, data_type: &DataType) -> Result<Value<'a>, FromValueError> {
    use DataType as T;
    Ok(match data_type {
        T::Int8 => Value::Integer(array.as_primitive::<Int8Type>().value(row).into()),
        T::UInt8 => Value::Unsigned(array.as_primitive::<UInt8Type>().value(row).into()),
        T::UInt16 => Value::Unsigned(array.as_primitive::<UInt16Type>().value(row).into()),
        T::UInt32 => Value::Unsigned(array.as_primitive::<UInt32Type>().value(row).into()),
        T::Utf8 => Value::Text(array.as_string::<i32>().value(row)),
        T::LargeUtf8 => Value::Text(array.as_string::<i64>().value(row)),
        T::Utf8View => Value::Text(array.as_string_view().value(row)),
        T::Struct(fields) if is_timestamp_with_offset(fields) => {
            let array = array.as_struct();
            let utc = timestamp(array.column(0).as_primitive::<TimestampMicrosecondType>().value(row))?;
            let minutes = array.column(1).as_primitive::<Int16Type>().value(row);
            let instant = TimestampTz::with_offset(utc, minutes);
            Value::TimestampTz(
                instant.ok_or_else(|| out_of_range(format!("an offset of {minutes} minutes")))?,
            )
        }
        T::List(_) => Value::List(array.as_list::<i32>().value(row)),
        T::LargeList(_) => Value::List(array.as_list::<i64>().value(row)),
        T::FixedSizeList(..) => Value::List(array.as_fixed_size_list().value(row)),
        other => return Err(unreadable(other)),
    })
}

/// The storage of the extension type `arrow.timestamp_with_offset`.
fn is_timestamp_with_offset(fields: &Fields) -> bool {
    let types: Vec<_> = fields.iter().map(|field| field.data_type()).collect();
    matches!(types[..], [DataType::Timestamp(TimeUnit::Microsecond, Some(_)), DataType::Int16])
}

#[cfg(test)]
mod tests {
    use super::super::{Date, Decimal, Timestamp};
    use super::*;
    use arrow::array::*;
    use std::sync::Arc;

    fn of(array: impl Array + 'static) -> ArrayRef {
        Arc::new(array)
    }

    #[test]
    fn every_type_of_results_has_values() {
        let date = Date::new(1970, 1, 2).unwrap();
        let utc = Timestamp::from_unix_micros(100).unwrap();
        let with_offset = StructArray::from(vec![
            (
                Arc::new(Field::new(
                    "timestamp",
                    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
                    false,
                )),
                of(TimestampMicrosecondArray::from(vec![100]).with_timezone("UTC")),
            ),
            (Arc::new(Field::new("offset_minutes", DataType::Int16, false)), of(Int16Array::from(vec![-90]))),
        ]);
        let cases: Vec<(ArrayRef, Value<'_>)> = vec![
            (of(NullArray::new(1)), Value::Null),
            (of(Int32Array::from(vec![None])), Value::Null),
            (of(BooleanArray::from(vec![true])), Value::Boolean(true)),
            (of(Int8Array::from(vec![i8::MIN])), Value::Integer(-128)),
            (of(Int16Array::from(vec![i16::MIN])), Value::Integer(-32_768)),
            (of(Int32Array::from(vec![i32::MIN])), Value::Integer(i32::MIN.into())),
            (of(Int64Array::from(vec![i64::MIN])), Value::Integer(i64::MIN)),
            (of(UInt8Array::from(vec![255])), Value::Unsigned(255)),
            (of(UInt16Array::from(vec![7])), Value::Unsigned(7)),
            (of(UInt32Array::from(vec![7])), Value::Unsigned(7)),
            (of(UInt64Array::from(vec![u64::MAX])), Value::Unsigned(u64::MAX)),
            (of(Float32Array::from(vec![0.1])), Value::Float(0.1)),
            (of(Float64Array::from(vec![0.1])), Value::Double(0.1)),
            (
                of(Decimal128Array::from(vec![1250]).with_precision_and_scale(9, 2).unwrap()),
                Value::Decimal(Decimal::new(1250, 2)),
            ),
            (
                of(Decimal256Array::from(vec![i256::from_i128(i128::MIN)])
                    .with_precision_and_scale(39, 0)
                    .unwrap()),
                Value::Decimal(Decimal::new(i128::MIN, 0)),
            ),
            (of(StringArray::from(vec!["ü"])), Value::Text("ü")),
            (of(LargeStringArray::from(vec!["ü"])), Value::Text("ü")),
            (of(StringViewArray::from(vec!["ü"])), Value::Text("ü")),
            (of(BinaryArray::from(vec![&b"\0"[..]])), Value::Bytes(b"\0")),
            (of(LargeBinaryArray::from(vec![&b"\0"[..]])), Value::Bytes(b"\0")),
            (of(BinaryViewArray::from(vec![&b"\0"[..]])), Value::Bytes(b"\0")),
            (
                of(FixedSizeBinaryArray::try_from_iter([b"\0\x01"].into_iter()).unwrap()),
                Value::Bytes(b"\0\x01"),
            ),
            (of(Date32Array::from(vec![1])), Value::Date(date)),
            (of(Time64MicrosecondArray::from(vec![100])), Value::Time(utc.time())),
            (of(TimestampMicrosecondArray::from(vec![100])), Value::Timestamp(utc)),
            (
                of(TimestampMicrosecondArray::from(vec![100]).with_timezone("UTC")),
                Value::TimestampTz(TimestampTz::from_utc(utc)),
            ),
            (of(with_offset), Value::TimestampTz(TimestampTz::with_offset(utc, -90).unwrap())),
            (
                of(ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1), None])])),
                Value::List(of(Int32Array::from(vec![Some(1), None]))),
            ),
        ];
        for (array, value) in cases {
            assert_eq!(cell(&array, 0), Ok(value), "{}", array.data_type());
        }
    }

    #[test]
    fn what_no_value_can_hold_is_an_error() {
        let refused: Vec<ArrayRef> = vec![
            of(Date32Array::from(vec![i32::MAX])),
            of(Time64MicrosecondArray::from(vec![86_400_000_000])),
            of(TimestampMicrosecondArray::from(vec![i64::MAX])),
            of(Decimal256Array::from(vec![i256::MAX])),
            of(DurationSecondArray::from(vec![1])),
        ];
        for array in refused {
            assert!(matches!(cell(&array, 0), Err(FromValueError::Other(_))), "{}", array.data_type());
        }
    }
}
