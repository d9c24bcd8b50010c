//! The columns of one table as Arrow fields.

use crate::error::{Error, Result};
use arrow::datatypes::{Field, Schema};
use firearrow::catalog::{Name, quoted};
use firearrow::{Connection, Dialect, ReadOptions};

/// Returns the schema of the table or view of exactly this name: what `SELECT *` returns, where decimals have the precision
/// that they were declared with, and the fields of NOT NULL columns are not nullable.
///
/// # Errors
/// Those of the client; [`Class::NotFound`](crate::Class::NotFound) with SQLSTATE 42S02 if there is no such table.
pub fn table_schema(connection: &Connection, table: &str, options: &ReadOptions) -> Result<Schema> {
    let catalog = connection.catalog()?.with_system_tables(true);
    let columns = catalog.columns(Name::Is(table), Name::Any)?;
    // Firebird ignores blanks at the end of a name.
    if columns.first().is_none_or(|column| column.table != table) {
        return Err(Error::no_table(table));
    }
    let list: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
    let sql = format!("SELECT {} FROM {}", list.join(", "), quoted(table));
    let statement = catalog.transaction().prepare_in(Dialect::Three, &sql)?;
    let declared = columns.iter().map(|column| column.data_type.precision).collect();
    let options = options.clone().declared_precision(declared);
    let selected = statement.with_read_options(options).schema()?;
    let fields = selected
        .fields()
        .iter()
        .zip(&columns)
        .map(|(field, column)| -> Field { field.as_ref().clone().with_nullable(column.nullable) });
    Ok(Schema::new(fields.collect::<Vec<Field>>()))
}
