//! The catalog of the database.

use super::Transaction;
use super::shared::Shared;
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
    pub(super) fn open(shared: &Arc<Shared>) -> Result<Self> {
        let view = shared.run(async |session| View::open(session).await)?;
        Ok(Self { transaction: Transaction::of(shared, view.transaction), view })
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
    pub fn tables(&self, name: Name<'_>) -> Result<Vec<Table>> {
        self.shared().run(async |session| self.view.tables(session, name).await)
    }

    /// Whether something happens when rows of these tables are inserted or deleted: one has triggers, or foreign keys that
    /// refer to it change or delete the rows that have them.
    pub fn reacts_to_rows(&self, table: Name<'_>) -> Result<bool> {
        self.shared().run(async |session| self.view.reacts_to_rows(session, table).await)
    }

    /// Returns the columns with these names in those tables and views, in their order.
    pub fn columns(&self, table: Name<'_>, column: Name<'_>) -> Result<Vec<Column>> {
        self.shared().run(async |session| self.view.columns(session, table, column).await)
    }

    /// Returns the constraints of these tables, by name within each table.
    pub fn constraints(&self, table: Name<'_>) -> Result<Vec<Constraint>> {
        self.shared().run(async |session| self.view.constraints(session, table).await)
    }

    /// Returns the indexes of these tables, by name within each table.
    pub fn indexes(&self, table: Name<'_>) -> Result<Vec<Index>> {
        self.shared().run(async |session| self.view.indexes(session, table).await)
    }

    /// Returns the stored procedures with these names, those outside packages first. Of a package, only those that its
    /// header declares.
    pub fn procedures(&self, name: Name<'_>) -> Result<Vec<Procedure>> {
        self.shared().run(async |session| self.view.procedures(session, name).await)
    }

    /// Returns the functions with these names, those outside packages first. Of a package, only those that its header
    /// declares.
    pub fn functions(&self, name: Name<'_>) -> Result<Vec<Function>> {
        self.shared().run(async |session| self.view.functions(session, name).await)
    }

    /// Returns the parameters with these names of those procedures and functions, in their order. The name of an
    /// unnamed parameter is empty.
    pub fn parameters(&self, routine: Name<'_>, parameter: Name<'_>) -> Result<Vec<Parameter>> {
        self.shared().run(async |session| self.view.parameters(session, routine, parameter).await)
    }

    /// Returns the privileges on the objects with these names, of any kind. Privileges that the engine granted when it
    /// created the database count as system objects.
    pub fn privileges(&self, object: Name<'_>) -> Result<Vec<Privilege>> {
        self.shared().run(async |session| self.view.privileges(session, object).await)
    }

    /// Returns the triggers with these names on those tables and views. Database and DDL triggers are included if
    /// `table` is [`Name::Any`].
    pub fn triggers(&self, table: Name<'_>, trigger: Name<'_>) -> Result<Vec<Trigger>> {
        self.shared().run(async |session| self.view.triggers(session, table, trigger).await)
    }

    /// Returns the generators (sequences) with these names. Those of identity columns are system objects.
    pub fn generators(&self, name: Name<'_>) -> Result<Vec<Generator>> {
        self.shared().run(async |session| self.view.generators(session, name).await)
    }

    /// Returns the current value of the generator with exactly this name. Reading does not change it, but requires the
    /// privilege to use it.
    pub fn generator_value(&self, name: &str) -> Result<i64> {
        self.shared().run(async |session| self.view.generator_value(session, name).await)
    }

    /// Returns the domains with these names. Those that the engine makes for columns without one are never listed.
    pub fn domains(&self, name: Name<'_>) -> Result<Vec<Domain>> {
        self.shared().run(async |session| self.view.domains(session, name).await)
    }

    /// Returns the transactions in limbo that no connection holds, by number, with the messages that
    /// [`prepare_commit`](crate::Transaction::prepare_commit) was given. Like [`Connection::limbo_transactions`](crate::Connection::limbo_transactions), which has the
    /// numbers alone.
    pub fn limbo_transactions(&self) -> Result<Vec<LimboTransaction>> {
        self.shared().run(async |session| self.view.limbo_transactions(session).await)
    }

    fn shared(&self) -> &Shared {
        &self.transaction.shared
    }
}
