//! "Did you mean": names like one that the database does not have, and keywords like a word that the engine does not understand.

use crate::ddl;
use crate::failure::Failure;
use crate::interrupt;
use crate::runner::{Listing, names};
use crate::sql_words::{BEGINNINGS, MEANT, is_keyword};
use crate::terminal;
use firearrow::catalog::{Name, quoted};
use firearrow::sql::{TokenKind, tokens};
use firearrow::{CancelToken, Connection, Kind};
use firearrow_driver::foreign_sql::{self, line_after};
use std::cell::Cell;
use std::cmp::Reverse;
use std::time::{Duration, Instant};

/// Time left for looking up hints, shared by all errors of a script.
#[derive(Debug)]
pub(crate) struct HintTime(Cell<Duration>);

impl Default for HintTime {
    fn default() -> Self {
        Self(Cell::new(Duration::from_secs(2)))
    }
}

/// Adds the keyword, table, procedure or column that was probably meant to the error of a statement, if there is one.
pub(crate) fn explained(connection: &Connection, error: Failure, sql: &str, hint_time: &HintTime) -> Failure {
    let error = explained_keyword(error, sql);
    let Failure::Firebird(firebird) = &error else { return error };
    if !matches!(firebird.kind(), Kind::Syntax | Kind::Other) || connection.is_failed() {
        return error;
    }
    let message = firebird.message();
    // What is SQL of another database is no misspelt name.
    if foreign_sql::advice(message).is_some() {
        return error;
    }
    if let Some(name) = line_after(message, "Column unknown").filter(|name| is_parameter(name, sql)) {
        let name = terminal::line(&name.to_lowercase()).into_owned();
        let hint = format!(":{name} gets its value from --param {name}=VALUE");
        return Failure::Hinted(Box::new(error), hint);
    }
    let HintTime(time) = hint_time;
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
        if let Some(name) = missing(message, "Table") {
            return Ok(nearest(name, &names(connection, Listing::Tables)?));
        }
        if let Some(name) = unknown("Procedure unknown").or_else(|| missing(message, "Procedure")) {
            return Ok(nearest(name, &names(connection, Listing::Procedures)?));
        }
        let Some(name) = unknown("Column unknown") else { return Ok(None) };
        // A column that is there belongs to another table than the one that is named before it.
        columns(connection, sql).map(|known| nearest(name, &known))
    };
    // The time limit would hide the error.
    let found = interrupt::beside_the_limit(|| CancelToken::after(left).run(ask));
    time.set(time.get().saturating_sub(started.elapsed()));
    match found {
        Ok(Some(name)) => did_you_mean(error, &name),
        // Names that cannot be asked for are no reason for another error.
        _ => error,
    }
}

/// Adds the keyword that was probably meant to the error of a statement, if there is one: for the token that the engine does not
/// understand, or the word before it, which it may have taken for an alias.
pub(crate) fn explained_keyword(error: Failure, sql: &str) -> Failure {
    let Failure::Firebird(firebird) = &error else { return error };
    let message = firebird.message();
    let Some(unknown) = line_after(message, "Token unknown - ") else { return error };
    if foreign_sql::advice(message).is_some() {
        return error;
    }
    if let Some(word) = beginning(message, sql) {
        let hint = format!("is a semicolon missing before {}?", terminal::line(word));
        return Failure::Hinted(Box::new(error), hint);
    }
    match keyword(unknown, sql) {
        Some(keyword) => Failure::Hinted(Box::new(error), format!("did you mean {keyword}?")),
        None => error,
    }
}

/// The word with which another statement begins: the first of a later line, if the engine does not understand it or the word after
/// it, and what stands before it can be the end of a statement.
fn beginning<'a>(message: &str, sql: &'a str) -> Option<&'a str> {
    let place = message.split_once("Token unknown - line ")?.1;
    let line: usize = place.split_once(',')?.0.parse().ok()?;
    let unknown = line_after(message, "Token unknown - ")?;
    let words: Vec<_> = tokens(sql).collect();
    let at = words.iter().position(|word| sql[..word.start].matches('\n').count() + 1 == line)?;
    let (before, rest) = words.split_at(at);
    let first = rest.first().filter(|first| BEGINNINGS.iter().any(|word| first.is_word(word)))?;
    let may_end = before.last().is_some_and(|last| match last.kind {
        TokenKind::Word => !is_keyword(&last.text.to_ascii_uppercase()),
        TokenKind::Symbol => last.is_symbol(')'),
        _ => true,
    });
    let count = |symbol| before.iter().filter(|word| word.is_symbol(symbol)).count();
    let is_unknown = rest.iter().take(2).any(|word| word.text.eq_ignore_ascii_case(unknown));
    (may_end && is_unknown && count('(') == count(')')).then_some(first.text)
}

fn keyword(unknown: &str, sql: &str) -> Option<&'static str> {
    let words: Vec<_> = tokens(sql).collect();
    let places = words.iter().enumerate().filter(|(_, word)| word.text.eq_ignore_ascii_case(unknown));
    let candidates = places.flat_map(|(at, _)| [Some(at), at.checked_sub(1)]).flatten();
    candidates.map(|at| &words[at]).filter(|word| word.kind == TokenKind::Word).find_map(|word| {
        let written = word.text.to_ascii_uppercase();
        if written.len() < 4 || is_keyword(&written) {
            return None;
        }
        let most = if written.len() < 7 { 1 } else { 2 };
        let distance = |keyword: &str| strsim::damerau_levenshtein(&written, keyword);
        MEANT
            .iter()
            .copied()
            // A plural is rather a name: ORDERS.
            .filter(|keyword| distance(keyword) <= most && written.strip_suffix('S') != Some(*keyword))
            .min_by_key(|keyword| (distance(keyword), Reverse(alike(&written, keyword))))
    })
}

