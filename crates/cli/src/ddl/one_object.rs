//! The DDL of one object.

use super::database::{Database, Scope};
use super::dependency::Deferred;
use super::domain::Domains;
use super::grant;
use super::object::{self, Kind, Object};
use super::package;
use super::routine::{Part, Routines};
use super::script::Script;
use super::sequence;
use super::table::Tables;
use super::trigger::Triggers;
use crate::failure::Result;
use firearrow::Connection;
use firearrow::catalog::{Name, ObjectKind};

/// Returns the statements that create the objects with this name, and what belongs to them: keys, indexes and triggers of
/// a table, privileges, comments.
pub(super) fn script(connection: &Connection, given: &str) -> Result<Script> {
    let mut script = Script::default();
    for object in object::find(connection, given)? {
        let database = Database::open(connection, object.is_system)?;
        add(&database, &object, &mut script)?;
    }
    Ok(script)
}

/// Adds the statements of one object.
pub(super) fn add(database: &Database, object: &Object, script: &mut Script) -> Result<()> {
    let scope = Scope::One(&object.name);
    match object.kind {
        Kind::Table | Kind::View => table(database, object, script)?,
        Kind::Procedure => {
            let routines = Routines::read(database, scope)?;
            if let Some(procedure) = routines.procedure(&object.name) {
                routines.create_procedure(database, procedure, Part::Whole, script)?;
            }
        }
        Kind::Function => {
            let routines = Routines::read(database, scope)?;
            if let Some(function) = routines.function(&object.name) {
                routines.create_function(database, function, Part::Whole, script)?;
            }
        }
        Kind::Package => {
            // Its routines have names of their own.
            let routines = Routines::read(database, Scope::All)?;
            for package in package::read(database, scope)? {
                package.create(&routines, script);
                package.create_body(script);
            }
        }
        Kind::Trigger => Triggers::read(database, scope)?.create(script),
        Kind::Sequence => sequence::create(database, scope, script)?,
        Kind::Domain => Domains::read(database, scope)?.create(database, &Deferred::default(), script)?,
        Kind::Index => index(database, object, script)?,
        Kind::Exception => sequence::create_exceptions(database, scope, script)?,
    }
    let kind = match object.kind {
        Kind::Table | Kind::View => ObjectKind::Table,
        Kind::Procedure => ObjectKind::Procedure,
        Kind::Function => ObjectKind::Function,
        Kind::Package => ObjectKind::Package,
        Kind::Sequence => ObjectKind::Generator,
        Kind::Exception => ObjectKind::Exception,
        Kind::Trigger | Kind::Domain | Kind::Index => return Ok(()),
    };
    grant::create(database, Name::Is(&object.name), Some(kind), script)
}

fn table(database: &Database, object: &Object, script: &mut Script) -> Result<()> {
    let tables = Tables::read(database, Scope::One(&object.name))?;
    for found in &tables.tables {
        if Tables::is_view(found) {
            tables.create_view(found, script)?;
        } else {
            tables.create(database, found, &Deferred::default(), script)?;
        }
        tables.foreign_keys(&found.name, script);
    }
    for index in &tables.indexes {
        index.create(script);
    }
    // Those of system tables are the engine itself.
    if !object.is_system {
        Triggers::of_table(database, &object.name)?.create(script);
    }
    Ok(())
}

/// An index may be that of a constraint, which then is what creates it.
fn index(database: &Database, object: &Object, script: &mut Script) -> Result<()> {
    let sql = "SELECT I.RDB$RELATION_NAME FROM RDB$INDICES I WHERE {only}";
    let scope = Scope::One(&object.name);
    for owner in database.ask_scope(sql, "I.RDB$INDEX_NAME", scope, |row| row.get::<String>(0))? {
        let tables = Tables::read(database, Scope::One(&owner))?;
        let Some(index) = tables.indexes.iter().find(|index| index.index.name == object.name) else {
            continue;
        };
        let constraints = tables.constraints(&owner).iter();
        for constraint in constraints.filter(|one| one.index.as_ref() == Some(&object.name)) {
            tables.add_constraint("CONSTRAINT", constraint, script);
        }
        index.create(script);
    }
    Ok(())
}
