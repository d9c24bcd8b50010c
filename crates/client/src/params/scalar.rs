//! Values of parameters that become messages without arrays.

use arrow::array::*;
use arrow::datatypes::DataType;
use std::sync::Arc;

/// One value, as [`ToParam::to_scalar`](super::ToParam::to_scalar) returns it.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum Scalar {
    /// NULL, of this Arrow type.
    Null(DataType),
    Boolean(bool),
    Int16(i16),
    Int32(i32),
    Int64(i64),
    Double(f64),
    /// Days since 1970.
    Date(i32),
    /// Microseconds since 1970.
    Timestamp(i64),
    Text(String),
    Bytes(Vec<u8>),
    /// Any other value, or many: an array.
    Array(ArrayRef),
}

impl Scalar {
    /// The value as an array.
    pub(crate) fn to_array(&self) -> ArrayRef {
        match self {
            Self::Null(data_type) => new_null_array(data_type, 1),
            Self::Boolean(value) => Arc::new(BooleanArray::from(vec![*value])),
            Self::Int16(value) => Arc::new(Int16Array::from(vec![*value])),
            Self::Int32(value) => Arc::new(Int32Array::from(vec![*value])),
            Self::Int64(value) => Arc::new(Int64Array::from(vec![*value])),
            Self::Double(value) => Arc::new(Float64Array::from(vec![*value])),
            Self::Date(days) => Arc::new(Date32Array::from(vec![*days])),
            Self::Timestamp(micros) => Arc::new(TimestampMicrosecondArray::from(vec![*micros])),
            Self::Text(text) => match i32::try_from(text.len()) {
                Ok(_) => Arc::new(StringArray::from(vec![text.as_str()])),
                Err(_) => Arc::new(LargeStringArray::from(vec![text.as_str()])),
            },
            Self::Bytes(bytes) => match i32::try_from(bytes.len()) {
                Ok(_) => Arc::new(BinaryArray::from(vec![bytes.as_slice()])),
                Err(_) => Arc::new(LargeBinaryArray::from(vec![bytes.as_slice()])),
            },
            Self::Array(array) => Arc::clone(array),
        }
    }
}
