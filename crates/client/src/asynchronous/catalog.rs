//! The catalog of the database.

use super::shared::Shared;
use super::{Transaction, flow};
use crate::catalog::{
    Column, Constraint, Domain, Function, Generator, Index, Name, Parameter, Privilege, Procedure, Table,
    Trigger, View,
};
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

    /// Tells about the engine's own tables and other objects, too.
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

    /// Stored procedures of these names, those outside of packages first. Of a package, those that its header declares.
    pub async fn procedures(&self, name: Name<'_>) -> Result<Vec<Procedure>> {
        let (view, name) = (self.view, name.into_owned());
        self.shared().run(flow!(session => view.procedures(session, name.as_name()).await)).await
    }

    /// Functions of these names, those outside of packages first. Of a package, those that its header declares.
    pub async fn functions(&self, name: Name<'_>) -> Result<Vec<Function>> {
        let (view, name) = (self.view, name.into_owned());
        self.shared().run(flow!(session => view.functions(session, name.as_name()).await)).await
    }

    /// Parameters of these names of the procedures and functions of those, in their order. Parameters without a name have
    /// the empty one.
    pub async fn parameters(&self, routine: Name<'_>, parameter: Name<'_>) -> Result<Vec<Parameter>> {
        let (view, routine, parameter) = (self.view, routine.into_owned(), parameter.into_owned());
        let ask = flow!(session => view.parameters(session, routine.as_name(), parameter.as_name()).await);
        self.shared().run(ask).await
    }

    /// Privileges on the objects of these names, of whatever kind. What the engine granted when it created the database
    /// belongs to the system objects.
    pub async fn privileges(&self, object: Name<'_>) -> Result<Vec<Privilege>> {
        let (view, object) = (self.view, object.into_owned());
        self.shared().run(flow!(session => view.privileges(session, object.as_name()).await)).await
    }

    /// Triggers of these names on the tables and views of those. Triggers of the database and of DDL statements are among
    /// them if `table` is [`Name::Any`].
    pub async fn triggers(&self, table: Name<'_>, trigger: Name<'_>) -> Result<Vec<Trigger>> {
        let (view, table, trigger) = (self.view, table.into_owned(), trigger.into_owned());
        let ask = flow!(session => view.triggers(session, table.as_name(), trigger.as_name()).await);
        self.shared().run(ask).await
    }

    /// Generators (sequences) of these names. Those of identity columns are the engine's own.
    pub async fn generators(&self, name: Name<'_>) -> Result<Vec<Generator>> {
        let (view, name) = (self.view, name.into_owned());
        self.shared().run(flow!(session => view.generators(session, name.as_name()).await)).await
    }

    /// The current value of the generator of exactly this name. Asking does not change it, but takes the privilege to
    /// use it.
    pub async fn generator_value(&self, name: &str) -> Result<i64> {
        let (view, name) = (self.view, name.to_owned());
        self.shared().run(flow!(session => view.generator_value(session, &name).await)).await
    }

    /// Domains of these names. Those that the engine makes for columns without one are never listed.
    pub async fn domains(&self, name: Name<'_>) -> Result<Vec<Domain>> {
        let (view, name) = (self.view, name.into_owned());
        self.shared().run(flow!(session => view.domains(session, name.as_name()).await)).await
    }

    fn shared(&self) -> &Shared {
        &self.transaction.shared
    }
}
