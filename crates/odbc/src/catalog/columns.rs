//! `SQLColumns`

use super::argument::Selection;
use super::data_type::{FACTS, Facts};
use super::heading::{COLUMN_NAME, TABLE_CAT, TABLE_NAME, TABLE_SCHEM, joined};
use super::{Result, Scope};
use crate::table::{Cell, Heading, Table};
use firearrow::catalog::{Column, Name};

const HEADINGS: &[Heading] = &joined::<18>(&[TABLE_CAT, TABLE_SCHEM, TABLE_NAME, COLUMN_NAME], &FACTS);

/// Lists columns of tables and views.
///
/// # Errors
/// `HY009`, and those of the client.
pub(crate) fn columns(
    scope: &Scope<'_>,
    catalog: Option<&str>,
    schema: Option<&str>,
    table: Option<&str>,
    column: Option<&str>,
) -> Result<Table> {
    let tables = Selection::new(scope, table, "the name of the table")?;
    let columns = Selection::new(scope, column, "the name of the column")?;
    if !scope.has(catalog, schema)? {
        return Ok(Table::new(HEADINGS, &[]));
    }
    // All columns: the places that the engine knows have gaps where columns were dropped.
    let mut found = scope.catalog()?.columns(tables.query().name(), Name::Any)?;
    found.retain(|column| tables.matches(&column.table));
    let mut rows = Vec::new();
    for table in found.chunk_by(|one, next| one.table == next.table) {
        let numbered = (1..).zip(table).filter(|(_, column)| columns.matches(&column.name));
        rows.extend(numbered.map(|(ordinal, column)| row(scope, column, ordinal)));
    }
    Ok(Table::new(HEADINGS, &rows))
}

fn row(scope: &Scope<'_>, column: &Column, ordinal: i64) -> Vec<Cell> {
    let facts = Facts {
        data_type: &column.data_type,
        nullable: column.nullable,
        remarks: column.remarks.clone(),
        default: column.default.clone(),
        ordinal,
    };
    let mut cells = vec![Cell::Null, Cell::Null, column.table.as_str().into(), column.name.as_str().into()];
    cells.extend(facts.cells(scope));
    cells
}
