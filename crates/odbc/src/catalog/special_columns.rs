//! `SQLSpecialColumns`

use super::argument::Literal;
use super::data_type::{BUFFER_LENGTH, COLUMN_SIZE, DATA_TYPE, DECIMAL_DIGITS, TYPE_NAME, size_cells};
use super::heading::{COLUMN_NAME, small};
use super::keys::primary_key;
use super::{Error, Result, Scope};
use crate::abi::{self, SmallInt, USmallInt};
use crate::diagnostics::State;
use crate::table::{Cell, Heading, Table};
use crate::types::Type;
use firearrow::catalog::{Catalog, Column, Index, Name, TableKind};

const HEADINGS: &[Heading] = &[
    small("SCOPE"),
    COLUMN_NAME,
    DATA_TYPE,
    TYPE_NAME,
    COLUMN_SIZE,
    BUFFER_LENGTH,
    DECIMAL_DIGITS,
    small("PSEUDO_COLUMN"),
];

/// How long the columns identify a row: `SQL_SCOPE_TRANSACTION` and `SQL_SCOPE_SESSION`.
const TRANSACTION: USmallInt = 1;
const SESSION: USmallInt = 2;

/// `SQL_PC_NOT_PSEUDO` and `SQL_PC_PSEUDO`
const NOT_PSEUDO: SmallInt = 1;
const PSEUDO: SmallInt = 2;

/// The place of a row, which another may take after a delete and a commit.
const DB_KEY: &str = "RDB$DB_KEY";
const DB_KEY_BYTES: u32 = 8;

/// The columns that an application wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    /// Those that best identify a row.
    BestRowId,
    /// Those that change with each update of a row. Firebird has none.
    RowVersion,
}

impl Special {
    /// # Errors
    /// `HY097`
    pub(crate) fn of(number: USmallInt) -> Result<Self> {
        match number {
            1 => Ok(Self::BestRowId),
            2 => Ok(Self::RowVersion),
            _ => Err(Error::argument(State::COLUMN_TYPE, format!("{number} is no type of special columns"))),
        }
    }
}

/// Lists the columns that identify a row at least as long as `lifetime` says.
///
/// # Errors
/// `HY009`, `HY098`, `HY099`, and those of the client.
pub(crate) fn special_columns(
    scope: &Scope<'_>,
    kind: Special,
    catalog: Option<&str>,
    schema: Option<&str>,
    table: Option<&str>,
    lifetime: USmallInt,
    nullable: USmallInt,
) -> Result<Table> {
    let table = Literal::new(scope, table, "the name of the table")?;
    if lifetime > SESSION {
        return Err(Error::argument(State::SCOPE, format!("{lifetime} is not a scope")));
    }
    // No column in the result may be NULL, whichever is wanted.
    if nullable > abi::NULLABLE.unsigned_abs() {
        return Err(Error::argument(State::NULLABLE_TYPE, format!("{nullable} is not a nullability option")));
    }
    if !scope.has(catalog, schema)? || kind == Special::RowVersion {
        return Ok(Table::new(HEADINGS, &[]));
    }
    let catalog = scope.catalog()?;
    let Some(table) = table.table(&catalog)? else { return Ok(Table::new(HEADINGS, &[])) };
    if table.kind == TableKind::View {
        return Ok(Table::new(HEADINGS, &[]));
    }
    let identifying = identifying_columns(scope, &catalog, &table.name)?;
    let rows = if identifying.is_empty() && lifetime <= TRANSACTION {
        vec![row(scope, TRANSACTION, DB_KEY, &Type::binary(DB_KEY_BYTES, &scope.types), PSEUDO)]
    } else {
        let row = |column: &Column| {
            row(scope, SESSION, &column.name, &scope.type_of(&column.data_type), NOT_PSEUDO)
        };
        identifying.iter().map(row).collect()
    };
    Ok(Table::new(HEADINGS, &rows))
}

/// The columns of the primary key, or of the narrowest index that identifies each row.
fn identifying_columns(scope: &Scope<'_>, catalog: &Catalog, table: &str) -> Result<Vec<Column>> {
    let columns = catalog.columns(Name::Is(table), Name::Any)?;
    if let Some(key) = primary_key(catalog, table)? {
        return Ok(named(&columns, &key.columns));
    }
    let indexes = catalog.indexes(Name::Is(table))?;
    let of_index = |index: &Index| {
        let names: Vec<_> = index.segments.iter().map(|segment| segment.column.clone()).collect();
        named(&columns, &names)
    };
    let candidates = indexes.iter().filter(|index| is_complete(index)).map(of_index);
    let usable = candidates.filter(|found| found.iter().all(|column| !column.nullable));
    let width = |columns: &Vec<Column>| {
        let octets = columns.iter().map(|column| scope.type_of(&column.data_type).octets);
        (columns.len(), octets.fold(0, abi::Len::saturating_add))
    };
    Ok(usable.min_by_key(width).unwrap_or_default())
}

/// The columns with these names, in their order.
fn named(columns: &[Column], names: &[String]) -> Vec<Column> {
    names.iter().filter_map(|name| columns.iter().find(|column| column.name == *name).cloned()).collect()
}

/// Whether the index covers all rows by their columns, and no two are equal.
fn is_complete(index: &Index) -> bool {
    index.unique && index.active && index.condition.is_none() && !index.segments.is_empty()
}

fn row(scope: &Scope<'_>, lifetime: USmallInt, name: &str, kind: &Type, pseudo: SmallInt) -> Vec<Cell> {
    let mut cells = vec![Cell::number(lifetime), name.into()];
    cells.extend(size_cells(scope, kind));
    cells.push(pseudo.into());
    cells
}
