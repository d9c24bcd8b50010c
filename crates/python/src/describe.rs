//! Columns and parameters as PEP 249 describes them.

use firearrow::{Descriptor, StatementInfo};
use firearrow_proto::api::charset::charset;
use firearrow_proto::api::descriptor::SqlType;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::ops::Deref;
use std::sync::Arc;

/// The columns of one execution's rows. What Python knows of them is made when somebody asks.
#[pyclass(frozen, module = "firearrow._core")]
#[derive(Clone)]
pub(crate) struct Columns(Arc<StatementInfo>);

impl Columns {
    pub(crate) fn new(info: Arc<StatementInfo>) -> Self {
        Self(info)
    }
}

impl Deref for Columns {
    type Target = [Descriptor];

    fn deref(&self) -> &[Descriptor] {
        &self.0.columns
    }
}

#[pymethods]
impl Columns {
    fn __len__(&self) -> usize {
        self.0.columns.len()
    }

    /// What PEP 249 wants to know of each, and more.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        columns(py, self)
    }
}

/// One column: name, type name, display size in characters, bytes, precision, scale, whether it may be NULL, and the rest that
/// `firearrow.Column` has.
fn columns<'py>(py: Python<'py>, columns: &[Descriptor]) -> PyResult<Bound<'py, PyList>> {
    let described = columns.iter().map(|column| {
        (
            column.label(),
            type_name(column),
            characters(column),
            column.length,
            precision(column),
            scale(column),
            column.nullable,
            column.relation.as_str(),
            column.field.as_str(),
            column.sub_type,
        )
    });
    PyList::new(py, described.collect::<Vec<_>>())
}

/// The name of a type in SQL, without its length.
fn type_name(column: &Descriptor) -> &'static str {
    let exact = |plain: &'static str| match column.sub_type {
        1 => "NUMERIC",
        2 => "DECIMAL",
        _ if column.scale < 0 => "NUMERIC",
        _ => plain,
    };
    match column.sql_type {
        SqlType::VARYING if column.is_octets() => "VARBINARY",
        SqlType::VARYING => "VARCHAR",
        SqlType::TEXT if column.is_octets() => "BINARY",
        SqlType::TEXT => "CHAR",
        SqlType::SHORT => exact("SMALLINT"),
        SqlType::LONG => exact("INTEGER"),
        SqlType::INT64 => exact("BIGINT"),
        SqlType::INT128 => exact("INT128"),
        SqlType::FLOAT => "FLOAT",
        SqlType::DOUBLE | SqlType::D_FLOAT => "DOUBLE PRECISION",
        SqlType::DEC16 | SqlType::DEC34 => "DECFLOAT",
        SqlType::BOOLEAN => "BOOLEAN",
        SqlType::DATE => "DATE",
        SqlType::TIME => "TIME",
        SqlType::TIMESTAMP => "TIMESTAMP",
        SqlType::TIME_TZ | SqlType::TIME_TZ_EX => "TIME WITH TIME ZONE",
        SqlType::TIMESTAMP_TZ | SqlType::TIMESTAMP_TZ_EX => "TIMESTAMP WITH TIME ZONE",
        SqlType::BLOB if column.sub_type == 1 => "BLOB SUB_TYPE TEXT",
        SqlType::BLOB | SqlType::QUAD => "BLOB",
        SqlType::ARRAY => "ARRAY",
        _ => "NULL",
    }
}

/// The length of text in characters.
fn characters(column: &Descriptor) -> Option<u32> {
    let is_text = matches!(column.sql_type, SqlType::TEXT | SqlType::VARYING);
    let each = charset(column.charset()).map_or(1, |charset| u32::from(charset.bytes_per_character));
    is_text.then(|| column.length / each)
}

fn precision(column: &Descriptor) -> Option<u8> {
    Some(match column.sql_type {
        SqlType::SHORT => 4,
        SqlType::LONG => 9,
        SqlType::INT64 => 18,
        SqlType::INT128 => 38,
        SqlType::DEC16 => 16,
        SqlType::DEC34 => 34,
        SqlType::FLOAT => 7,
        SqlType::DOUBLE | SqlType::D_FLOAT => 15,
        _ => return None,
    })
}

/// Digits after the decimal point.
fn scale(column: &Descriptor) -> Option<i32> {
    let is_exact =
        matches!(column.sql_type, SqlType::SHORT | SqlType::LONG | SqlType::INT64 | SqlType::INT128);
    is_exact.then_some(-column.scale)
}
