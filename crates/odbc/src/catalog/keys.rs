//! `SQLPrimaryKeys` and `SQLForeignKeys`

use super::argument::Literal;
use super::heading::{COLUMN_NAME, TABLE_CAT, TABLE_NAME, TABLE_SCHEM, name, small};
use super::{Error, Result, Scope};
use crate::abi::SmallInt;
use crate::table::{Cell, Heading, Table};
use firearrow::catalog::{Catalog, Constraint, ConstraintKind, Name, Reference};

const PRIMARY: &[Heading] =
    &[TABLE_CAT, TABLE_SCHEM, TABLE_NAME, COLUMN_NAME, small("KEY_SEQ").required(), name("PK_NAME")];

const FOREIGN: &[Heading] = &[
    name("PKTABLE_CAT").formerly("PKTABLE_QUALIFIER"),
    name("PKTABLE_SCHEM").formerly("PKTABLE_OWNER"),
    name("PKTABLE_NAME").required(),
    name("PKCOLUMN_NAME").required(),
    name("FKTABLE_CAT").formerly("FKTABLE_QUALIFIER"),
    name("FKTABLE_SCHEM").formerly("FKTABLE_OWNER"),
    name("FKTABLE_NAME").required(),
    name("FKCOLUMN_NAME").required(),
    small("KEY_SEQ").required(),
    small("UPDATE_RULE"),
    small("DELETE_RULE"),
    name("FK_NAME"),
    name("PK_NAME"),
    small("DEFERRABILITY"),
];

const CASCADE: SmallInt = 0;
/// What ODBC 2 has for `NO_ACTION`.
const RESTRICT: SmallInt = 1;
const SET_NULL: SmallInt = 2;
const NO_ACTION: SmallInt = 3;
const SET_DEFAULT: SmallInt = 4;
const NOT_DEFERRABLE: SmallInt = 7;

/// Lists the columns of a table's primary key.
///
/// # Errors
/// `HY009`, and those of the client.
pub(crate) fn primary_keys(
    scope: &Scope<'_>,
    catalog: Option<&str>,
    schema: Option<&str>,
    table: Option<&str>,
) -> Result<Table> {
    let table = Literal::new(scope, table, "the name of the table")?;
    if !scope.has(catalog, schema)? {
        return Ok(Table::new(PRIMARY, &[]));
    }
    let catalog = scope.catalog()?;
    let key = primary_key(&catalog, &table.table_name(&catalog)?)?;
    let rows: Vec<_> = key.iter().flat_map(primary_rows).collect();
    Ok(Table::new(PRIMARY, &rows))
}

fn primary_rows(key: &Constraint) -> impl Iterator<Item = Vec<Cell>> {
    (1..).zip(&key.columns).map(|(sequence, column)| {
        vec![
            Cell::Null,
            Cell::Null,
            key.table.as_str().into(),
            column.as_str().into(),
            Cell::Number(sequence),
            key.name.as_str().into(),
        ]
    })
}

/// The primary key of the table with exactly this name.
pub(super) fn primary_key(catalog: &Catalog, table: &str) -> Result<Option<Constraint>> {
    let constraints = catalog.constraints(Name::Is(table))?;
    Ok(constraints.into_iter().find(|constraint| constraint.kind == ConstraintKind::PrimaryKey))
}

/// The three arguments for a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TableName<'a> {
    pub(crate) catalog: Option<&'a str>,
    pub(crate) schema: Option<&'a str>,
    /// NULL or empty for any table.
    pub(crate) table: Option<&'a str>,
}

impl TableName<'_> {
    fn side(&self, scope: &Scope<'_>) -> Result<Side> {
        let Some(table) = self.table.filter(|table| !table.is_empty()) else { return Ok(Side::Any) };
        let literal = Literal::new(scope, Some(table), "the name of the table")?;
        Ok(if scope.has(self.catalog, self.schema)? { Side::Table(literal) } else { Side::Missing })
    }
}

/// What a foreign key may have on one of its sides.
enum Side {
    Any,
    Table(Literal),
    /// A table that cannot exist.
    Missing,
}

impl Side {
    fn table_name(&self, catalog: &Catalog) -> Result<Option<String>> {
        match self {
            Self::Table(literal) => literal.table_name(catalog).map(Some),
            Self::Any | Self::Missing => Ok(None),
        }
    }
}

/// Lists foreign keys: those that refer to `primary`, those of `foreign`, or those of one that refer to the other.
///
/// # Errors
/// `HY009`, and those of the client.
pub(crate) fn foreign_keys(
    scope: &Scope<'_>,
    primary: TableName<'_>,
    foreign: TableName<'_>,
) -> Result<Table> {
    if primary.table.is_none() && foreign.table.is_none() {
        return Err(Error::null("at least one name of a table"));
    }
    let sides = (primary.side(scope)?, foreign.side(scope)?);
    if matches!(sides, (Side::Missing, _) | (_, Side::Missing) | (Side::Any, Side::Any)) {
        return Ok(Table::new(FOREIGN, &[]));
    }
    let catalog = scope.catalog()?;
    let referred = sides.0.table_name(&catalog)?;
    let referring = sides.1.table_name(&catalog)?;
    let constraints = catalog.constraints(referring.as_deref().map_or(Name::Any, Name::Is))?;
    let mut columns: Vec<KeyColumn<'_>> = constraints.iter().flat_map(key_columns).collect();
    if let Some(referred) = &referred {
        columns.retain(|column| column.reference.table == *referred);
    }
    let other_table = |column: &KeyColumn<'_>| match &referring {
        Some(_) => column.reference.table.clone(),
        None => column.constraint.table.clone(),
    };
    columns
        .sort_by_cached_key(|column| (other_table(column), column.sequence, column.constraint.name.clone()));
    let rows: Vec<_> = columns.iter().map(|column| foreign_row(scope, column)).collect();
    Ok(Table::new(FOREIGN, &rows))
}

/// A column of a foreign key and the one that it refers to.
struct KeyColumn<'a> {
    constraint: &'a Constraint,
    reference: &'a Reference,
    sequence: i64,
    column: &'a str,
    referred: &'a str,
}

fn key_columns(constraint: &Constraint) -> impl Iterator<Item = KeyColumn<'_>> {
    constraint.references.iter().flat_map(move |reference| {
        let columns = constraint.columns.iter().zip(&reference.columns);
        (1..).zip(columns).map(move |(sequence, (column, referred))| KeyColumn {
            constraint,
            reference,
            sequence,
            column,
            referred,
        })
    })
}

fn foreign_row(scope: &Scope<'_>, key: &KeyColumn<'_>) -> Vec<Cell> {
    let rule = |words: &str| rule(words, scope.odbc2).into();
    vec![
        Cell::Null,
        Cell::Null,
        key.reference.table.as_str().into(),
        key.referred.into(),
        Cell::Null,
        Cell::Null,
        key.constraint.table.as_str().into(),
        key.column.into(),
        key.sequence.into(),
        rule(&key.reference.on_update),
        rule(&key.reference.on_delete),
        key.constraint.name.as_str().into(),
        key.reference.constraint.as_str().into(),
        NOT_DEFERRABLE.into(),
    ]
}

/// Firebird's RESTRICT, which is also the default, does the same as NO ACTION.
fn rule(words: &str, odbc2: bool) -> SmallInt {
    match words {
        "CASCADE" => CASCADE,
        "SET NULL" => SET_NULL,
        "SET DEFAULT" => SET_DEFAULT,
        _ if odbc2 => RESTRICT,
        _ => NO_ACTION,
    }
}
