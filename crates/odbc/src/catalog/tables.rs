//! `SQLTables`

use super::argument::Selection;
use super::heading::{REMARKS, TABLE_CAT, TABLE_NAME, TABLE_SCHEM, text};
use super::{Result, Scope};
use crate::table::{Cell, Heading, Table};
use firearrow::catalog::TableKind;

/// The last four may be NULL: lists of types have nothing else.
const HEADINGS: &[Heading] =
    &[TABLE_CAT, TABLE_SCHEM, Heading { nullable: true, ..TABLE_NAME }, text("TABLE_TYPE", 16), REMARKS];

const SYSTEM: &str = "SYSTEM TABLE";
const TYPES: [&str; 4] = ["GLOBAL TEMPORARY", SYSTEM, "TABLE", "VIEW"];

/// `SQL_ALL_TABLE_TYPES`
const ALL: &str = "%";

/// Lists tables and views. With `%` for the types and empty text for everything else, lists the types.
///
/// # Errors
/// `HY009`, and those of the client.
pub(crate) fn tables(
    scope: &Scope<'_>,
    catalog: Option<&str>,
    schema: Option<&str>,
    table: Option<&str>,
    types: Option<&str>,
) -> Result<Table> {
    if types == Some(ALL) && [catalog, schema, table] == [Some(""); 3] {
        return Ok(all_types());
    }
    let selection = Selection::new(scope, table, "the name of the table")?;
    let types = wanted_types(types);
    if !scope.has(catalog, schema)? || types.is_empty() {
        return Ok(Table::new(HEADINGS, &[]));
    }
    let catalog = scope.connection.catalog()?.with_system_tables(types.contains(&SYSTEM));
    let mut found = catalog.tables(selection.query().name())?;
    found.retain(|table| selection.matches(&table.name) && types.contains(&table_type(table.kind)));
    // They come sorted by name.
    found.sort_by_key(|table| table_type(table.kind));
    let row = |table: firearrow::catalog::Table| {
        let table_type = table_type(table.kind);
        vec![Cell::Null, Cell::Null, table.name.into(), table_type.into(), table.remarks.into()]
    };
    let rows: Vec<_> = found.into_iter().map(row).collect();
    Ok(Table::new(HEADINGS, &rows))
}

fn all_types() -> Table {
    let row = |name: &str| vec![Cell::Null, Cell::Null, Cell::Null, name.into(), Cell::Null];
    Table::new(HEADINGS, &TYPES.map(row))
}

fn table_type(kind: TableKind) -> &'static str {
    match kind {
        TableKind::External => TableKind::Table.name(),
        kind => kind.name(),
    }
}

/// The types in a list, each with or without quotes; all of them for an empty list.
fn wanted_types(list: Option<&str>) -> Vec<&'static str> {
    let names: Vec<&str> =
        list.unwrap_or_default().split(',').map(unquoted).filter(|name| !name.is_empty()).collect();
    let is_wanted = |known: &str| names.iter().any(|name| *name == ALL || known.eq_ignore_ascii_case(name));
    TYPES.into_iter().filter(|known| names.is_empty() || is_wanted(known)).collect()
}

fn unquoted(name: &str) -> &str {
    let name = name.trim();
    name.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap_or(name).trim()
}
