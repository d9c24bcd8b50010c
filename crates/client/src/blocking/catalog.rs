//! The catalog of the database.

use super::Transaction;
use super::shared::Shared;
use crate::catalog::{Column, Constraint, Index, Name, Table, View};
use crate::error::Result;
use std::sync::Arc;

/// A view of the catalog tables. It sees what has been committed when it is asked, has a transaction of its own that
/// holds nothing back, and changes nothing.
#[derive(Debug)]
pub struct Catalog {
    transaction: Transaction,
    view: View,
}

impl Catalog {
    pub(super) fn open(shared: &Arc<Shared>) -> Result<Self> {
        let view = shared.run(async |session| View::open(session).await)?;
        Ok(Self { transaction: Transaction::of(shared, view.transaction), view })
    }

    /// Tells about the engine's own tables, too.
    #[must_use]
    pub fn with_system_tables(mut self, with_system: bool) -> Self {
        self.view = self.view.with_system(with_system);
        self
    }

    /// The transaction that questions are asked in: read only, read committed.
    pub fn transaction(&self) -> &Transaction {
        &self.transaction
    }

    /// Tables and views of these names.
    pub fn tables(&self, name: Name<'_>) -> Result<Vec<Table>> {
        self.shared().run(async |session| self.view.tables(session, name).await)
    }

    /// Whether something happens when rows of these tables are inserted or deleted: one has triggers, or foreign keys that
    /// refer to it change or delete the rows that have them.
    pub fn reacts_to_rows(&self, table: Name<'_>) -> Result<bool> {
        self.shared().run(async |session| self.view.reacts_to_rows(session, table).await)
    }

    /// Columns of these names in the tables and views of those, in their order.
    pub fn columns(&self, table: Name<'_>, column: Name<'_>) -> Result<Vec<Column>> {
        self.shared().run(async |session| self.view.columns(session, table, column).await)
    }

    /// Constraints of these tables, each table's by name.
    pub fn constraints(&self, table: Name<'_>) -> Result<Vec<Constraint>> {
        self.shared().run(async |session| self.view.constraints(session, table).await)
    }

    /// Indexes of these tables, each table's by name.
    pub fn indexes(&self, table: Name<'_>) -> Result<Vec<Index>> {
        self.shared().run(async |session| self.view.indexes(session, table).await)
    }

    fn shared(&self) -> &Shared {
        &self.transaction.shared
    }
}
