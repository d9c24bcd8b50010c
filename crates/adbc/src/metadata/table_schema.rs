//! The columns of one table as Arrow fields.

use super::is_nameless;
use crate::error::{self, Result};
use arrow::datatypes::Schema;
use firearrow::{Connection, ReadOptions};
use firearrow_driver::{Error, metadata};

/// Returns the schema of the table or view with exactly this name: that of `SELECT *`, with the declared precision of
/// decimals, and with non-nullable fields for NOT NULL columns.
///
/// # Errors
/// `NOT_FOUND`, SQLSTATE 42S02, if there is none, and for any catalog or schema.
pub fn table_schema(
    connection: &Connection,
    catalog: Option<&str>,
    schema: Option<&str>,
    table: &str,
    options: &ReadOptions,
) -> Result<Schema> {
    if !is_nameless(catalog) || !is_nameless(schema) {
        let error = Error::no_table(table).context("there are neither catalogs nor schemas");
        return Err(error::of(error));
    }
    metadata::table_schema(connection, table, options).map_err(error::of)
}
