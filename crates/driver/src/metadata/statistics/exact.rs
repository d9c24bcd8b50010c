//! Statistics from the rows themselves.

use super::{Measure, Statistic, Value, fixed_width, is_counted, readable};
use crate::error::{Error, Result};
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, Int16Type, Int32Type, Int64Type};
use firearrow::arrow::NoneEncoding;
use firearrow::catalog::{BaseType, Column, Name, Table, quoted};
use firearrow::{Connection, Dialect, ReadOptions, Transaction, TransactionOptions};

/// Longer text would exceed the engine's limits for sort records and result rows.
const LONGEST_TEXT: u32 = 1024;
/// Columns per query. Only wider tables need more than one query; the queries share a snapshot.
const COLUMNS_AT_ONCE: usize = 16;

pub(super) fn statistics(connection: &Connection, name: Name<'_>) -> Result<Vec<Statistic>> {
    let catalog = connection.catalog()?;
    let tables = catalog.tables(name)?;
    let columns = catalog.columns(name, Name::Any)?;
    drop(catalog);
    let snapshot = connection.begin_lazy(TransactionOptions::reading())?;
    let mut statistics = Vec::new();
    for table in tables.iter().filter(|table| is_counted(table)) {
        let all: Vec<&Column> = columns
            .iter()
            .filter(|column| column.table == table.name && !column.data_type.is_array())
            .collect();
        let mut parts: Vec<&[&Column]> = all.chunks(COLUMNS_AT_ONCE).collect();
        if parts.is_empty() {
            parts.push(&[]);
        }
        for (index, part) in parts.into_iter().enumerate() {
            let mut found = table_statistics(&snapshot, table, part)?;
            // Each query counts the rows.
            found.retain(|each| index == 0 || each.column.is_some());
            statistics.extend(found);
        }
    }
    Ok(statistics)
}

fn is_short_string(column: &Column) -> bool {
    use BaseType::{Binary, Char, VarBinary, VarChar};
    matches!(column.data_type.base, Char | VarChar | Binary | VarBinary)
        && column.data_type.length <= LONGEST_TEXT
}

/// Whether the column can have numbers with more than the 15 digits that float64 keeps; four-byte integers have ten.
fn is_rounded(column: &Column) -> bool {
    use BaseType::{Decimal, Int128, Numeric};
    matches!(column.data_type.base, Int128 | Numeric | Decimal) && column.data_type.length > 4
}

/// An item of the select list.
struct Item<'a> {
    column: &'a Column,
    measure: Measure,
    sql: String,
}

fn table_statistics(snapshot: &Transaction, table: &Table, columns: &[&Column]) -> Result<Vec<Statistic>> {
    let items: Vec<Item<'_>> = columns.iter().flat_map(|column| items(column)).collect();
    let mut list = vec!["COUNT(*)".to_owned()];
    list.extend(items.iter().map(|item| item.sql.clone()));
    let sql = format!("SELECT {} FROM {}", list.join(", "), quoted(&table.name));
    let table_name = &table.name;
    let mut statistics = Vec::new();
    if let Some(answer) = readable(table, ask(snapshot, &sql))? {
        let answer = answer.ok_or_else(|| Error::internal("the engine counted no rows"))?;
        let counts = answer.columns().split_first().map(|(rows, values)| (value(rows), values));
        let Some((Some(Value::Integer(rows)), values)) = counts else {
            return Err(Error::internal("the engine counted no rows"));
        };
        statistics.push(Statistic::exact(table_name, None, Measure::RowCount, Value::Integer(rows)));
        for (item, array) in items.iter().zip(values) {
            let value = match (item.measure, value(array)) {
                // The query counts the values that are not NULL.
                (Measure::NullCount, Some(Value::Integer(count))) => {
                    Some(Value::Integer(rows.saturating_sub(count)))
                }
                // Without rows, there is no value.
                (_, value) => value,
            };
            let Some(value) = value else { continue };
            let is_approximate =
                [Measure::MinValue, Measure::MaxValue].contains(&item.measure) && is_rounded(item.column);
            let exact = Statistic::exact(table_name, Some(&item.column.name), item.measure, value);
            statistics.push(Statistic { is_approximate, ..exact });
        }
    }
    for column in columns {
        let Some(width) = fixed_width(column) else { continue };
        let mut add = |measure, value| {
            statistics.push(Statistic::exact(table_name, Some(&column.name), measure, value))
        };
        add(Measure::MaxByteWidth, Value::Integer(width.into()));
        add(Measure::AverageByteWidth, Value::Float(width.into()));
    }
    Ok(statistics)
}

fn ask(snapshot: &Transaction, sql: &str) -> firearrow::Result<Option<RecordBatch>> {
    let options = ReadOptions::default().none_encoding(NoneEncoding::Binary);
    let statement = snapshot.prepare_in(Dialect::Three, sql)?.with_read_options(options);
    statement.query(snapshot, ())?.next_batch()
}

fn items<'a>(column: &'a Column) -> Vec<Item<'a>> {
    use BaseType::*;
    let name = quoted(&column.name);
    let base = column.data_type.base;
    let is_blob = matches!(base, Blob | TextBlob);
    let is_text = matches!(base, Char | VarChar);
    let is_string = is_text || matches!(base, Binary | VarBinary);
    let mut items = Vec::new();
    let mut add = |measure, sql| items.push(Item { column, measure, sql });
    add(Measure::NullCount, format!("COUNT({name})"));
    if is_short_string(column) || fixed_width(column).is_some() {
        add(Measure::DistinctCount, format!("COUNT(DISTINCT {name})"));
    }
    if is_string || is_blob {
        add(Measure::AverageByteWidth, format!("AVG(CAST(OCTET_LENGTH({name}) AS DOUBLE PRECISION))"));
        add(Measure::MaxByteWidth, format!("MAX(OCTET_LENGTH({name}))"));
    }
    let is_integer = matches!(base, SmallInt | Integer | BigInt);
    let is_number = matches!(base, Int128 | Numeric | Decimal | Float | DoublePrecision);
    for (measure, function) in [(Measure::MinValue, "MIN"), (Measure::MaxValue, "MAX")] {
        if is_number {
            add(measure, format!("CAST({function}({name}) AS DOUBLE PRECISION)"));
        } else if is_integer || is_short_string(column) {
            add(measure, format!("{function}({name})"));
        }
    }
    items
}

/// Returns the first value of a column; `None` for NULL.
fn value(array: &dyn Array) -> Option<Value> {
    if array.is_empty() || array.is_null(0) {
        return None;
    }
    Some(match array.data_type() {
        DataType::Int16 => Value::Integer(array.as_primitive::<Int16Type>().value(0).into()),
        DataType::Int32 => Value::Integer(array.as_primitive::<Int32Type>().value(0).into()),
        DataType::Int64 => Value::Integer(array.as_primitive::<Int64Type>().value(0)),
        DataType::Float64 => Value::Float(array.as_primitive::<Float64Type>().value(0)),
        DataType::Utf8 => Value::Bytes(array.as_string::<i32>().value(0).as_bytes().to_vec()),
        DataType::Binary => Value::Bytes(array.as_binary::<i32>().value(0).to_vec()),
        DataType::FixedSizeBinary(_) => Value::Bytes(array.as_fixed_size_binary().value(0).to_vec()),
        _ => return None,
    })
}
