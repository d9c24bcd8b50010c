//! Whether a demo table contains what it must; figures of anything else are worth nothing.

use crate::demo::catalog::Expected;
use crate::demo::checksum::checksum;
use crate::demo::{self, catalog};
use crate::failure::{Failure, Result};
use crate::open::open;
use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema};
use firearrow::Connection;
use firearrow::config::Config;
use std::sync::Arc;

/// What a result looks like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) rows: u64,
    pub(crate) columns: usize,
    pub(crate) has_blobs: bool,
}

impl Shape {
    fn of(schema: &Schema, rows: u64) -> Self {
        let is_blob = |field: &Arc<Field>| {
            field.metadata().get("FIREBIRD:type").is_some_and(|name| name.starts_with("BLOB"))
        };
        Self { rows, columns: schema.fields().len(), has_blobs: schema.fields().iter().any(is_blob) }
    }
}

/// Reads the whole table and compares it with FIREARROW_DEMO.
pub(crate) fn table(config: &Config, name: &str, sql: &str) -> Result<Shape> {
    let connection = open(config)?;
    let expected = catalog::load(&connection, name)?;
    compare(connection, name, sql, &expected)
}

/// Reads rows of a demo table that begin with its first one, and compares them with what was made.
pub(crate) fn beginning(config: &Config, name: &str, sql: &str, rows: u64) -> Result<Shape> {
    compare(open(config)?, name, sql, &demo::expected(name, rows)?)
}

/// Compares batches that come from elsewhere, in any order, with FIREARROW_DEMO.
pub(crate) fn batches(
    config: &Config,
    name: &str,
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch>>,
) -> Result<Shape> {
    sum(name, schema, batches, &catalog::load(&open(config)?, name)?)
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

/// Reads a query of which nothing is known beforehand.
pub(crate) fn shape(config: &Config, sql: &str) -> Result<Shape> {
    let connection = open(config)?;
    let mut cursor = connection.query(sql)?;
    let mut rows = 0;
    while let Some(batch) = cursor.next_batch()? {
        rows += batch.num_rows() as u64;
    }
    Ok(Shape::of(&cursor.schema(), rows))
}

fn wrong(table: &str, what: String) -> Failure {
    Failure::other(format!("{table} is not what create-demo made: {what}; its figures are withheld"))
}
