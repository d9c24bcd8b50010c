//! Row counts and value statistics.
//!
//! | statistic | approximate | exact |
//! |---|---|---|
//! | `row_count` | from a PRIMARY KEY or UNIQUE constraint with known selectivity, otherwise counted | counted |
//! | `max_byte_width` | from the declaration; not for BLOBs | the longest string or BLOB |
//! | `distinct_count` | from indexes that begin with the column | counted; not for BLOBs |
//! | `firebird.index_selectivity` | the same, as stored by the engine | |
//! | `null_count`, `byte_width` | | counted; the mean of strings and BLOBs |
//! | `min_value`, `max_value` | | numbers as int64 or float64, shorter text as bytes; not for DECFLOAT |
//!
//! Both bounds of NUMERIC, DECIMAL and INT128 columns with room for more digits than float64 has are marked as
//! approximate.
//!
//! Statistics from indexes date from the last `SET STATISTICS INDEX`. Views are left out, because counting their rows
//! means running them. Tables that cannot be read, for lack of rights or of the file of an external table, have only
//! the statistics from their declarations.

mod approximate;
mod exact;

use super::nested::{catalog, lists, structs};
use super::{has_nameless, pattern};
use crate::error::{self, Result};
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
use firearrow::catalog::{BaseType, Column, Table, TableKind};
use firearrow::{Connection, Kind};
use std::sync::Arc;

/// Key of the statistic `firebird.index_selectivity`: one divided by the number of different values, float64.
pub const INDEX_SELECTIVITY: i16 = 1024;

/// A statistic of a table or of one of its columns.
struct Statistic {
    table: String,
    column: Option<String>,
    key: i16,
    value: Value,
    is_approximate: bool,
}

/// The used members of ADBC's union, by their numbers there.
enum Value {
    Integer(i64),
    Float(f64),
    Bytes(Vec<u8>),
}

impl Statistic {
    fn exact(table: &str, column: Option<&str>, key: i16, value: Value) -> Self {
        Self { table: table.into(), column: column.map(Into::into), key, value, is_approximate: false }
    }

    fn approximate(table: &str, column: Option<&str>, key: i16, value: f64) -> Self {
        let value = Value::Float(value);
        Self { is_approximate: true, ..Self::exact(table, column, key, value) }
    }
}

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
    let statistics = match (count, approximate) {
        (0, _) => Vec::new(),
        (_, true) => approximate::statistics(connection, pattern(table))?,
        (_, false) => exact::statistics(connection, pattern(table))?,
    };
    let names = new_null_array(&DataType::Utf8, count);
    let length = statistics.len();
    let lists_of_statistics = lists(structs_of_statistics(statistics)?, (0..count).map(|_| Some(length)))?;
    let schemas = structs(&STATISTICS_DB_SCHEMA_SCHEMA, vec![names, lists_of_statistics])?;
    self::catalog(&GET_STATISTICS_SCHEMA, Some(lists(schemas, [Some(count)])?))
}

fn is_counted(table: &Table) -> bool {
    !matches!(table.kind, TableKind::View | TableKind::System)
}

/// Returns what reading a table has found; `None` if the table cannot be read: the user has no right to it, or its
/// external file is missing.
fn readable<T>(table: &Table, found: firearrow::Result<T>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == Kind::Permission => Ok(None),
        Err(error) if table.kind == TableKind::External && error.kind() == Kind::Database => Ok(None),
        Err(error) => Err(error::of(error)),
    }
}

/// Returns the bytes of every value, for fixed-width types.
fn fixed_width(column: &Column) -> Option<u32> {
    use BaseType::{Binary, Blob, Char, Other, TextBlob, VarBinary, VarChar};
    let varies =
        matches!(column.data_type.base, Char | VarChar | Binary | VarBinary | TextBlob | Blob | Other(_));
    (!varies && !column.data_type.is_array()).then_some(column.data_type.length)
}

fn structs_of_statistics(statistics: Vec<Statistic>) -> Result<ArrayRef> {
    let tables = StringArray::from_iter_values(statistics.iter().map(|each| &each.table));
    let columns: StringArray = statistics.iter().map(|each| each.column.as_deref()).collect();
    let keys = Int16Array::from_iter_values(statistics.iter().map(|each| each.key));
    let approximate: BooleanArray = statistics.iter().map(|each| Some(each.is_approximate)).collect();
    let values = values(statistics.into_iter().map(|each| each.value))?;
    let members: Vec<ArrayRef> =
        vec![Arc::new(tables), Arc::new(columns), Arc::new(keys), values, Arc::new(approximate)];
    structs(&STATISTICS_SCHEMA, members)
}

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
