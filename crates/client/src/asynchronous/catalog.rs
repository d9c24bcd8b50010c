//! The catalog of the database.

use super::shared::Shared;
use super::{Transaction, flow};
use crate::catalog::{
    Column, Constraint, Domain, Function, Generator, Index, LimboTransaction, Name, Parameter, Privilege,
    Procedure, Table, Trigger, View,
};
use crate::error::Result;
use std::sync::Arc;

/// A view of the catalog tables. It sees what is committed when it is queried, uses a separate transaction that does
/// not hold back garbage collection, and changes nothing.
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

    /// Includes system tables and other system objects.
    #[must_use]
    pub fn with_system_tables(mut self, with_system: bool) -> Self {
        self.view = self.view.with_system(with_system);
        self
    }

    /// The transaction of the queries: read only, read committed.
    pub fn transaction(&self) -> &Transaction {
        &self.transaction
    }

    /// Returns the tables and views with these names.
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

    /// Returns the constraints of these tables, by name within each table.
    pub async fn constraints(&self, table: Name<'_>) -> Result<Vec<Constraint>> {
        let (view, table) = (self.view, table.into_owned());
        self.shared().run(flow!(session => view.constraints(session, table.as_name()).await)).await
    }

    /// Returns the indexes of these tables, by name within each table.
    pub async fn indexes(&self, table: Name<'_>) -> Result<Vec<Index>> {
        let (view, table) = (self.view, table.into_owned());
        self.shared().run(flow!(session => view.indexes(session, table.as_name()).await)).await
    }

    /// Returns the columns with these names in those tables and views, in their order.
    pub async fn columns(&self, table: Name<'_>, column: Name<'_>) -> Result<Vec<Column>> {
        let (view, table, column) = (self.view, table.into_owned(), column.into_owned());
        let ask = flow!(session => view.columns(session, table.as_name(), column.as_name()).await);
        self.shared().run(ask).await
    }

    /// Returns the stored procedures with these names, those outside packages first. Of a package, only those that its
    /// header declares.
    pub async fn procedures(&self, name: Name<'_>) -> Result<Vec<Procedure>> {
        let (view, name) = (self.view, name.into_owned());
        self.shared().run(flow!(session => view.procedures(session, name.as_name()).await)).await
    }

    /// Returns the functions with these names, those outside packages first. Of a package, only those that its header
    /// declares.
    pub async fn functions(&self, name: Name<'_>) -> Result<Vec<Function>> {
        let (view, name) = (self.view, name.into_owned());
        self.shared().run(flow!(session => view.functions(session, name.as_name()).await)).await
    }

    /// Returns the parameters with these names of those procedures and functions, in their order. The name of an
    /// unnamed parameter is empty.
    pub async fn parameters(&self, routine: Name<'_>, parameter: Name<'_>) -> Result<Vec<Parameter>> {
        let (view, routine, parameter) = (self.view, routine.into_owned(), parameter.into_owned());
        let ask = flow!(session => view.parameters(session, routine.as_name(), parameter.as_name()).await);
        self.shared().run(ask).await
    }

    /// Returns the privileges on the objects with these names, of any kind. Privileges that the engine granted when it
    /// created the database count as system objects.
    pub async fn privileges(&self, object: Name<'_>) -> Result<Vec<Privilege>> {
        let (view, object) = (self.view, object.into_owned());
        self.shared().run(flow!(session => view.privileges(session, object.as_name()).await)).await
    }

    /// Returns the triggers with these names on those tables and views. Database and DDL triggers are included if
    /// `table` is [`Name::Any`].
    pub async fn triggers(&self, table: Name<'_>, trigger: Name<'_>) -> Result<Vec<Trigger>> {
        let (view, table, trigger) = (self.view, table.into_owned(), trigger.into_owned());
        let ask = flow!(session => view.triggers(session, table.as_name(), trigger.as_name()).await);
        self.shared().run(ask).await
    }

    /// Returns the generators (sequences) with these names. Those of identity columns are system objects.
    pub async fn generators(&self, name: Name<'_>) -> Result<Vec<Generator>> {
        let (view, name) = (self.view, name.into_owned());
        self.shared().run(flow!(session => view.generators(session, name.as_name()).await)).await
    }

    /// Returns the current value of the generator with exactly this name. Reading does not change it, but requires the
    /// privilege to use it.
    pub async fn generator_value(&self, name: &str) -> Result<i64> {
        let (view, name) = (self.view, name.to_owned());
        self.shared().run(flow!(session => view.generator_value(session, &name).await)).await
    }

    /// Returns the domains with these names. Those that the engine makes for columns without one are never listed.
    pub async fn domains(&self, name: Name<'_>) -> Result<Vec<Domain>> {
        let (view, name) = (self.view, name.into_owned());
        self.shared().run(flow!(session => view.domains(session, name.as_name()).await)).await
    }

    /// Returns the transactions in limbo that no connection holds, by number, with the messages that
    /// [`prepare_commit`](crate::asynchronous::Transaction::prepare_commit) was given. Like [`Connection::limbo_transactions`](crate::asynchronous::Connection::limbo_transactions), which has the
    /// numbers alone.
    pub async fn limbo_transactions(&self) -> Result<Vec<LimboTransaction>> {
        let view = self.view;
        self.shared().run(flow!(session => view.limbo_transactions(session).await)).await
    }

    fn shared(&self) -> &Shared {
        &self.transaction.shared
    }
}
