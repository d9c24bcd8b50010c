//! The catalog of the database.

use super::Transaction;
use super::shared::Shared;
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
    pub(super) fn open(shared: &Arc<Shared>) -> Result<Self> {
        let view = shared.run(async |session| View::open(session).await)?;
        Ok(Self { transaction: Transaction::of(shared, view.transaction), view })
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

    /// Stored procedures of these names, those outside of packages first. Of a package, those that its header declares.
    pub fn procedures(&self, name: Name<'_>) -> Result<Vec<Procedure>> {
        self.shared().run(async |session| self.view.procedures(session, name).await)
    }

    /// Functions of these names, those outside of packages first. Of a package, those that its header declares.
    pub fn functions(&self, name: Name<'_>) -> Result<Vec<Function>> {
        self.shared().run(async |session| self.view.functions(session, name).await)
    }

    /// Parameters of these names of the procedures and functions of those, in their order. Parameters without a name have
    /// the empty one.
    pub fn parameters(&self, routine: Name<'_>, parameter: Name<'_>) -> Result<Vec<Parameter>> {
        self.shared().run(async |session| self.view.parameters(session, routine, parameter).await)
    }

    /// Privileges on the objects of these names, of whatever kind. What the engine granted when it created the database
    /// belongs to the system objects.
    pub fn privileges(&self, object: Name<'_>) -> Result<Vec<Privilege>> {
        self.shared().run(async |session| self.view.privileges(session, object).await)
    }

    /// Triggers of these names on the tables and views of those. Triggers of the database and of DDL statements are among
    /// them if `table` is [`Name::Any`].
    pub fn triggers(&self, table: Name<'_>, trigger: Name<'_>) -> Result<Vec<Trigger>> {
        self.shared().run(async |session| self.view.triggers(session, table, trigger).await)
    }

    /// Generators (sequences) of these names. Those of identity columns are the engine's own.
    pub fn generators(&self, name: Name<'_>) -> Result<Vec<Generator>> {
        self.shared().run(async |session| self.view.generators(session, name).await)
    }

    /// The current value of the generator of exactly this name. Asking does not change it, but takes the privilege to
    /// use it.
    pub fn generator_value(&self, name: &str) -> Result<i64> {
        self.shared().run(async |session| self.view.generator_value(session, name).await)
    }

    /// Domains of these names. Those that the engine makes for columns without one are never listed.
    pub fn domains(&self, name: Name<'_>) -> Result<Vec<Domain>> {
        self.shared().run(async |session| self.view.domains(session, name).await)
    }

    fn shared(&self) -> &Shared {
        &self.transaction.shared
    }
}
