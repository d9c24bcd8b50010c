//! The DDL of a whole database, in an order that can be run.

use super::charset;
use super::database::{Database, Scope};
use super::dependency::Dependencies;
use super::domain::Domains;
use super::grant;
use super::order::{Node, Step};
use super::package;
use super::routine::{Part, Routines};
use super::script::Script;
use super::security;
use super::sequence;
use super::table::Tables;
use super::trigger::Triggers;
use crate::failure::Result;
use crate::interrupt;
use firearrow::Connection;
use firearrow::catalog::{Language, Name};
use std::collections::BTreeSet;

/// Returns the statements that create every object of users. What needs others comes after them: computed columns,
/// CHECKs and domains that call functions or read other tables get their expressions when those are there.
pub(super) fn script(connection: &Connection) -> Result<Script> {
    let database = &Database::open(connection, false)?;
    let mut script = Script::default();
    let tables = Tables::read(database, Scope::All)?;
    let routines = Routines::read(database, Scope::All)?;
    let dependencies = Dependencies::read(database, &tables.columns)?;
    interrupt::check()?;
    let deferred = &dependencies.deferred(database, &tables.columns)?;

    charset::set_defaults(database, &mut script)?;
    charset::comment(database, &mut script)?;
    charset::create_collations(database, &mut script)?;
    charset::create_filters(database, &mut script)?;
    security::create_roles(database, &mut script)?;
    sequence::create_exceptions(database, Scope::All, &mut script)?;
    sequence::create(database, Scope::All, &mut script)?;
    for function in &routines.functions {
        if matches!(function.language, Language::Udf { .. }) {
            routines.create_function(database, function, Part::Whole, &mut script)?;
        }
    }
    let domains = Domains::read(database, Scope::All)?;
    domains.create(database, deferred, &mut script)?;

    let (views, ordinary): (Vec<_>, Vec<_>) = tables.tables.iter().partition(|table| Tables::is_view(table));
    for table in &ordinary {
        tables.create(database, table, deferred, &mut script)?;
    }
    for table in &ordinary {
        tables.foreign_keys(&table.name, &mut script);
    }
    for index in tables.indexes.iter().filter(|index| !index.is_computed()) {
        index.create(&mut script);
    }

    let packages = package::read(database, Scope::All)?;
    let psql = |language: &Language| !matches!(language, Language::Udf { .. });
    let mut nodes: BTreeSet<Node> = views.iter().map(|view| Node::View(view.name.clone())).collect();
    nodes.extend(packages.iter().map(|package| Node::Package(package.name.clone())));
    let own = routines.procedures.iter().filter(|one| one.package.is_none());
    nodes.extend(own.map(|procedure| Node::Procedure(procedure.name.clone())));
    let own = routines.functions.iter().filter(|one| one.package.is_none() && psql(&one.language));
    nodes.extend(own.map(|function| Node::Function(function.name.clone())));
    for step in dependencies.steps(&nodes, &tables.columns, &routines.views_of_types()) {
        let (node, part) = match &step {
            Step::Create(node) => (node, Part::Whole),
            Step::Stub(node) => (node, Part::Stub),
            Step::Complete(node) => (node, Part::Body),
        };
        match node {
            Node::View(name) => {
                for view in views.iter().filter(|view| view.name == *name) {
                    tables.create_view(view, &mut script)?;
                }
            }
            Node::Package(name) => {
                for package in packages.iter().filter(|package| package.name == *name) {
                    package.create(&routines, &mut script);
                }
            }
            Node::Procedure(name) => {
                if let Some(procedure) = routines.procedure(name) {
                    routines.create_procedure(database, procedure, part, &mut script)?;
                }
            }
            Node::Function(name) => {
                if let Some(function) = routines.function(name) {
                    routines.create_function(database, function, part, &mut script)?;
                }
            }
        }
    }
    for package in &packages {
        package.create_body(&mut script);
    }

    domains.add_checks(deferred, &mut script);
    for table in &ordinary {
        for constraint in tables.constraints(&table.name) {
            if deferred.has_check(&constraint.name) {
                tables.add_constraint("CHECK", constraint, &mut script);
            }
        }
        for column in tables.columns(&table.name).iter().filter(|one| deferred.has_column(one)) {
            if let Some(sql) = column.alter(database)? {
                script.add("COLUMN", &table.name, sql);
            }
        }
    }
    for index in tables.indexes.iter().filter(|index| index.is_computed()) {
        index.create(&mut script);
    }
    Triggers::read(database, Scope::All)?.create(&mut script);
    security::create_mappings(database, &mut script)?;
    grant::create(database, Name::Any, None, &mut script)?;
    Ok(script)
}
