//! The objects of a database: tables, columns, constraints, indexes, procedures, functions, triggers, generators,
//! domains, who may do what with them, and transactions in limbo.
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
//! Each method is one query for any number of objects, sorted by name. Names are those of the catalog tables: `CREATE
//! TABLE t` made a `T`.

mod column;
mod constraint;
mod data_type;
mod domain;
mod generator;
mod index;
mod limbo;
mod name;
mod parameter;
mod privilege;
mod question;
mod routine;
mod table;
mod trigger;

pub use column::{Column, Identity};
pub use constraint::{Constraint, ConstraintKind, Reference};
pub use data_type::{BaseType, ColumnType};
pub use domain::Domain;
pub use generator::Generator;
pub use index::{Index, Segment};
pub use limbo::LimboTransaction;
pub(crate) use name::literal;
pub use name::{LONGEST_NAME, LONGEST_NAME_FIREBIRD3, Name, identifier, quoted};
pub use parameter::{Direction, Parameter, RoutineKind};
pub use privilege::{Action, ObjectKind, Privilege};
pub use routine::{Function, Language, Procedure, ProcedureKind};
pub use table::{Table, TableKind};
pub use trigger::{DatabaseEvent, Phase, RowEvent, Trigger, TriggerEvent};

use crate::backend::{Backend, TransactionId};
pub use crate::blocking::Catalog;
use crate::error::Result;
use crate::session::Session;
use firearrow_proto::api::transaction::{Isolation, TransactionOptions};

/// The contents of a catalog. It sees what is committed when it is queried, uses a separate transaction that does not
/// hold back garbage collection, and changes nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) transaction: TransactionId,
    pub(crate) with_system: bool,
}

impl View {
    /// In a transaction that it begins.
    pub(crate) async fn open<B: Backend>(session: &mut Session<B>) -> Result<Self> {
        let options = TransactionOptions::reading().isolation(Isolation::ReadCommittedRecordVersion);
        Ok(Self { transaction: session.begin_deferred(&options).await?, with_system: false })
    }

    pub(crate) fn with_system(self, with_system: bool) -> Self {
        Self { with_system, ..self }
    }
}
