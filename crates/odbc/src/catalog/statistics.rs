//! `SQLStatistics`

use super::argument::Literal;
use super::heading::{TABLE_CAT, TABLE_NAME, TABLE_SCHEM, integer, long_text, name, small, text};
use super::{Result, Scope};
use crate::abi::SmallInt;
use crate::table::{Cell, Heading, Table};
use firearrow::catalog::{Catalog, Index, Name, quoted};
use firearrow::{Cursor, Dialect, Kind};

const HEADINGS: &[Heading] = &[
    TABLE_CAT,
    TABLE_SCHEM,
    TABLE_NAME,
    small("NON_UNIQUE"),
    name("INDEX_QUALIFIER"),
    name("INDEX_NAME"),
    small("TYPE").required(),
    small("ORDINAL_POSITION").formerly("SEQ_IN_INDEX"),
    // An expression may be longer than a name.
    long_text("COLUMN_NAME"),
    text("ASC_OR_DESC", 1).formerly("COLLATION"),
    integer("CARDINALITY"),
    integer("PAGES"),
    long_text("FILTER_CONDITION"),
];

/// `SQL_TABLE_STAT`
const OF_TABLE: SmallInt = 0;
/// `SQL_INDEX_OTHER`
const OF_INDEX: SmallInt = 3;

/// Lists the active indexes of a table, after a row for the table itself. `exact` (`SQL_ENSURE`) counts its rows. The
/// cardinality of an index is as old as its last `SET STATISTICS`.
///
/// # Errors
/// `HY009`, and those of the client.
pub(crate) fn statistics(
    scope: &Scope<'_>,
    catalog: Option<&str>,
    schema: Option<&str>,
    table: Option<&str>,
    unique_only: bool,
    exact: bool,
) -> Result<Table> {
    let table = Literal::new(scope, table, "the name of the table")?;
    if !scope.has(catalog, schema)? {
        return Ok(Table::new(HEADINGS, &[]));
    }
    let catalog = scope.catalog()?;
    let Some(table) = table.table(&catalog)? else { return Ok(Table::new(HEADINGS, &[])) };
    let mut indexes = catalog.indexes(Name::Is(&table.name))?;
    indexes.retain(|index| index.active && (index.unique || !unique_only));
    // They come sorted by name.
    indexes.sort_by_key(|index| !index.unique);
    let rows = if exact { count(&catalog, &table.name)? } else { None };
    let mut cells = vec![table_row(&table.name, rows)];
    cells.extend(indexes.iter().flat_map(index_rows));
    Ok(Table::new(HEADINGS, &cells))
}

/// The number of rows; `None` if the user may not read them, or if there are more than the column can say.
fn count(catalog: &Catalog, table: &str) -> Result<Option<i32>> {
    let sql = format!("SELECT COUNT(*) FROM {}", quoted(table));
    let counted = catalog.transaction().query_in(Dialect::Three, &sql).and_then(Cursor::value::<i64>);
    match counted {
        Ok(rows) => Ok(i32::try_from(rows).ok()),
        Err(error) if error.kind() == Kind::Permission => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn table_row(table: &str, rows: Option<i32>) -> Vec<Cell> {
    let mut cells = vec![Cell::Null; HEADINGS.len()];
    cells[2] = table.into();
    cells[6] = OF_TABLE.into();
    cells[10] = rows.into();
    cells
}

fn index_rows(index: &Index) -> impl Iterator<Item = Vec<Cell>> {
    let columns = index.segments.iter().map(|segment| segment.column.as_str());
    let cardinality = index.selectivity.map(different_values);
    (1..).zip(columns.chain(index.expression.as_deref())).map(move |(ordinal, column)| {
        vec![
            Cell::Null,
            Cell::Null,
            index.table.as_str().into(),
            SmallInt::from(!index.unique).into(),
            Cell::Null,
            index.name.as_str().into(),
            OF_INDEX.into(),
            Cell::Number(ordinal),
            column.into(),
            if index.descending { "D" } else { "A" }.into(),
            cardinality.into(),
            Cell::Null,
            index.condition.as_deref().map(without_where).into(),
        ]
    })
}

/// The selectivity is one by the number of different values.
fn different_values(selectivity: f64) -> i32 {
    // As far as the type goes.
    (1.0 / selectivity).round() as i32
}

/// A condition as the standard shows it, without the keyword.
fn without_where(condition: &str) -> &str {
    match condition.split_at_checked("WHERE".len()) {
        Some((word, rest)) if word.eq_ignore_ascii_case("WHERE") => rest.trim_start(),
        _ => condition,
    }
}
