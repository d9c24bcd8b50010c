//! Checks that a demo table has the expected contents; otherwise its figures would be worthless.

use crate::demo::{self, Expected, checksum};
use crate::error::{Error, Result};
use crate::host::Host;
use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema};
use firearrow::Connection;
use firearrow::config::Config;
use std::sync::Arc;

/// The shape of a result.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Number of rows.
    pub rows: u64,
    /// Number of columns.
    pub columns: usize,
    /// Whether any column is a BLOB.
    pub has_blobs: bool,
}

impl Shape {
    fn of(schema: &Schema, rows: u64) -> Self {
        let is_blob = |field: &Arc<Field>| {
            field.metadata().get("FIREBIRD:type").is_some_and(|name| name.starts_with("BLOB"))
        };
        Self { rows, columns: schema.fields().len(), has_blobs: schema.fields().iter().any(is_blob) }
    }
}

/// Reads the whole demo table `name` with the query `sql` and compares it with FIREARROW_DEMO.
///
/// # Errors
/// [`Error::Other`] if rows, columns or checksums differ, or if FIREARROW_DEMO has no entry for the table.
pub fn table(host: &dyn Host, config: &Config, name: &str, sql: &str) -> Result<Shape> {
    let connection = host.open(config)?;
    let expected = demo::load(&connection, name)?;
    compare(connection, name, sql, &expected)
}

/// Reads the first `rows` rows of the demo table `name` with the query `sql` and compares them with the generated
/// values.
///
/// # Errors
/// [`Error::Other`] if rows, columns or checksums differ.
pub fn beginning(host: &dyn Host, config: &Config, name: &str, sql: &str, rows: u64) -> Result<Shape> {
    compare(host.open(config)?, name, sql, &demo::expected(name, rows)?)
}

/// Compares batches of the demo table `name` from another source, in any order, with FIREARROW_DEMO, which is read over
/// a new connection.
///
/// # Errors
/// [`Error::Other`] if rows, columns or checksums differ; otherwise the errors of the iterator.
pub fn batches(
    host: &dyn Host,
    config: &Config,
    name: &str,
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch>>,
) -> Result<Shape> {
    sum(name, schema, batches, &demo::load(&host.open(config)?, name)?)
}

fn compare(connection: Connection, name: &str, sql: &str, expected: &Expected) -> Result<Shape> {
    let mut cursor = connection.query(sql)?;
    let schema = cursor.schema();
    let rows = std::iter::from_fn(|| cursor.next_batch().transpose()).map(|batch| Ok(batch?));
    let shape = sum(name, &schema, rows, expected)?;
    cursor.close()?;
    connection.close()?;
    Ok(shape)
}

fn sum(
    name: &str,
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    expected: &Expected,
) -> Result<Shape> {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    if !names.iter().eq(expected.columns.iter().map(|(name, _)| name)) {
        return Err(wrong(name, format!("its columns are {}", names.join(", "))));
    }
    let mut sums = vec![0_u64; names.len()];
    let mut rows = 0;
    for batch in batches {
        let batch = batch?;
        rows += batch.num_rows() as u64;
        for (sum, column) in sums.iter_mut().zip(batch.columns()) {
            *sum = sum.wrapping_add(checksum(column)?);
        }
    }
    if rows != expected.rows {
        return Err(wrong(name, format!("{rows} rows were read, {} were made", expected.rows)));
    }
    for ((column, expected), sum) in expected.columns.iter().zip(sums) {
        if sum != *expected {
            return Err(wrong(name, format!("column {column} has checksum {sum:016x}, not {expected:016x}")));
        }
    }
    Ok(Shape::of(schema, rows))
}

/// Reads all rows of a query with unknown contents, and returns their shape.
///
/// # Errors
/// The errors of connecting and reading.
pub fn shape(host: &dyn Host, config: &Config, sql: &str) -> Result<Shape> {
    let connection = host.open(config)?;
    let mut cursor = connection.query(sql)?;
    let mut rows = 0;
    while let Some(batch) = cursor.next_batch()? {
        rows += batch.num_rows() as u64;
    }
    Ok(Shape::of(&cursor.schema(), rows))
}

fn wrong(table: &str, what: String) -> Error {
    Error::other(format!("{table} is not what create-demo made: {what}; its figures are withheld"))
}
