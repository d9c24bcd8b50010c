//! Values of many rows as one array.

use super::value::Value;
use arrow::array::*;
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Schema};
use firearrow::{Decimal, Descriptor, ToParam};
use firearrow_proto::api::descriptor::SqlType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::mem;
use std::sync::Arc;

/// The values of one parameter, all of the same type, or NULL.
#[derive(Default)]
pub(super) struct Column {
    values: Vec<Value>,
    /// The first that is not NULL.
    kind: Option<Kind>,
}

/// What values of one array have in common: the variant, and the type of array elements.
type Kind = (mem::Discriminant<Value>, Option<DataType>);

fn kind(value: &Value) -> Kind {
    let element = match value {
        Value::Array(array) => Some(array.data_type().clone()),
        Value::Zoned(value) => Some(value.to_param().data_type().clone()),
        _ => None,
    };
    (mem::discriminant(value), element)
}

impl Column {
    /// Whether the value has the type of those before it.
    pub(super) fn fits(&self, value: &Value) -> bool {
        let is_null = matches!(value, Value::Null);
        is_null || self.kind.as_ref().is_none_or(|known| *known == kind(value))
    }

    pub(super) fn push(&mut self, value: Value) {
        if self.kind.is_none() && !matches!(value, Value::Null) {
            self.kind = Some(kind(&value));
        }
        self.values.push(value);
    }

    /// Takes the values as an array.
    pub(super) fn take(&mut self) -> ArrayRef {
        self.kind = None;
        array(mem::take(&mut self.values))
    }
}

/// The batch of these columns.
pub(super) fn batch(arrays: Vec<ArrayRef>, rows: usize) -> RecordBatch {
    let fields: Vec<Field> = arrays
        .iter()
        .enumerate()
        .map(|(index, array)| Field::new(format!("{}", index + 1), array.data_type().clone(), true))
        .collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options);
    batch.expect("every row has a value in every column")
}

/// Collects the values of one variant into an array.
macro_rules! collect {
    ($values:expr, $variant:ident, $array:ty) => {
        Arc::new(<$array>::from_iter($values.into_iter().map(|value| match value {
            Value::$variant(value) => Some(value),
            _ => None,
        })))
    };
}

/// Values of one type as an array.
fn array(values: Vec<Value>) -> ArrayRef {
    let first = values.iter().find(|value| !matches!(value, Value::Null));
    match first {
        None | Some(Value::Null) => new_null_array(&DataType::Null, values.len()),
        Some(Value::Boolean(_)) => collect!(values, Boolean, BooleanArray),
        Some(Value::Integer(_)) => collect!(values, Integer, Int64Array),
        Some(Value::Double(_)) => collect!(values, Double, Float64Array),
        Some(Value::Text(_)) => collect!(values, Text, LargeStringArray),
        Some(Value::Bytes(_)) => collect!(values, Bytes, LargeBinaryArray),
        Some(Value::Date(_)) => collect!(values, Date, Date32Array),
        Some(Value::Blob(_)) => collect!(values, Blob, UInt64Array),
        Some(Value::Moment(_)) => collect!(values, Moment, TimestampMicrosecondArray),
        Some(Value::Time(_)) => {
            let times = values.iter().map(|value| match value {
                Value::Time(time) => Some(time.micros()),
                _ => None,
            });
            Arc::new(Time64MicrosecondArray::from_iter(times))
        }
        Some(Value::Decimal(_)) => decimals(values),
        Some(Value::Zoned(_) | Value::Array(_)) => one_by_one(&values),
    }
}

/// Decimals with the digits after the point that the longest of them has; as text if they do not fit so.
fn decimals(values: Vec<Value>) -> ArrayRef {
    let numbers: Vec<Option<Decimal>> = values
        .iter()
        .map(|value| match value {
            Value::Decimal(number) => Some(*number),
            _ => None,
        })
        .collect();
    let scale = numbers.iter().flatten().map(|number| number.scale).max().unwrap_or(0);
    let unscaled = numbers.iter().map(|number| match number {
        None => Some(None),
        Some(number) => number.rescale(scale).map(|number| Some(number.unscaled)),
    });
    let unscaled: Option<Vec<Option<i128>>> = unscaled.collect();
    let array = unscaled.and_then(|unscaled| {
        let array = Decimal128Array::from(unscaled).with_precision_and_scale(38, scale).ok()?;
        array.validate_decimal_precision(38).ok()?;
        Some(Arc::new(array) as ArrayRef)
    });
    array.unwrap_or_else(|| {
        let texts = numbers.iter().map(|number| number.map(|number| number.to_string()));
        Arc::new(LargeStringArray::from_iter(texts))
    })
}

