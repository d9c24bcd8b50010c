//! One column of a batch: its values as Python objects.

use crate::values::{clock, decimal, number, zone};
use arrow::array::*;
use arrow::datatypes::{DataType, TimeUnit};
use firearrow::Descriptor;
use firearrow_proto::api::descriptor::SqlType;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyList, PyString};

/// A column, by the Python class of its values.
pub(super) struct Column {
    kind: Kind,
    /// `None` = no value is NULL.
    nulls: Option<arrow::buffer::NullBuffer>,
}

enum Kind {
    Null,
    Boolean(BooleanArray),
    Int16(Int16Array),
    Int32(Int32Array),
    Int64(Int64Array),
    Float32(Float32Array),
    Float64(Float64Array),
    Decimal128(Decimal128Array),
    /// With digits after the point, and otherwise an integer.
    Decimal256(Decimal256Array),
    Integer256(Decimal256Array),
    Text(StringArray),
    LargeText(LargeStringArray),
    TextView(StringViewArray),
    /// A DECFLOAT.
    DecFloat(StringArray),
    /// With a zone.
    ZonedMoment(StringArray),
    ZonedTime(StringArray),
    Bytes(BinaryArray),
    LargeBytes(LargeBinaryArray),
    FixedBytes(FixedSizeBinaryArray),
    /// Ids of BLOBs.
    Id(UInt64Array),
    Day(Date32Array),
    Time(Time64MicrosecondArray),
    Moment(TimestampMicrosecondArray),
    /// The elements of an array.
    List(ListArray, Box<Column>),
}

impl Column {
    pub(super) fn new(array: &ArrayRef, descriptor: Option<&Descriptor>) -> PyResult<Self> {
        let sql_type = descriptor.map_or(SqlType::NULL, |descriptor| descriptor.sql_type);
        let kind = match array.data_type() {
            DataType::Null => Kind::Null,
            DataType::Boolean => Kind::Boolean(array.as_boolean().clone()),
            DataType::Int16 => Kind::Int16(array.as_primitive().clone()),
            DataType::Int32 => Kind::Int32(array.as_primitive().clone()),
            DataType::Int64 => Kind::Int64(array.as_primitive().clone()),
            DataType::UInt64 => Kind::Id(array.as_primitive().clone()),
            DataType::Float32 => Kind::Float32(array.as_primitive().clone()),
            DataType::Float64 => Kind::Float64(array.as_primitive().clone()),
            DataType::Decimal128(..) => Kind::Decimal128(array.as_primitive().clone()),
            DataType::Decimal256(_, 0) if !is_numeric(descriptor) => {
                Kind::Integer256(array.as_primitive().clone())
            }
            DataType::Decimal256(..) => Kind::Decimal256(array.as_primitive().clone()),
            DataType::Utf8 => {
                let array = array.as_string().clone();
                match sql_type {
                    SqlType::DEC16 | SqlType::DEC34 => Kind::DecFloat(array),
                    SqlType::TIMESTAMP_TZ | SqlType::TIMESTAMP_TZ_EX => Kind::ZonedMoment(array),
                    SqlType::TIME_TZ | SqlType::TIME_TZ_EX => Kind::ZonedTime(array),
                    _ => Kind::Text(array),
                }
            }
            DataType::LargeUtf8 => Kind::LargeText(array.as_string().clone()),
            DataType::Utf8View => Kind::TextView(array.as_string_view().clone()),
            DataType::Binary => Kind::Bytes(array.as_binary().clone()),
            DataType::LargeBinary => Kind::LargeBytes(array.as_binary().clone()),
            DataType::FixedSizeBinary(_) => Kind::FixedBytes(array.as_fixed_size_binary().clone()),
            DataType::Date32 => Kind::Day(array.as_primitive().clone()),
            DataType::Time64(TimeUnit::Microsecond) => Kind::Time(array.as_primitive().clone()),
            DataType::Timestamp(TimeUnit::Microsecond, None) => Kind::Moment(array.as_primitive().clone()),
            DataType::List(_) => {
                let lists = array.as_list::<i32>().clone();
                let element = descriptor.and_then(|descriptor| descriptor.array.as_deref());
                let element = element.map(|shape| shape.element());
                let elements = Self::new(lists.values(), element.or(descriptor))?;
                Kind::List(lists, Box::new(elements))
            }
            other => {
                let text =
                    format!("column of type {other}: rows have no such values; use fetch_arrow_table()");
                return Err(PyNotImplementedError::new_err(text));
            }
        };
        Ok(Self { kind, nulls: array.nulls().filter(|nulls| nulls.null_count() > 0).cloned() })
    }

    /// Returns a value.
    #[inline]
    pub(super) fn value<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyAny>> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return Ok(py.None().into_bound(py));
        }
        Ok(match &self.kind {
            Kind::Null => py.None().into_bound(py),
            Kind::Boolean(array) => PyBool::new(py, array.value(row)).to_owned().into_any(),
            Kind::Int16(array) => array.value(row).into_pyobject(py)?.into_any(),
            Kind::Int32(array) => array.value(row).into_pyobject(py)?.into_any(),
            Kind::Int64(array) => array.value(row).into_pyobject(py)?.into_any(),
            Kind::Id(array) => array.value(row).into_pyobject(py)?.into_any(),
            Kind::Float32(array) => PyFloat::new(py, f64::from(array.value(row))).into_any(),
            Kind::Float64(array) => PyFloat::new(py, array.value(row)).into_any(),
            Kind::Decimal128(array) => number::of_i128(py, array.value(row), array.scale())?,
            Kind::Decimal256(array) => number::of_i256(py, array.value(row), array.scale())?,
            Kind::Integer256(array) => number::integer_of_i256(py, array.value(row))?,
            Kind::Text(array) => PyString::new(py, array.value(row)).into_any(),
            Kind::LargeText(array) => PyString::new(py, array.value(row)).into_any(),
            Kind::TextView(array) => PyString::new(py, array.value(row)).into_any(),
            Kind::DecFloat(array) => decimal(py)?.call1((array.value(row),))?,
            Kind::ZonedMoment(array) => zone::moment(py, array.value(row))?,
            Kind::ZonedTime(array) => zone::time_of_day(py, array.value(row))?,
            Kind::Bytes(array) => PyBytes::new(py, array.value(row)).into_any(),
            Kind::LargeBytes(array) => PyBytes::new(py, array.value(row)).into_any(),
            Kind::FixedBytes(array) => PyBytes::new(py, array.value(row)).into_any(),
            Kind::Day(array) => clock::day(py, array.value(row))?,
            Kind::Time(array) => clock::time_of_day(py, array.value(row))?,
            Kind::Moment(array) => clock::moment(py, array.value(row))?,
            Kind::List(lists, elements) => {
                let offsets = lists.value_offsets();
                let values = (offsets[row] as usize..offsets[row + 1] as usize)
                    .map(|element| elements.value(py, element))
                    .collect::<PyResult<Vec<_>>>()?;
                PyList::new(py, values)?.into_any()
            }
        })
    }
}

/// Whether a column was declared as NUMERIC or DECIMAL.
fn is_numeric(descriptor: Option<&Descriptor>) -> bool {
    descriptor.is_some_and(|descriptor| descriptor.sub_type != 0 || descriptor.scale < 0)
}