/// How many letters are the same before the first that is not.
fn alike(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}

/// The name of an object of this kind that a definition needs and the database does not have.
fn missing<'a>(message: &'a str, kind: &str) -> Option<&'a str> {
    message.lines().find_map(|line| {
        let named = line.trim_start_matches('-').strip_prefix(kind)?.strip_prefix(' ')?;
        named.strip_suffix(" does not exist").or_else(|| named.strip_suffix(" not found"))
    })
}

/// Adds the name that was probably meant.
fn did_you_mean(error: Failure, name: &str) -> Failure {
    let name = if ddl::is_plain(name) { name.to_owned() } else { quoted(name) };
    Failure::Hinted(Box::new(error), format!("did you mean {}?", terminal::line(&name)))
}

/// Adds the known name that was probably meant to an error about this one, if there is one.
pub(crate) fn with_nearest(error: Failure, name: &str, known: &[String]) -> Failure {
    match nearest(name, known) {
        Some(name) => did_you_mean(error, &name),
        None => error,
    }
}

/// Whether a statement has a parameter of this name.
fn is_parameter(name: &str, sql: &str) -> bool {
    let words: Vec<_> = tokens(sql).collect();
    words.windows(2).any(|pair| pair[0].is_symbol(':') && pair[1].is_word(name))
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

/// The known name that differs least from this one, which may have an alias or a schema before it: in letter case, or in about
/// a third of its characters (two of five: CNTRY is COUNTRY). `None` if the name itself is known: then something else is wrong.
pub(crate) fn nearest(name: &str, known: &[String]) -> Option<String> {
    let name = name.rsplit('.').next().unwrap_or(name).trim_matches('"');
    if known.iter().any(|other| other == name) {
        return None;
    }
    let folded = name.to_uppercase();
    let most = (name.chars().count().saturating_add(1) / 3).max(1);
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
            ("ODERS", Some("orders")),
            ("CSTMR", None),
            ("id", Some("ID")),
        ] {
            assert_eq!(nearest(name, &known).as_deref(), expected, "{name}");
        }
        assert_eq!(nearest("X", &[]), None);
    }

    #[test]
    fn statements_begin_after_a_missing_semicolon() {
        for (place, unknown, sql, expected) in [
            ((2, 1), "select", "select 1 from t\nselect 2", Some("select")),
            ((3, 3), "COMMIT", "INSERT INTO t VALUES (1)\n\n  COMMIT", Some("COMMIT")),
            ((2, 5), "SELECT", "SELECT\n(1) SELECT", None),
            ((2, 6), "tables", "select 1 from t\nshow tables", Some("show")),
            ((2, 1), "COMMIT", "INSERT INTO t VALUES ('a')\nCOMMIT", Some("COMMIT")),
            ((2, 1), "set", "create table t (\nset int", None),
            ((2, 1), "set", "select id,\nset from t", None),
            ((2, 1), "delete", "select 1 from t where\ndelete = 1", None),
            ((1, 1), "SHOW", "SHOW", None),
            ((2, 1), "x", "SELECT 1 FROM t\nx", None),
        ] {
            let (line, column) = place;
            let message =
                format!("Dynamic SQL Error\n-Token unknown - line {line}, column {column}\n-{unknown}");
            assert_eq!(beginning(&message, sql), expected, "{sql}");
        }
    }

    #[test]
    fn misspelt_keywords_are_meant() {
        for (unknown, sql, expected) in [
            ("SELCT", "SELCT 1 FROM RDB$DATABASE", Some("SELECT")),
            ("FORM", "select * form t", Some("FROM")),
            ("RDB$DATABASE", "SELECT 1 FORM RDB$DATABASE", Some("FROM")),
            ("n", "SELECT n FROM t WEHRE n = 1", Some("WHERE")),
            ("TABEL", "CREATE TABEL x (a INTEGER)", Some("TABLE")),
            ("PROCEUDRE", "EXECUTE PROCEUDRE p", Some("PROCEDURE")),
            ("b", "SELECT 1 FROM t WHERE a b", None),
            ("YB", "SELECT 1 FROM t GROUP YB a", None),
            ("WHERE", "SELECT 1 FROM t WITH LOCK WHERE a = 1", None),
            ("x", "SELECT NEXT VALUE x FROM t", None),
            ("1", "SELECT 1 FROM t \"FORM\" 1", None),
            ("orders", "select id x orders", None),
            ("o", "select 1 from t o wher o.id = 1", Some("WHERE")),
            ("FROM", "SELECT 1, FROM t", None),
            ("X", "", None),
        ] {
            assert_eq!(keyword(unknown, sql), expected, "{sql}");
        }
    }

    #[test]
    fn definitions_name_what_is_missing() {
        for (line, kind, expected) in [
            ("-Table CUSTOMR does not exist", "Table", Some("CUSTOMR")),
            ("-Procedure WRR not found", "Procedure", Some("WRR")),
            ("-Table A B does not exist", "Table", Some("A B")),
            ("-DROP TABLE CUSTOMR failed", "Table", None),
            ("-Tables X not found", "Table", None),
        ] {
            assert_eq!(missing(&format!("unsuccessful metadata update\n{line}"), kind), expected, "{line}");
        }
    }
}
