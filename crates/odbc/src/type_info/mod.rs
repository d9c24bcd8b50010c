//! What `SQLGetTypeInfo` returns.

mod rows;
#[cfg(test)]
mod tests;

use crate::abi::{self, SmallInt, sql_type};
use crate::diagnostics::{Failure, Result, State};
use crate::info::Facts;
use crate::table::{Cell, Heading, Kind, Table};
use crate::types::TypeOptions;
use rows::Row;

/// `SQL_ALL_TYPES`
const ALL: SmallInt = 0;

const HEADINGS: [Heading; 19] = [
    required("TYPE_NAME", Kind::Text(128)),
    required("DATA_TYPE", Kind::SmallInt),
    renamed(optional("COLUMN_SIZE", Kind::Integer), "PRECISION"),
    optional("LITERAL_PREFIX", Kind::Text(128)),
    optional("LITERAL_SUFFIX", Kind::Text(128)),
    optional("CREATE_PARAMS", Kind::Text(128)),
    required("NULLABLE", Kind::SmallInt),
    required("CASE_SENSITIVE", Kind::SmallInt),
    required("SEARCHABLE", Kind::SmallInt),
    optional("UNSIGNED_ATTRIBUTE", Kind::SmallInt),
    renamed(required("FIXED_PREC_SCALE", Kind::SmallInt), "MONEY"),
    renamed(optional("AUTO_UNIQUE_VALUE", Kind::SmallInt), "AUTO_INCREMENT"),
    optional("LOCAL_TYPE_NAME", Kind::Text(128)),
    optional("MINIMUM_SCALE", Kind::SmallInt),
    optional("MAXIMUM_SCALE", Kind::SmallInt),
    required("SQL_DATA_TYPE", Kind::SmallInt),
    optional("SQL_DATETIME_SUB", Kind::SmallInt),
    optional("NUM_PREC_RADIX", Kind::Integer),
    optional("INTERVAL_PRECISION", Kind::SmallInt),
];

const fn required(name: &'static str, kind: Kind) -> Heading {
    Heading { name, former: name, kind, nullable: false }
}

const fn optional(name: &'static str, kind: Kind) -> Heading {
    Heading { nullable: true, ..required(name, kind) }
}

const fn renamed(heading: Heading, former: &'static str) -> Heading {
    Heading { former, ..heading }
}

/// Returns all types of the server, or those with this number. They are ordered by number, the best match for each first;
/// `odbc2` gives datetimes their former numbers.
pub(crate) fn type_info(
    sql_type: SmallInt,
    facts: &Facts,
    options: &TypeOptions,
    odbc2: bool,
) -> Result<Table> {
    if !is_known(sql_type) {
        return Err(Failure::new(State::SQL_TYPE, format!("there is no SQL data type {sql_type}")));
    }
    let number = |row: &Row| if odbc2 { row.of.for_odbc2() } else { row.of.concise };
    let is_wanted = |row: &Row| [ALL, row.of.concise, row.of.for_odbc2()].contains(&sql_type);
    let mut rows: Vec<Row> = rows::rows(facts, options).into_iter().filter(is_wanted).collect();
    rows.sort_by_key(number);
    let cells: Vec<Vec<Cell>> = rows.iter().map(|row| cells(row, number(row))).collect();
    Ok(Table::new(&HEADINGS, &cells))
}

/// Whether ODBC has a type with this number, be it one that Firebird lacks.
fn is_known(sql_type: SmallInt) -> bool {
    const INTERVALS: std::ops::RangeInclusive<SmallInt> = 101..=113;
    /// Intervals of ODBC 2.
    const FORMER_INTERVALS: std::ops::RangeInclusive<SmallInt> = -92..=-80;
    (sql_type::GUID..=sql_type::VARCHAR).contains(&sql_type)
        || (sql_type::TYPE_DATE..=sql_type::TYPE_TIMESTAMP).contains(&sql_type)
        || INTERVALS.contains(&sql_type)
        || FORMER_INTERVALS.contains(&sql_type)
}

fn cells(row: &Row, number: SmallInt) -> Vec<Cell> {
    let of = &row.of;
    let text = |text: &'static str| Some(text).filter(|text| !text.is_empty()).into();
    let (sql_data_type, datetime_sub) = of.verbose();
    let is_number = of.radix != 0;
    vec![
        of.name.into(),
        number.into(),
        i32::try_from(of.size).unwrap_or(i32::MAX).into(),
        text(of.literal.0),
        text(of.literal.1),
        row.create_params.into(),
        abi::NULLABLE.into(),
        SmallInt::from(of.is_case_sensitive).into(),
        of.searchable.into(),
        // Neither unsigned, nor money, nor generated.
        is_number.then_some(0).into(),
        0.into(),
        is_number.then_some(0).into(),
        of.name.into(),
        row.scale.map(|(least, _)| least).into(),
        row.scale.map(|(_, most)| most).into(),
        sql_data_type.into(),
        datetime_sub.into(),
        is_number.then_some(of.radix).into(),
        Cell::Null,
    ]
}
