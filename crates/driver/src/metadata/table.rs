//! Tables, and what belongs to each.

use crate::error::Result;
use firearrow::Connection;
use firearrow::catalog::{Catalog, Column, Constraint, Name, Table, TableKind};
use std::collections::HashMap;

/// A table with its columns and constraints.
#[derive(Clone, Debug)]
pub struct DescribedTable {
    /// The table itself.
    pub table: Table,
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// Its constraints.
    pub constraints: Vec<Constraint>,
}

/// Returns the tables and views of these names and kinds.
///
/// # Errors
/// Those of the client.
pub fn tables(
    connection: &Connection,
    name: Name<'_>,
    is_wanted: impl Fn(TableKind) -> bool,
) -> Result<Vec<Table>> {
    select(&catalog(connection, &is_wanted)?, name, is_wanted)
}

/// Returns the tables and views with these names and kinds, with their constraints and the columns whose names match
/// `column`. A table without a matching column is returned, too.
///
/// # Errors
/// Those of the client.
pub fn described_tables(
    connection: &Connection,
    name: Name<'_>,
    column: Name<'_>,
    is_wanted: impl Fn(TableKind) -> bool,
) -> Result<Vec<DescribedTable>> {
    let catalog = catalog(connection, &is_wanted)?;
    let tables = select(&catalog, name, is_wanted)?;
    if tables.is_empty() {
        return Ok(Vec::new());
    }
    let (columns, constraints) = (catalog.columns(name, column)?, catalog.constraints(name)?);
    let mut columns = by_table(columns, |column| &column.table);
    let mut constraints = by_table(constraints, |constraint| &constraint.table);
    // A table may have been created since the tables were asked for: what belongs to it is left out.
    let described = tables.into_iter().map(|table| DescribedTable {
        columns: columns.remove(&table.name).unwrap_or_default(),
        constraints: constraints.remove(&table.name).unwrap_or_default(),
        table,
    });
    Ok(described.collect())
}

fn catalog(connection: &Connection, is_wanted: impl Fn(TableKind) -> bool) -> Result<Catalog> {
    Ok(connection.catalog()?.with_system_tables(is_wanted(TableKind::System)))
}

fn select(catalog: &Catalog, name: Name<'_>, is_wanted: impl Fn(TableKind) -> bool) -> Result<Vec<Table>> {
    let mut tables = catalog.tables(name)?;
    tables.retain(|table| is_wanted(table.kind));
    Ok(tables)
}

/// Groups what belongs to tables; the order in each group stays.
fn by_table<T>(members: Vec<T>, table: impl Fn(&T) -> &String) -> HashMap<String, Vec<T>> {
    let mut groups: HashMap<String, Vec<T>> = HashMap::new();
    for member in members {
        groups.entry(table(&member).clone()).or_default().push(member);
    }
    groups
}
