//! Objects by the names that people give them.

use super::database::NAME;
use crate::failure::{Failure, Result};
use crate::name::unquoted;
use crate::similar;
use crate::terminal::line;
use firearrow::catalog::LONGEST_NAME;
use firearrow::{BatchExt, Connection, Params, ReadOptions};
use std::collections::BTreeSet;

/// An object with a name that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) kind: Kind,
    pub(super) name: String,
    /// Whether it belongs to the engine.
    pub(super) is_system: bool,
}

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Table,
    View,
    Procedure,
    Function,
    Package,
    Trigger,
    Sequence,
    Domain,
    Index,
    Exception,
}

impl Kind {
    const ALL: [Self; 10] = [
        Self::Table,
        Self::View,
        Self::Procedure,
        Self::Function,
        Self::Package,
        Self::Trigger,
        Self::Sequence,
        Self::Domain,
        Self::Index,
        Self::Exception,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Table => "TABLE",
            Self::View => "VIEW",
            Self::Procedure => "PROCEDURE",
            Self::Function => "FUNCTION",
            Self::Package => "PACKAGE",
            Self::Trigger => "TRIGGER",
            Self::Sequence => "SEQUENCE",
            Self::Domain => "DOMAIN",
            Self::Index => "INDEX",
            Self::Exception => "EXCEPTION",
        }
    }

    /// Returns the column with its name, its table, and which rows of that are objects of this kind.
    fn place(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Table => ("RDB$RELATION_NAME", "RDB$RELATIONS", "RDB$VIEW_BLR IS NULL"),
            Self::View => ("RDB$RELATION_NAME", "RDB$RELATIONS", "RDB$VIEW_BLR IS NOT NULL"),
            Self::Procedure => ("RDB$PROCEDURE_NAME", "RDB$PROCEDURES", "RDB$PACKAGE_NAME IS NULL"),
            Self::Function => ("RDB$FUNCTION_NAME", "RDB$FUNCTIONS", "RDB$PACKAGE_NAME IS NULL"),
            Self::Package => ("RDB$PACKAGE_NAME", "RDB$PACKAGES", "1 = 1"),
            Self::Trigger => ("RDB$TRIGGER_NAME", "RDB$TRIGGERS", "1 = 1"),
            Self::Sequence => ("RDB$GENERATOR_NAME", "RDB$GENERATORS", "1 = 1"),
            // The engine makes one for each column that has none.
            Self::Domain => ("RDB$FIELD_NAME", "RDB$FIELDS", "RDB$FIELD_NAME NOT SIMILAR TO 'RDB$[0-9]+ *'"),
            Self::Index => ("RDB$INDEX_NAME", "RDB$INDICES", "1 = 1"),
            Self::Exception => ("RDB$EXCEPTION_NAME", "RDB$EXCEPTIONS", "1 = 1"),
        }
    }
}

/// Returns the objects with exactly this name, or else those with the only name that differs in letter case alone. A
/// name in quotes means exactly this one. Objects of several kinds may have the same name.
pub(super) fn find(connection: &Connection, given: &str) -> Result<Vec<Object>> {
    let found = find_any(connection, given)?;
    if found.is_empty() {
        let error = Failure::other(format!(
            "there is no table, view, procedure, function, package, trigger, sequence, domain, index or exception \
             {}: firearrow tables lists tables and views, and so does \\dt in the shell",
            line(given.trim())
        ));
        let own = objects(connection, "S = 0", Params::none())?;
        let known: Vec<_> = own.into_iter().map(|object| object.name).collect();
        return Err(similar::with_nearest(error, given.trim(), &known));
    }
    Ok(found)
}

/// A name without the quotes that it may have, and whether it had them.
pub(super) fn written(given: &str) -> (String, bool) {
    match unquoted(given) {
        Some(name) => (name, true),
        None => (given.to_owned(), false),
    }
}

/// [`find`], where there may be none.
pub(super) fn find_any(connection: &Connection, given: &str) -> Result<Vec<Object>> {
    let given = given.trim();
    let (wanted, is_quoted) = written(given);
    let mut found = alike(connection, &wanted)?;
    if is_quoted || found.iter().any(|object| object.name == wanted) {
        found.retain(|object| object.name == wanted);
    }
    let names: BTreeSet<&str> = found.iter().map(|object| object.name.as_str()).collect();
    if names.len() > 1 {
        let names: Vec<_> = names.into_iter().map(|name| format!("\"{}\"", line(name))).collect();
        return Err(Failure::other(format!(
            "{} could be any of {}: write the one you mean with its quotes",
            line(given),
            names.join(", ")
        )));
    }
    Ok(found)
}

/// Returns the objects whose names differ from this one in letter case at most.
fn alike(connection: &Connection, name: &str) -> Result<Vec<Object>> {
    if name.contains('\0') || name.chars().count() > LONGEST_NAME {
        return Ok(Vec::new());
    }
    let parameters = Params::texts([Some(name), Some(name)]);
    objects(connection, &format!("N = {NAME} OR UPPER(N) = UPPER({NAME})"), parameters)
}

/// Returns the objects whose name `N` and flag `S`, which is not 0 if they belong to the engine, meet a condition.
fn objects(connection: &Connection, condition: &str, parameters: Params) -> Result<Vec<Object>> {
    let queries = Kind::ALL.iter().enumerate().map(|(number, kind)| {
        let (column, table, condition) = kind.place();
        format!(
            "SELECT {number} AS K, CAST({column} AS VARCHAR(63) CHARACTER SET UTF8) AS N, \
             COALESCE(RDB$SYSTEM_FLAG, 0) AS S FROM {table} WHERE {condition}"
        )
    });
    let all = queries.collect::<Vec<_>>().join(" UNION ALL ");
    let sql = format!("SELECT K, TRIM(TRAILING FROM N), S FROM ({all}) O WHERE {condition} ORDER BY 1, 2");
    let catalog = connection.catalog()?;
    let transaction = catalog.transaction();
    let statement = transaction.prepare(&sql)?.with_read_options(ReadOptions::default());
    let mut objects = Vec::new();
    for batch in statement.query(transaction, parameters)? {
        for row in batch?.rows() {
            let number = usize::try_from(row.get::<i64>(0)?).unwrap_or(usize::MAX);
            let Some(kind) = Kind::ALL.get(number) else { continue };
            objects.push(Object { kind: *kind, name: row.get(1)?, is_system: row.get::<i64>(2)? != 0 });
        }
    }
    Ok(objects)
}
