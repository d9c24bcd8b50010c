//! The catalog functions: tables, columns, keys, indexes, privileges and procedures as results.
//!
//! ```text
//!  arguments ─► argument: patterns, identifiers, literal names ─► firearrow's catalog ─► rows in the standard's order
//! ```
//!
//! Each call reads in a transaction of its own: what is committed, without holding locks. There are no catalogs, and no
//! schemas before Firebird 6, so both are NULL in results.

mod argument;
mod columns;
mod data_type;
mod heading;
mod keys;
mod privileges;
mod procedure_columns;
mod procedures;
mod special_columns;
mod statistics;
mod tables;
#[cfg(test)]
mod tests;

pub(crate) use columns::columns;
pub(crate) use keys::{TableName, foreign_keys, primary_keys};
pub(crate) use privileges::{column_privileges, table_privileges};
pub(crate) use procedure_columns::procedure_columns;
pub(crate) use procedures::procedures;
pub(crate) use special_columns::{Special, special_columns};
pub(crate) use statistics::statistics;
pub(crate) use tables::tables;

use crate::diagnostics::{Failure, State};
use crate::types::TypeOptions;
use firearrow::catalog::Catalog;
use firearrow::{Connection, Dialect};

/// What catalog functions depend on besides their arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) connection: &'a Connection,
    /// `SQL_ATTR_METADATA_ID`: arguments are identifiers rather than patterns or literal names.
    pub(crate) identifiers: bool,
    /// Whether the application is one of ODBC 2, which has other numbers for datetimes.
    pub(crate) odbc2: bool,
    pub(crate) types: TypeOptions,
    pub(crate) dialect: Dialect,
}

/// Why a catalog function fails.
#[derive(Clone, Debug)]
pub(crate) enum Error {
    /// The driver does not accept an argument.
    Argument(Failure),
    /// The client or the engine reports an error.
    Client(firearrow::Error),
}

/// Result of a catalog function.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn argument(state: State, text: impl Into<String>) -> Self {
        Self::Argument(Failure::new(state, text))
    }

    /// An argument that must not be NULL.
    fn null(argument: &str) -> Self {
        Self::argument(State::NULL_POINTER, format!("{argument} must not be NULL"))
    }
}

impl From<firearrow::Error> for Error {
    fn from(error: firearrow::Error) -> Self {
        Self::Client(error)
    }
}

impl Scope<'_> {
    /// The database's catalog, including system objects.
    fn catalog(&self) -> Result<Catalog> {
        Ok(self.connection.catalog()?.with_system_tables(true))
    }
}
