//! What the columns of a result contain, told to contestants in other processes and languages.

use crate::error::{Error, Result};
use arrow::datatypes::{DataType, Schema};
use serde::{Deserialize, Serialize};

/// A column of a result.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) kind: Kind,
}

/// What decides how a value is hashed, and as which C type ODBC reads it.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub(crate) enum Kind {
    Int16,
    Int32,
    Int64,
    Float32,
    Float64,
    Boolean,
    Decimal { scale: i8 },
    Date,
    Time,
    Timestamp,
    Text,
    Binary,
}

impl Column {
    /// The columns of Arrow batches.
    pub(crate) fn of_schema(schema: &Schema) -> Result<Vec<Self>> {
        let column = |(name, data_type): (&String, &DataType)| {
            Ok(Self { name: name.clone(), kind: Kind::of_arrow(name, data_type)? })
        };
        schema.fields().iter().map(|field| column((field.name(), field.data_type()))).collect()
    }
}

impl Kind {
    fn of_arrow(name: &str, data_type: &DataType) -> Result<Self> {
        Ok(match data_type {
            DataType::Int8 | DataType::UInt8 | DataType::Int16 => Self::Int16,
            DataType::UInt16 | DataType::Int32 => Self::Int32,
            DataType::UInt32 | DataType::Int64 | DataType::UInt64 => Self::Int64,
            DataType::Float16 | DataType::Float32 => Self::Float32,
            DataType::Float64 => Self::Float64,
            DataType::Boolean => Self::Boolean,
            DataType::Decimal32(_, scale)
            | DataType::Decimal64(_, scale)
            | DataType::Decimal128(_, scale)
            | DataType::Decimal256(_, scale) => Self::Decimal { scale: *scale },
            DataType::Date32 | DataType::Date64 => Self::Date,
            DataType::Time32(_) | DataType::Time64(_) => Self::Time,
            DataType::Timestamp(_, _) => Self::Timestamp,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => Self::Text,
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => Self::Binary,
            DataType::Dictionary(_, values) => Self::of_arrow(name, values)?,
            other => return Err(unknown(name, other)),
        })
    }
}

pub(super) fn unknown(name: &str, what: &DataType) -> Error {
    Error::other(format!("column {name} is {what}, which is not hashed: cast it in the query"))
}
