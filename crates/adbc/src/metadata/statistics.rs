//! How many rows there are and what they are like, in ADBC's numbers.

use super::nested::{catalog, lists, structs};
use super::{has_nameless, pattern};
use crate::error::{self, Result};
use adbc_core::constants::{
    ADBC_STATISTIC_AVERAGE_BYTE_WIDTH_KEY, ADBC_STATISTIC_DISTINCT_COUNT_KEY,
    ADBC_STATISTIC_MAX_BYTE_WIDTH_KEY, ADBC_STATISTIC_MAX_VALUE_KEY, ADBC_STATISTIC_MIN_VALUE_KEY,
    ADBC_STATISTIC_NULL_COUNT_KEY, ADBC_STATISTIC_ROW_COUNT_KEY,
};
use adbc_core::schemas::{
    GET_STATISTIC_NAMES_SCHEMA, GET_STATISTICS_SCHEMA, STATISTIC_VALUE_SCHEMA, STATISTICS_DB_SCHEMA_SCHEMA,
    STATISTICS_SCHEMA,
};
use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Float64Array, Int16Array, Int64Array, RecordBatch, StringArray,
    UInt64Array, UnionArray, new_null_array,
};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::DataType;
use firearrow::Connection;
use firearrow_driver::metadata::{self, Measure, Statistic, Value};
use std::sync::Arc;

/// Key of the statistic `firebird.index_selectivity`: one divided by the number of different values, float64.
pub const INDEX_SELECTIVITY: i16 = 1024;

/// Returns this driver's statistics that have no name in ADBC.
pub fn statistic_names() -> Result<RecordBatch> {
    let names = StringArray::from(vec!["firebird.index_selectivity"]);
    let keys = Int16Array::from(vec![INDEX_SELECTIVITY]);
    Ok(RecordBatch::try_new(GET_STATISTIC_NAMES_SCHEMA.clone(), vec![Arc::new(names), Arc::new(keys)])?)
}

/// Returns statistics of the tables whose names match a pattern, without the engine's own tables.
pub fn statistics(
    connection: &Connection,
    catalog: Option<&str>,
    schema: Option<&str>,
    table: Option<&str>,
    approximate: bool,
) -> Result<RecordBatch> {
    if !has_nameless(catalog) {
        return self::catalog(&GET_STATISTICS_SCHEMA, None);
    }
    let count = usize::from(has_nameless(schema));
    let statistics = match count {
        0 => Vec::new(),
        _ => metadata::statistics(connection, pattern(table), approximate).map_err(error::of)?,
    };
    let names = new_null_array(&DataType::Utf8, count);
    let length = statistics.len();
    let lists_of_statistics = lists(structs_of_statistics(statistics)?, (0..count).map(|_| Some(length)))?;
    let schemas = structs(&STATISTICS_DB_SCHEMA_SCHEMA, vec![names, lists_of_statistics])?;
    self::catalog(&GET_STATISTICS_SCHEMA, Some(lists(schemas, [Some(count)])?))
}

/// The number that ADBC, or this driver, has for it.
fn key(measure: Measure) -> i16 {
    match measure {
        Measure::RowCount => ADBC_STATISTIC_ROW_COUNT_KEY,
        Measure::NullCount => ADBC_STATISTIC_NULL_COUNT_KEY,
        Measure::DistinctCount => ADBC_STATISTIC_DISTINCT_COUNT_KEY,
        Measure::MinValue => ADBC_STATISTIC_MIN_VALUE_KEY,
        Measure::MaxValue => ADBC_STATISTIC_MAX_VALUE_KEY,
        Measure::AverageByteWidth => ADBC_STATISTIC_AVERAGE_BYTE_WIDTH_KEY,
        Measure::MaxByteWidth => ADBC_STATISTIC_MAX_BYTE_WIDTH_KEY,
        Measure::IndexSelectivity => INDEX_SELECTIVITY,
    }
}
fn structs_of_statistics(statistics: Vec<Statistic>) -> Result<ArrayRef> {
    let tables = StringArray::from_iter_values(statistics.iter().map(|each| &each.table));
    let columns: StringArray = statistics.iter().map(|each| each.column.as_deref()).collect();
    let keys = Int16Array::from_iter_values(statistics.iter().map(|each| key(each.measure)));
    let approximate: BooleanArray = statistics.iter().map(|each| Some(each.is_approximate)).collect();
    let values = values(statistics.into_iter().map(|each| each.value))?;
    let members: Vec<ArrayRef> =
        vec![Arc::new(tables), Arc::new(columns), Arc::new(keys), values, Arc::new(approximate)];
    structs(&STATISTICS_SCHEMA, members)
}

/// Members of ADBC's union: 0 is int64, 2 float64, 3 binary.
fn values(values: impl Iterator<Item = Value>) -> Result<ArrayRef> {
    let (mut integers, mut floats, mut bytes) = (Vec::new(), Vec::new(), Vec::<Vec<u8>>::new());
    let (mut members, mut offsets) = (Vec::new(), Vec::new());
    for value in values {
        let (member, length) = match value {
            Value::Integer(value) => (0, {
                integers.push(value);
                integers.len()
            }),
            Value::Float(value) => (2, {
                floats.push(value);
                floats.len()
            }),
            Value::Bytes(value) => (3, {
                bytes.push(value);
                bytes.len()
            }),
        };
        members.push(member);
        offsets.push(length as i32 - 1);
    }
    let DataType::Union(fields, _) = &*STATISTIC_VALUE_SCHEMA else {
        return Err(error::internal("ADBC's schema of statistics has no union"));
    };
    let children: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(integers)),
        Arc::new(UInt64Array::from(Vec::<u64>::new())),
        Arc::new(Float64Array::from(floats)),
        Arc::new(BinaryArray::from_iter_values(bytes)),
    ];
    let (members, offsets) = (ScalarBuffer::from(members), ScalarBuffer::from(offsets));
    Ok(Arc::new(UnionArray::try_new(fields.clone(), members, Some(offsets), children)?))
}
