//! The columns of one table as Arrow fields.

use super::is_nameless;
use crate::error::{self, Result};
use arrow::datatypes::{Field, Schema};
use firearrow::catalog::{Name, quoted};
use firearrow::{Connection, Dialect, ReadOptions};
use firearrow_driver::Error;

/// The schema of a table or view of exactly this name: what `SELECT *` gives with decimals of the precision that they were
/// declared with, and the fields of NOT NULL columns say so.
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
    let catalog = connection.catalog().map_err(error::of)?.with_system_tables(true);
    let columns = catalog.columns(Name::Is(table), Name::Any).map_err(error::of)?;
    // Firebird ignores blanks at the end of a name.
    if columns.first().is_none_or(|column| column.table != table) {
        return Err(error::of(Error::no_table(table)));
    }
    let list: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
    let sql = format!("SELECT {} FROM {}", list.join(", "), quoted(table));
    let statement = catalog.transaction().prepare_in(Dialect::Three, &sql).map_err(error::of)?;
    let declared = columns.iter().map(|column| column.data_type.precision).collect();
    let options = options.clone().declared_precision(declared);
    let selected = statement.with_read_options(options).schema().map_err(error::of)?;
    let fields = selected
        .fields()
        .iter()
        .zip(&columns)
        .map(|(field, column)| -> Field { field.as_ref().clone().with_nullable(column.nullable) });
    Ok(Schema::new(fields.collect::<Vec<Field>>()))
}
