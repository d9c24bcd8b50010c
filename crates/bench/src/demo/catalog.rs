//! The table FIREARROW_DEMO: the expected contents of the demo tables.

use super::checksum::FORMAT_VERSION;
use crate::error::{Error, Result};
use arrow::array::{ArrayRef, AsArray, Int32Array, Int64Array, StringArray};
use arrow::datatypes::{Int32Type, Int64Type};
use firearrow::{Connection, Params};
use std::sync::Arc;

/// The expected contents of a demo table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Number of rows.
    pub rows: u64,
    /// Name and [checksum](super::checksum()) of every column, in order.
    pub columns: Vec<(String, u64)>,
}

/// Stores the expected contents of a complete table.
pub(super) fn store<'a>(
    connection: &Connection,
    table: &str,
    rows: u64,
    columns: impl Iterator<Item = (&'a str, u64)>,
) -> Result<()> {
    if existing(connection, [NAME].into_iter())?.is_empty() {
        connection.execute(CREATE)?;
    }
    let (names, sums): (Vec<&str>, Vec<String>) =
        columns.map(|(name, sum)| (name, format!("{sum:016x}"))).unzip();
    let count = names.len();
    let values: [ArrayRef; 6] = [
        Arc::new(StringArray::from(vec![table; count])),
        Arc::new(StringArray::from(names)),
        Arc::new((1..).take(count).collect::<Int32Array>()),
        Arc::new(Int64Array::from(vec![rows.cast_signed(); count])),
        Arc::new(StringArray::from(sums)),
        Arc::new(Int32Array::from(vec![FORMAT_VERSION; count])),
    ];
    connection.execute_with(INSERT, Params::row(values))?;
    Ok(())
}

/// Deletes the expected contents of a table.
pub(super) fn forget(connection: &Connection, table: &str) -> Result<()> {
    if !existing(connection, [NAME].into_iter())?.is_empty() {
        connection.execute(&format!("DELETE FROM {NAME} WHERE TABLE_NAME = '{table}'"))?;
    }
    Ok(())
}

/// Returns the names of those tables that exist.
pub(super) fn existing<'a>(
    connection: &Connection,
    tables: impl Iterator<Item = &'a str>,
) -> Result<Vec<String>> {
    let names: Vec<String> = tables.map(|name| format!("'{name}'")).collect();
    let sql = format!(
        "SELECT CAST(TRIM(RDB$RELATION_NAME) AS VARCHAR(63) CHARACTER SET UTF8) FROM RDB$RELATIONS \
         WHERE RDB$RELATION_NAME IN ({}) ORDER BY 1",
        names.join(", ")
    );
    let mut found = Vec::new();
    let mut cursor = connection.query(&sql)?;
    while let Some(batch) = cursor.next_batch()? {
        found.extend(batch.column(0).as_string::<i32>().iter().flatten().map(str::to_owned));
    }
    Ok(found)
}

/// Reads the expected contents of `table` from the table `FIREARROW_DEMO`.
///
/// # Errors
/// [`Error::Other`] if there is no entry for the table, or if another version of this crate created it.
pub fn load(connection: &Connection, table: &str) -> Result<Expected> {
    let missing = || {
        let text =
            format!("the expected contents of {table} are unknown: create it with `firearrow create-demo`");
        Error::other(text)
    };
    if existing(connection, [NAME].into_iter())?.is_empty() {
        return Err(missing());
    }
    let mut expected = Expected { rows: 0, columns: Vec::new() };
    let mut cursor = connection.query_with(SELECT, Params::texts([Some(table)]))?;
    while let Some(batch) = cursor.next_batch()? {
        let (names, sums) = (batch.column(0).as_string::<i32>(), batch.column(2).as_string::<i32>());
        let rows = batch.column(1).as_primitive::<Int64Type>();
        let versions = batch.column(3).as_primitive::<Int32Type>();
        for index in 0..batch.num_rows() {
            if versions.value(index) != FORMAT_VERSION {
                return Err(Error::other(format!(
                    "{table} is of demo format {}, this command knows {FORMAT_VERSION}: \
                     recreate it with `firearrow create-demo --force`",
                    versions.value(index)
                )));
            }
            let sum = u64::from_str_radix(sums.value(index), 16);
            let sum =
                sum.map_err(|_| Error::other(format!("{NAME} is damaged: a checksum is not a number")))?;
            expected.rows = rows.value(index).cast_unsigned();
            expected.columns.push((names.value(index).to_owned(), sum));
        }
    }
    if expected.columns.is_empty() { Err(missing()) } else { Ok(expected) }
}

const NAME: &str = "FIREARROW_DEMO";

const CREATE: &str = "CREATE TABLE FIREARROW_DEMO (
    TABLE_NAME VARCHAR(63) CHARACTER SET UTF8 NOT NULL,
    COLUMN_NAME VARCHAR(63) CHARACTER SET UTF8 NOT NULL,
    COLUMN_NUMBER INTEGER NOT NULL,
    TABLE_ROWS BIGINT NOT NULL,
    CHECKSUM CHAR(16) CHARACTER SET UTF8 NOT NULL,
    FORMAT_VERSION INTEGER NOT NULL,
    CONSTRAINT PK_FIREARROW_DEMO PRIMARY KEY (TABLE_NAME, COLUMN_NAME))";

const INSERT: &str = "INSERT INTO FIREARROW_DEMO \
    (TABLE_NAME, COLUMN_NAME, COLUMN_NUMBER, TABLE_ROWS, CHECKSUM, FORMAT_VERSION) VALUES (?, ?, ?, ?, ?, ?)";

const SELECT: &str = "SELECT COLUMN_NAME, TABLE_ROWS, CHECKSUM, FORMAT_VERSION FROM FIREARROW_DEMO \
    WHERE TABLE_NAME = ? ORDER BY COLUMN_NUMBER";
