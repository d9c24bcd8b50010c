//! What a database consists of: tables, columns, constraints, indexes.
//!
//! ```no_run
//! use firearrow::Connection;
//! use firearrow::catalog::Name;
//!
//! # fn main() -> firearrow::Result<()> {
//! let connection = Connection::connect("firebird://localhost/employee")?;
//! let catalog = connection.catalog()?;
//! for table in catalog.tables(Name::Like("EMP%"))? {
//!     for column in catalog.columns(Name::Is(&table.name), Name::Any)? {
//!         println!("{}.{}: {}", column.table, column.name, column.data_type.base.name());
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Each question is one query for any number of tables, sorted by their names. Names are those of the catalog tables:
//! `CREATE TABLE t` made a `T`.

mod column;
mod constraint;
mod data_type;
mod index;
mod name;
mod question;
mod table;

pub use column::{Column, Identity};
pub use constraint::{Constraint, ConstraintKind, Reference};
pub use data_type::{BaseType, ColumnType};
pub use index::{Index, Segment};
pub use name::{LONGEST_NAME, LONGEST_NAME_FIREBIRD3, Name, identifier, quoted};
pub use table::{Table, TableKind};

use crate::connection::Connection;
use crate::error::Result;
use crate::transaction::Transaction;
use firearrow_proto::api::transaction::{Isolation, TransactionOptions};

/// A view of the catalog tables. It sees what has been committed when it is asked, has a transaction of its own that
/// holds nothing back, and changes nothing.
#[derive(Debug)]
pub struct Catalog {
    transaction: Transaction,
    with_system: bool,
}

impl Connection {
    /// The catalog of the database.
    pub fn catalog(&self) -> Result<Catalog> {
        let options = TransactionOptions {
            isolation: Isolation::ReadCommittedRecordVersion,
            ..TransactionOptions::read_only()
        };
        Ok(Catalog { transaction: self.begin_lazy(options)?, with_system: false })
    }
}

impl Catalog {
    /// Tells about the engine's own tables, too.
    #[must_use]
    pub fn with_system_tables(mut self, with_system: bool) -> Self {
        self.with_system = with_system;
        self
    }

    /// The transaction that questions are asked in: read only, read committed.
    pub fn transaction(&self) -> &Transaction {
        &self.transaction
    }
}
