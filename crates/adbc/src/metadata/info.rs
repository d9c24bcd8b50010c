//! Facts about the driver and the server.

use crate::error::{self, Result};
use adbc_core::constants::ADBC_VERSION_1_1_0;
use adbc_core::options::InfoCode;
use adbc_core::schemas::GET_INFO_SCHEMA;
use arrow::array::{ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray, UInt32Array};
use arrow::array::{UnionArray, new_empty_array};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::DataType;
use firearrow::Dialect;
use std::collections::HashSet;
use std::sync::Arc;

/// A fact; the variants are the used members of ADBC's union, in its order.
enum Value {
    Text(String),
    Flag(bool),
    Number(i64),
    Bits(i32),
}

/// Codes of Flight SQL's `SqlInfo`, which ADBC uses from 500 to 999.
mod code {
    pub(super) const DDL_CATALOG: u32 = 500;
    pub(super) const DDL_SCHEMA: u32 = 501;
    pub(super) const DDL_TABLE: u32 = 502;
    /// 2: unquoted names become upper case.
    pub(super) const IDENTIFIER_CASE: u32 = 503;
    pub(super) const IDENTIFIER_QUOTE_CHAR: u32 = 504;
}

/// Returns one row for each of these codes (or for all) that the driver can answer. Only `version`, the server's, needs
/// the server.
pub fn info(
    dialect: Dialect,
    version: impl Fn() -> Result<String>,
    codes: Option<HashSet<InfoCode>>,
) -> Result<RecordBatch> {
    let all = [
        InfoCode::VendorName,
        InfoCode::VendorVersion,
        InfoCode::VendorSql,
        InfoCode::VendorSubstrait,
        InfoCode::DriverName,
        InfoCode::DriverVersion,
        InfoCode::DriverArrowVersion,
        InfoCode::DriverAdbcVersion,
        InfoCode::Other(code::DDL_CATALOG),
        InfoCode::Other(code::DDL_SCHEMA),
        InfoCode::Other(code::DDL_TABLE),
        InfoCode::Other(code::IDENTIFIER_CASE),
        InfoCode::Other(code::IDENTIFIER_QUOTE_CHAR),
    ];
    let wanted = |code: &InfoCode| codes.as_ref().is_none_or(|codes| codes.contains(code));
    let mut facts = Vec::with_capacity(all.len());
    for code in all.into_iter().filter(wanted) {
        facts.extend(value(dialect, &version, &code)?.map(|value| (u32::from(&code), value)));
    }
    batch(facts)
}

fn value(dialect: Dialect, version: impl Fn() -> Result<String>, code: &InfoCode) -> Result<Option<Value>> {
    Ok(Some(match code {
        // Polars looks for a Python module named `adbc_driver_` followed by this name.
        InfoCode::VendorName => Value::Text("Firebird".into()),
        InfoCode::VendorVersion => Value::Text(version()?),
        InfoCode::VendorSql => Value::Flag(true),
        InfoCode::VendorSubstrait => Value::Flag(false),
        InfoCode::DriverName => Value::Text("ADBC Firebird Driver".into()),
        InfoCode::DriverVersion => Value::Text(env!("CARGO_PKG_VERSION").into()),
        InfoCode::DriverArrowVersion => Value::Text(format!("v{}", arrow::ARROW_VERSION)),
        InfoCode::DriverAdbcVersion => Value::Number(ADBC_VERSION_1_1_0.into()),
        InfoCode::Other(code::DDL_CATALOG | code::DDL_SCHEMA) => Value::Flag(false),
        InfoCode::Other(code::DDL_TABLE) => Value::Flag(true),
        InfoCode::Other(code::IDENTIFIER_CASE) => Value::Bits(2),
        InfoCode::Other(code::IDENTIFIER_QUOTE_CHAR) => Value::Text(match dialect {
            Dialect::One => String::new(),
            Dialect::Three => "\"".into(),
        }),
        _ => return Ok(None),
    }))
}

fn batch(facts: Vec<(u32, Value)>) -> Result<RecordBatch> {
    let (mut texts, mut flags, mut numbers, mut bits) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut codes, mut members, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
    for (code, value) in facts {
        let (member, count) = match value {
            Value::Text(text) => (0, push(&mut texts, text)),
            Value::Flag(flag) => (1, push(&mut flags, flag)),
            Value::Number(number) => (2, push(&mut numbers, number)),
            Value::Bits(word) => (3, push(&mut bits, word)),
        };
        codes.push(code);
        members.push(member);
        offsets.push(count);
    }
    let schema = GET_INFO_SCHEMA.clone();
    let DataType::Union(fields, _) = schema.field(1).data_type() else {
        return Err(error::internal("ADBC's schema for info has no union"));
    };
    let mut children: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from(texts)),
        Arc::new(BooleanArray::from(flags)),
        Arc::new(Int64Array::from(numbers)),
        Arc::new(Int32Array::from(bits)),
    ];
    children.extend(fields.iter().skip(children.len()).map(|(_, field)| new_empty_array(field.data_type())));
    let (members, offsets) = (ScalarBuffer::from(members), ScalarBuffer::from(offsets));
    let values = UnionArray::try_new(fields.clone(), members, Some(offsets), children)?;
    Ok(RecordBatch::try_new(schema, vec![Arc::new(UInt32Array::from(codes)), Arc::new(values)])?)
}

/// Appends a value and returns its index.
fn push<T>(values: &mut Vec<T>, value: T) -> i32 {
    values.push(value);
    values.len() as i32 - 1
}
