//! `SQLTablePrivileges` and `SQLColumnPrivileges`

use super::argument::{Literal, Selection};
use super::heading::{COLUMN_NAME, TABLE_CAT, TABLE_NAME, TABLE_SCHEM, name, text};
use super::{Result, Scope};
use crate::table::{Cell, Heading, Table};
use firearrow::catalog::{Action, Name, ObjectKind, Privilege};
use std::collections::BTreeMap;

const OF_TABLES: &[Heading] =
    &[TABLE_CAT, TABLE_SCHEM, TABLE_NAME, GRANTOR, GRANTEE, PRIVILEGE, IS_GRANTABLE];

const OF_COLUMNS: &[Heading] =
    &[TABLE_CAT, TABLE_SCHEM, TABLE_NAME, COLUMN_NAME, GRANTOR, GRANTEE, PRIVILEGE, IS_GRANTABLE];

const GRANTOR: Heading = name("GRANTOR");
const GRANTEE: Heading = name("GRANTEE").required();
const PRIVILEGE: Heading = text("PRIVILEGE", 16).required();
const IS_GRANTABLE: Heading = text("IS_GRANTABLE", 3);

/// Who grants an owner the privileges on their own objects, by the standard.
const SYSTEM: &str = "_SYSTEM";

/// Whether it can be granted again, for each privilege. The order is that of the results.
type Granted<'a> = BTreeMap<Key<'a>, bool>;

/// Table, column, privilege, grantee and grantor.
type Key<'a> = (&'a str, Option<&'a str>, &'static str, &'a str, &'a str);

/// Lists privileges on tables and views.
///
/// # Errors
/// `HY009`, and those of the client.
pub(crate) fn table_privileges(
    scope: &Scope<'_>,
    catalog: Option<&str>,
    schema: Option<&str>,
    table: Option<&str>,
) -> Result<Table> {
    let tables = Selection::new(scope, table, "the name of the table")?;
    if !scope.has(catalog, schema)? {
        return Ok(Table::new(OF_TABLES, &[]));
    }
    let privileges = scope.catalog()?.privileges(tables.query().name())?;
    let mut granted = Granted::new();
    for privilege in privileges.iter().filter(|privilege| is_listed(privilege)) {
        if privilege.column.is_none() && tables.matches(&privilege.object) {
            add(&mut granted, privilege, None);
        }
    }
    Ok(Table::new(OF_TABLES, &rows(&granted)))
}

/// Lists privileges on the columns of a table. One for the whole table is one for each column.
///
/// # Errors
/// `HY009`, and those of the client.
pub(crate) fn column_privileges(
    scope: &Scope<'_>,
    catalog: Option<&str>,
    schema: Option<&str>,
    table: Option<&str>,
    column: Option<&str>,
) -> Result<Table> {
    let table = Literal::new(scope, table, "the name of the table")?;
    let selection = Selection::new(scope, column, "the name of the column")?;
    if !scope.has(catalog, schema)? {
        return Ok(Table::new(OF_COLUMNS, &[]));
    }
    let catalog = scope.catalog()?;
    let table = table.table_name(&catalog)?;
    let columns = catalog.columns(Name::Is(&table), Name::Any)?;
    let privileges = catalog.privileges(Name::Is(&table))?;
    let mut granted = Granted::new();
    for privilege in privileges.iter().filter(|privilege| is_listed(privilege)) {
        // Rows are deleted as a whole.
        if privilege.action == Action::Delete {
            continue;
        }
        let is_covered = |name: &String| privilege.column.as_ref().is_none_or(|column| column == name);
        let names = columns.iter().map(|column| &column.name);
        for name in names.filter(|name| selection.matches(name) && is_covered(name)) {
            add(&mut granted, privilege, Some(name));
        }
    }
    Ok(Table::new(OF_COLUMNS, &rows(&granted)))
}

/// Whether it is for a table and somebody who can log in, PUBLIC, or a role. Procedures and the like have privileges, too.
fn is_listed(privilege: &Privilege) -> bool {
    use Action::{Delete, Insert, References, Select, Update};
    privilege.object_kind == ObjectKind::Table
        && matches!(privilege.action, Select | Insert | Update | Delete | References)
        && matches!(privilege.grantee_kind, ObjectKind::User | ObjectKind::Group | ObjectKind::Role)
}

/// The same privilege on a table and on one of its columns counts once.
fn add<'a>(granted: &mut Granted<'a>, privilege: &'a Privilege, column: Option<&'a str>) {
    let grantor = privilege.grantor.as_deref().filter(|grantor| *grantor != privilege.grantee);
    let key = (
        privilege.object.as_str(),
        column,
        privilege.action.name(),
        privilege.grantee.as_str(),
        grantor.unwrap_or(SYSTEM),
    );
    *granted.entry(key).or_default() |= privilege.grantable;
}

fn rows(granted: &Granted<'_>) -> Vec<Vec<Cell>> {
    let row = |(&(table, column, privilege, grantee, grantor), &is_grantable): (&Key<'_>, &bool)| {
        let mut cells = vec![Cell::Null, Cell::Null, table.into()];
        cells.extend(column.map(Cell::from));
        let is_grantable = if is_grantable { "YES" } else { "NO" };
        cells.extend([grantor, grantee, privilege, is_grantable].map(Cell::from));
        cells
    };
    granted.iter().map(row).collect()
}
