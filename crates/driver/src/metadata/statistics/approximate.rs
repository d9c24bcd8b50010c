//! Statistics from declarations and indexes, without reading rows.

use super::{Measure, Statistic, Value, is_counted, readable};
use crate::error::Result;
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use firearrow::catalog::{BaseType, Catalog, Column, Index, Name, quoted};
use firearrow::{Connection, Dialect};

pub(super) fn statistics(connection: &Connection, name: Name<'_>) -> Result<Vec<Statistic>> {
    let catalog = connection.catalog()?;
    let tables = catalog.tables(name)?;
    let columns = catalog.columns(name, Name::Any)?;
    let indexes = catalog.indexes(name)?;
    let mut statistics = Vec::new();
    for table in tables.iter().filter(|table| is_counted(table)) {
        let indexes: Vec<&Index> = indexes.iter().filter(|index| index.table == table.name).collect();
        let rows = match rows(&indexes) {
            Some(rows) => Some(Statistic::approximate(&table.name, None, Measure::RowCount, rows)),
            None => readable(table, count(&catalog, &table.name))?
                .flatten()
                .map(|rows| Statistic::exact(&table.name, None, Measure::RowCount, Value::Integer(rows))),
        };
        statistics.extend(rows);
        for column in columns.iter().filter(|column| column.table == table.name) {
            let mut add = |measure, value| {
                statistics.push(Statistic::approximate(&table.name, Some(&column.name), measure, value));
            };
            if let Some(selectivity) = selectivity(&indexes, &column.name) {
                add(Measure::DistinctCount, (1.0 / selectivity).round());
                add(Measure::IndexSelectivity, selectivity);
            }
            if let Some(width) = width(column) {
                add(Measure::MaxByteWidth, width.into());
            }
        }
    }
    Ok(statistics)
}

/// Returns the number of key values. Keys of constraints are never partial; a UNIQUE one may contain NULLs, which count
/// as one value.
fn rows(indexes: &[&Index]) -> Option<f64> {
    let keys = indexes.iter().filter(|index| index.unique && index.active && index.constraint.is_some());
    let selectivity = keys.filter_map(|index| index.selectivity).min_by(f64::total_cmp)?;
    Some((1.0 / selectivity).round())
}

/// Returns the smallest selectivity of the indexes that begin with the column and contain all rows.
fn selectivity(indexes: &[&Index], column: &str) -> Option<f64> {
    let whole = indexes.iter().filter(|index| index.active && index.condition.is_none());
    let first = whole.filter_map(|index| index.segments.first()).filter(|segment| segment.column == column);
    first.filter_map(|segment| segment.selectivity).min_by(f64::total_cmp)
}

fn count(catalog: &Catalog, table: &str) -> firearrow::Result<Option<i64>> {
    let sql = format!("SELECT COUNT(*) FROM {}", quoted(table));
    let mut cursor = catalog.transaction().query_in(Dialect::Three, &sql)?;
    let batch = cursor.next_batch()?;
    let counts = batch.as_ref().and_then(|batch| batch.columns().first()?.as_primitive_opt::<Int64Type>());
    Ok(counts.filter(|counts| !counts.is_empty()).map(|counts| counts.value(0)))
}

/// Returns the maximum bytes of a value. The length of BLOBs and arrays is unknown.
fn width(column: &Column) -> Option<u32> {
    let base = column.data_type.base;
    let is_open = matches!(base, BaseType::Blob | BaseType::TextBlob | BaseType::Other(_));
    (!is_open && !column.data_type.is_array()).then_some(column.data_type.length)
}
