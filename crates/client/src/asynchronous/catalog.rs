//! The catalog of the database.

use super::shared::Shared;
use super::{Transaction, flow};
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
    pub(super) async fn open(shared: &Arc<Shared>) -> Result<Self> {
        let owner = Arc::clone(shared);
        let open = flow!(session => {
            let view = View::open(session).await?;
            Ok(Self { transaction: Transaction::of(&owner, view.transaction), view })
        });
        shared.run(open).await
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
    pub async fn tables(&self, table: Name<'_>) -> Result<Vec<Table>> {
        let (view, table) = (self.view, table.into_owned());
        self.shared().run(flow!(session => view.tables(session, table.as_name()).await)).await
    }

    /// Whether something happens when rows of these tables are inserted or deleted: one has triggers, or foreign keys that
    /// refer to it change or delete the rows that have them.
    pub async fn reacts_to_rows(&self, table: Name<'_>) -> Result<bool> {
        let (view, table) = (self.view, table.into_owned());
        self.shared().run(flow!(session => view.reacts_to_rows(session, table.as_name()).await)).await
    }

    /// Constraints of these tables, each table's by name.
    pub async fn constraints(&self, table: Name<'_>) -> Result<Vec<Constraint>> {
        let (view, table) = (self.view, table.into_owned());
        self.shared().run(flow!(session => view.constraints(session, table.as_name()).await)).await
    }

    /// Indexes of these tables, each table's by name.
    pub async fn indexes(&self, table: Name<'_>) -> Result<Vec<Index>> {
        let (view, table) = (self.view, table.into_owned());
        self.shared().run(flow!(session => view.indexes(session, table.as_name()).await)).await
    }

    /// Columns of these names in the tables and views of those, in their order.
    pub async fn columns(&self, table: Name<'_>, column: Name<'_>) -> Result<Vec<Column>> {
        let (view, table, column) = (self.view, table.into_owned(), column.into_owned());
        let ask = flow!(session => view.columns(session, table.as_name(), column.as_name()).await);
        self.shared().run(ask).await
    }

    fn shared(&self) -> &Shared {
        &self.transaction.shared
    }
}
