//! "Did you mean": names like one that the database does not have.

use crate::ddl;
use crate::failure::Failure;
use crate::interrupt;
use crate::runner::{Listing, names};
use crate::terminal;
use firearrow::catalog::{Name, quoted};
use firearrow::sql::{TokenKind, tokens};
use firearrow::{CancelToken, Connection, Kind};
use firearrow_driver::foreign_sql::{self, line_after};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Time left for looking up hints, shared by all errors of a script.
#[derive(Debug)]
pub(crate) struct HintTime(Cell<Duration>);

impl Default for HintTime {
    fn default() -> Self {
        Self(Cell::new(Duration::from_secs(2)))
    }
}

/// Adds the name that was probably meant to the error of a statement with an unknown table, procedure or column, if there is one.
pub(crate) fn explained(
    connection: &Connection,
    error: Failure,
    sql: &str,
    HintTime(time): &HintTime,
) -> Failure {
    let Failure::Firebird(firebird) = &error else { return error };
    if firebird.kind() != Kind::Syntax || connection.is_failed() {
        return error;
    }
    let message = firebird.message();
    // What is SQL of another database is no misspelt name.
    if foreign_sql::advice(message).is_some() {
        return error;
    }
    let left = time.get();
    let left = interrupt::time_left().map_or(left, |until_end| left.min(until_end / 4));
    if left.is_zero() {
        return error;
    }
    let unknown = |what| line_after(message, what);
    let started = Instant::now();
    let ask = || {
        if let Some(name) = unknown("Table unknown") {
            return relations(connection, name).map(|known| nearest(name, &known));
        }
        if let Some(name) = unknown("Procedure unknown") {
            return Ok(nearest(name, &names(connection, Listing::Procedures)?));
        }
        let Some(name) = unknown("Column unknown") else { return Ok(None) };
        // A column that is there belongs to another table than the one that is named before it, or the name is a parameter's.
        if sql.to_uppercase().contains(&format!(":{name}")) {
            return Ok(None);
        }
        columns(connection, sql).map(|known| nearest(name, &known))
    };
    // The time limit would hide the error.
    let found = interrupt::beside_the_limit(|| CancelToken::after(left).run(ask));
    time.set(time.get().saturating_sub(started.elapsed()));
    match found {
        Ok(Some(name)) => {
            let name = if ddl::is_plain(&name) { name } else { quoted(&name) };
            Failure::Hinted(Box::new(error), format!("did you mean {}?", terminal::line(&name)))
        }
        // Names that cannot be asked for are no reason for another error.
        _ => error,
    }
}

/// What can be read from.
fn relations(connection: &Connection, name: &str) -> Result<Vec<String>, Failure> {
    let mut known = names(connection, Listing::Tables)?;
    known.extend(names(connection, Listing::Procedures)?);
    if name.contains('$') {
        known.extend(names(connection, Listing::SystemTables)?);
    }
    Ok(known)
}

/// The columns of all tables that a statement names.
fn columns(connection: &Connection, sql: &str) -> Result<Vec<String>, Failure> {
    let mut named: Vec<String> = tokens(sql)
        .filter_map(|token| match token.kind {
            TokenKind::Word => Some(token.text.to_ascii_uppercase()),
            TokenKind::QuotedName => Some(token.text.trim_matches('"').replace("\"\"", "\"")),
            _ => None,
        })
        .collect();
    named.sort();
    named.dedup();
    let mut tables = names(connection, Listing::Tables)?;
    if sql.contains('$') {
        tables.extend(names(connection, Listing::SystemTables)?);
    }
    tables.retain(|table| named.binary_search(table).is_ok());
    let catalog = connection.catalog()?.with_system_tables(true);
    let mut columns = Vec::new();
    for table in tables {
        columns.extend(catalog.columns(Name::Is(&table), Name::Any)?.into_iter().map(|column| column.name));
    }
    Ok(columns)
}

/// The known name that differs least from this one, which may have an alias or a schema before it: in letter case, or in a third
/// of its characters at most. `None` if the name itself is known: then something else is wrong.
fn nearest(name: &str, known: &[String]) -> Option<String> {
    let name = name.rsplit('.').next().unwrap_or(name).trim_matches('"');
    if known.iter().any(|other| other == name) {
        return None;
    }
    let folded = name.to_uppercase();
    let most = (name.chars().count() / 3).max(1);
    let distance = |other: &String| strsim::damerau_levenshtein(&folded, &other.to_uppercase());
    let others = known.iter().map(|other| (distance(other), other));
    let (least, nearest) = others.min()?;
    // Of a single letter, anything is like anything.
    (least <= most && (least == 0 || folded.chars().count() > 2)).then(|| nearest.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_little_are_meant() {
        let known = ["CUSTOMER", "CUSTOMERS_OLD", "orders", "ID", "N"].map(str::to_owned);
        for (name, expected) in [
            ("CUSTOMERS", Some("CUSTOMER")),
            ("CUSTMOER", Some("CUSTOMER")),
            ("C.CUSTOMR", Some("CUSTOMER")),
            ("\"PUBLIC\".\"CUSTOMR\"", Some("CUSTOMER")),
            ("ORDERS", Some("orders")),
            ("ORDER", Some("orders")),
            ("CUSTOMER", None),
            ("X.CUSTOMER", None),
            ("SUPPLIER", None),
            ("X", None),
            ("IT", None),
            ("id", Some("ID")),
        ] {
            assert_eq!(nearest(name, &known).as_deref(), expected, "{name}");
        }
        assert_eq!(nearest("X", &[]), None);
    }
}
