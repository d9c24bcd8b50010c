//! Tables, with their constraints and indexes.

use super::column::{self, Column};
use super::constraint;
use super::database::{Database, Scope, text};
use super::dependency::Deferred;
use super::index::{self, Index};
use super::name::{literal, name};
use super::script::Script;
use crate::failure::Result;
use firearrow::catalog::{Constraint, ConstraintKind, Table, TableKind};
use std::collections::{HashMap, HashSet};

/// Tables and views, and what belongs to them.
pub(super) struct Tables {
    pub(super) tables: Vec<Table>,
    pub(super) columns: HashMap<String, Vec<Column>>,
    /// In the order of [`name::in_order`](super::name::in_order).
    pub(super) constraints: HashMap<String, Vec<Constraint>>,
    /// Of all of them, those of constraints included.
    pub(super) indexes: Vec<Index>,
    descending: HashSet<String>,
    own: HashMap<String, Own>,
}

/// What the catalog does not have.
#[derive(Default)]
struct Own {
    file: Option<String>,
    definer: Option<bool>,
    view: Option<String>,
}

const OWN: &str = "SELECT R.RDB$RELATION_NAME, R.RDB$EXTERNAL_FILE, {security}, R.RDB$VIEW_SOURCE \
     FROM RDB$RELATIONS R WHERE {only}";

impl Tables {
    pub(super) fn read(database: &Database, scope: Scope<'_>) -> Result<Self> {
        let sql = OWN.replace("{security}", database.since_4("R.RDB$SQL_SECURITY"));
        let own = database.ask_scope(&sql, "R.RDB$RELATION_NAME", scope, |row| {
            let own = Own { file: text(&row, 1)?, definer: row.get(2)?, view: text(&row, 3)? };
            Ok((row.get(0)?, own))
        })?;
        let indexes = index::read(database, scope)?;
        let descending = indexes.iter().filter(|one| one.index.descending);
        Ok(Self {
            descending: descending.map(|one| one.index.name.clone()).collect(),
            tables: database.catalog.tables(scope.name())?,
            columns: column::read(database, scope)?,
            constraints: constraint::read(database, scope)?,
            indexes,
            own: own.into_iter().collect(),
        })
    }

    pub(super) fn is_view(table: &Table) -> bool {
        table.kind == TableKind::View
    }

    /// Returns the source of a view.
    pub(super) fn view_source(&self, view: &str) -> Option<&str> {
        self.own.get(view)?.view.as_deref()
    }

    pub(super) fn columns(&self, table: &str) -> &[Column] {
        self.columns.get(table).map_or(&[], Vec::as_slice)
    }

    pub(super) fn constraints(&self, table: &str) -> &[Constraint] {
        self.constraints.get(table).map_or(&[], Vec::as_slice)
    }

    /// Adds the table with its keys and CHECKs, and its comments. Foreign keys and indexes come later.
    pub(super) fn create(
        &self,
        database: &Database,
        table: &Table,
        deferred: &Deferred,
        script: &mut Script,
    ) -> Result<()> {
        let own = self.own.get(&table.name);
        let mut sql = match table.kind {
            TableKind::GlobalTemporary { .. } => "CREATE GLOBAL TEMPORARY TABLE ",
            _ => "CREATE TABLE ",
        }
        .to_owned();
        sql += &name(&table.name);
        if let Some(file) = own.and_then(|own| own.file.as_ref()) {
            sql += &format!(" EXTERNAL FILE {}", literal(file));
        }
        let mut elements = Vec::new();
        for column in self.columns(&table.name) {
            elements.push(column.definition(database, deferred.has_column(column))?);
        }
        for constraint in self.constraints(&table.name) {
            let is_later =
                constraint.kind == ConstraintKind::ForeignKey || deferred.has_check(&constraint.name);
            if !is_later {
                elements.push(self.definition(constraint));
            }
        }
        sql += &format!(" (\n    {}\n)", elements.join(",\n    "));
        let on_commit = match table.kind {
            TableKind::GlobalTemporary { preserves_rows: true } => Some("ON COMMIT PRESERVE ROWS"),
            TableKind::GlobalTemporary { preserves_rows: false } => Some("ON COMMIT DELETE ROWS"),
            _ => None,
        };
        let security = own.and_then(|own| own.definer).map(security);
        let clauses: Vec<&str> = on_commit.into_iter().chain(security).collect();
        if !clauses.is_empty() {
            sql += &format!(" {}", clauses.join(", "));
        }
        script.add("TABLE", &table.name, sql);
        script.comment("TABLE", &table.name, table.remarks.as_ref());
        self.comment_columns(&table.name, script);
        Ok(())
    }

    pub(super) fn comment_columns(&self, table: &str, script: &mut Script) {
        for Column { column, .. } in self.columns(table) {
            let part = format!("{}.{}", name(table), name(&column.name));
            script.comment_on("COLUMN", table, &part, column.remarks.as_ref());
        }
    }

    /// Returns the definition of one of the constraints.
    pub(super) fn definition(&self, constraint: &Constraint) -> String {
        constraint::definition(constraint, &self.descending)
    }

    /// Adds the foreign keys of a table.
    pub(super) fn foreign_keys(&self, table: &str, script: &mut Script) {
        for constraint in self.constraints(table) {
            if constraint.kind == ConstraintKind::ForeignKey {
                self.add_constraint("FOREIGN KEY", constraint, script);
            }
        }
    }

    /// Adds a constraint to a table that exists.
    pub(super) fn add_constraint(&self, kind: &'static str, constraint: &Constraint, script: &mut Script) {
        let (table, definition) = (name(&constraint.table), self.definition(constraint));
        let sql = format!("ALTER TABLE {table} ADD {definition}");
        script.add(kind, &constraint.table, sql);
    }
}

/// `SQL SECURITY` by `RDB$SQL_SECURITY`.
pub(super) fn security(is_definer: bool) -> &'static str {
    if is_definer { "SQL SECURITY DEFINER" } else { "SQL SECURITY INVOKER" }
}