/// Values that the client makes arrays of, put together.
fn one_by_one(values: &[Value]) -> ArrayRef {
    let arrays: Vec<Option<ArrayRef>> = values
        .iter()
        .map(|value| match value {
            Value::Zoned(value) => Some(value.to_param()),
            Value::Array(array) => Some(Arc::clone(array)),
            _ => None,
        })
        .collect();
    let data_type = arrays.iter().flatten().next().map_or(DataType::Null, |array| array.data_type().clone());
    let null = new_null_array(&data_type, 1);
    let arrays: Vec<&dyn Array> =
        arrays.iter().map(|array| array.as_ref().map_or(null.as_ref(), AsRef::as_ref)).collect();
    arrow::compute::concat(&arrays).expect("values of one column have one type")
}

/// A Python list with this many levels as an array with one list.
pub(super) fn list(object: &Bound<'_, PyAny>, depth: usize, element: &Descriptor) -> PyResult<ArrayRef> {
    let mut values = Vec::new();
    let mut lengths = vec![Vec::new(); depth];
    flatten(object, 0, element, &mut values, &mut lengths)?;
    let mut column = Column::default();
    for value in alike(values, element) {
        if !column.fits(&value) {
            return Err(PyTypeError::new_err(
                "the elements of an array must be of one type, or numbers that fit its own",
            ));
        }
        column.push(value);
    }
    let mut array = column.take();
    for lengths in lengths.into_iter().rev() {
        let field = Arc::new(Field::new_list_field(array.data_type().clone(), true));
        array = Arc::new(ListArray::new(field, OffsetBuffer::from_lengths(lengths), array, None));
    }
    Ok(array)
}

/// Makes numbers of different classes alike, if nothing is lost: floats for elements of floating point, otherwise decimals.
fn alike(values: Vec<Value>, element: &Descriptor) -> Vec<Value> {
    let has = |wanted: fn(&Value) -> bool| values.iter().any(wanted);
    let kinds = [
        has(|value| matches!(value, Value::Integer(_))),
        has(|value| matches!(value, Value::Decimal(_))),
        has(|value| matches!(value, Value::Double(_))),
    ];
    if kinds.iter().filter(|has| **has).count() < 2 {
        return values;
    }
    let is_floating = matches!(element.sql_type, SqlType::FLOAT | SqlType::DOUBLE | SqlType::D_FLOAT);
    values.into_iter().map(|value| if is_floating { to_double(value) } else { to_decimal(value) }).collect()
}

fn to_double(value: Value) -> Value {
    match value {
        Value::Integer(number) if number.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS => {
            Value::Double(number as f64)
        }
        Value::Decimal(number) => number.to_string().parse().map_or(Value::Decimal(number), Value::Double),
        value => value,
    }
}

/// A float becomes the shortest decimal that stands for it, as Python shows it.
fn to_decimal(value: Value) -> Value {
    match value {
        Value::Integer(number) => Value::Decimal(Decimal::new(number.into(), 0)),
        Value::Double(number) => number.to_string().parse().map_or(Value::Double(number), Value::Decimal),
        value => value,
    }
}

fn flatten(
    object: &Bound<'_, PyAny>,
    level: usize,
    element: &Descriptor,
    values: &mut Vec<Value>,
    lengths: &mut [Vec<usize>],
) -> PyResult<()> {
    if level == lengths.len() {
        values.push(Value::new(object, Some(element))?);
        return Ok(());
    }
    let depth = lengths.len();
    let mut length = 0;
    for item in object.try_iter().map_err(|_| {
        PyTypeError::new_err(format!("the array has {depth} dimensions, so its value is lists within lists"))
    })? {
        flatten(&item?, level + 1, element, values, lengths)?;
        length += 1;
    }
    lengths[level].push(length);
    Ok(())
}
