//! The database whose DDL is written: its catalog, and queries of what the catalog does not have.

use crate::failure::Result;
use firearrow::arrow::MaxBlob;
use firearrow::catalog::{Catalog, LONGEST_NAME, Name};
use firearrow::{BatchExt, Connection, Params, ReadOptions, Row};
use std::collections::HashMap;

/// A database, and the facts on which its DDL depends.
pub(super) struct Database {
    pub(super) catalog: Catalog,
    /// Its default character set.
    pub(super) charset: String,
    /// Major version of the engine.
    major: u32,
    /// The default collation of each character set.
    collations: HashMap<String, String>,
}

/// Which objects of a kind are written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope<'a> {
    All,
    One(&'a str),
}

impl<'a> Scope<'a> {
    pub(super) fn name(self) -> Name<'a> {
        match self {
            Self::All => Name::Any,
            Self::One(name) => Name::Is(name),
        }
    }
}

impl Database {
    pub(super) fn open(connection: &Connection, with_system: bool) -> Result<Self> {
        let info = connection.info()?;
        let major = info.engine_version.split('.').next().and_then(|major| major.parse().ok());
        let mut database = Self {
            catalog: connection.catalog()?.with_system_tables(with_system),
            charset: info.database_charset,
            major: major.unwrap_or_default(),
            collations: HashMap::new(),
        };
        let collations = database.ask(COLLATIONS, &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
        database.collations = collations.into_iter().collect();
        Ok(database)
    }

    /// Whether the engine is of this major version or later.
    pub(super) fn is_at_least(&self, major: u32) -> bool {
        self.major >= major
    }

    /// Returns the first value of generators unless `START WITH` says otherwise.
    pub(super) fn first_value(&self) -> i64 {
        if self.is_at_least(4) { 1 } else { 0 }
    }

    /// Returns a column of the catalog tables that came with Firebird 4, or NULL.
    pub(super) fn since_4(&self, column: &'static str) -> &'static str {
        if self.is_at_least(4) { column } else { "NULL" }
    }

    /// Returns the collation of text that names none.
    pub(super) fn default_collation<'a>(&'a self, charset: &'a str) -> &'a str {
        self.collations.get(charset).map_or(charset, String::as_str)
    }

    /// Returns the character sets whose default collation is not the one of the same name, sorted.
    pub(super) fn changed_collations(&self) -> Vec<(&str, &str)> {
        let all = self.collations.iter().map(|(charset, collation)| (charset.as_str(), collation.as_str()));
        let mut changed: Vec<_> = all.filter(|(charset, collation)| charset != collation).collect();
        changed.sort_unstable();
        changed
    }

    /// Whether there is a role of this name.
    pub(super) fn has_role(&self, name: &str) -> Result<bool> {
        if name.chars().count() > LONGEST_NAME {
            return Ok(false);
        }
        let sql = "SELECT 1 FROM RDB$ROLES WHERE {only}";
        let found = self.ask_scope(sql, "RDB$ROLE_NAME", Scope::One(name), |_| Ok(()))?;
        Ok(!found.is_empty())
    }

    /// Runs a query of catalog tables in which `{only}` stands for the condition that `column` is a name of the scope.
    pub(super) fn ask_scope<T>(
        &self,
        sql: &str,
        column: &str,
        scope: Scope<'_>,
        read: impl FnMut(Row<'_>) -> firearrow::Result<T>,
    ) -> Result<Vec<T>> {
        match scope {
            Scope::All => self.ask(&sql.replace("{only}", "1 = 1"), &[], read),
            Scope::One(name) => {
                self.ask(&sql.replace("{only}", &format!("{column} = {NAME}")), &[name], read)
            }
        }
    }

    /// Runs a query of catalog tables. Its text does not depend on the options of the connection.
    pub(super) fn ask<T>(
        &self,
        sql: &str,
        parameters: &[&str],
        mut read: impl FnMut(Row<'_>) -> firearrow::Result<T>,
    ) -> Result<Vec<T>> {
        let transaction = self.catalog.transaction();
        let options = ReadOptions::default().trim_char(true).max_blob(MaxBlob::new(LONGEST_TEXT));
        let statement = transaction.prepare(sql)?.with_read_options(options);
        let parameters = match parameters {
            [] => Params::none(),
            values => Params::texts(values.iter().map(|value| Some(*value))),
        };
        let mut answers = Vec::new();
        for batch in statement.query(transaction, parameters)? {
            for row in batch?.rows() {
                answers.push(read(row)?);
            }
        }
        Ok(answers)
    }
}

/// Returns whether a column has a number other than 0.
pub(super) fn is_set(row: &Row<'_>, column: usize) -> firearrow::Result<bool> {
    Ok(row.get::<Option<i64>>(column)?.is_some_and(|value| value != 0))
}

/// Returns a text that may be missing, or empty, which means the same.
pub(super) fn text(row: &Row<'_>, column: usize) -> firearrow::Result<Option<String>> {
    Ok(row.get::<Option<String>>(column)?.filter(|text| !text.is_empty()))
}

/// A parameter that is a name as the catalog tables store it.
pub(super) const NAME: &str = "CAST(? AS VARCHAR(63) CHARACTER SET UTF8)";
const _: () = assert!(LONGEST_NAME == 63, "NAME has room for every name");

/// Bytes of a source or comment.
const LONGEST_TEXT: u64 = 64 << 20;

const COLLATIONS: &str = "SELECT RDB$CHARACTER_SET_NAME, \
     COALESCE(RDB$DEFAULT_COLLATE_NAME, RDB$CHARACTER_SET_NAME) FROM RDB$CHARACTER_SETS";
