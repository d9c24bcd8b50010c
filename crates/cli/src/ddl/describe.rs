//! Objects as people want to see them: columns, keys, parameters.

use super::constraint;
use super::database::{Database, NAME, Scope};
use super::index::Index;
use super::name::{is_generated, name};
use super::object::{self, Kind, Object};
use super::one_object;
use super::parameter::Parameter;
use super::routine::Routines;
use super::script::Script;
use super::table::Tables;
use super::trigger::{Triggers, head};
use crate::failure::Result;
use crate::terminal::{line, lines};
use firearrow::Connection;
use firearrow::catalog::{Column, ConstraintKind, Direction, RoutineKind, Table};
use firearrow_bench::text::aligned;
use std::collections::HashSet;

/// Returns a description of the objects with this name, as text for a terminal: nothing in it controls one.
pub(super) fn describe(connection: &Connection, given: &str) -> Result<String> {
    let mut parts = Vec::new();
    for object in object::find(connection, given)? {
        let database = Database::open(connection, object.is_system)?;
        parts.push(match object.kind {
            Kind::Table | Kind::View => table(&database, &object)?,
            Kind::Procedure | Kind::Function => routine(&database, &object)?,
            Kind::Sequence => {
                // Not everybody who sees a sequence may use it.
                let value = database.catalog.generator_value(&object.name).ok();
                let value = value.map(|value| value.to_string());
                definition(&database, &object)? + &section("Value", value.into_iter().collect())
            }
            _ => definition(&database, &object)?,
        });
    }
    Ok(parts.join("\n"))
}

/// Returns the DDL, where that is the best description.
fn definition(database: &Database, object: &Object) -> Result<String> {
    let mut script = Script::default();
    one_object::add(database, object, &mut script)?;
    Ok(lines(&script.text()).into_owned())
}

fn title(kind: &str, object: &str, remarks: Option<&String>) -> String {
    let remarks = remarks.map_or_else(String::new, |remarks| format!("\n{}", lines(remarks)));
    format!("{kind} {}{remarks}\n", line(&name(object)))
}

/// Returns lines below a heading; nothing without lines.
fn section(heading: &str, items: Vec<String>) -> String {
    if items.is_empty() {
        return String::new();
    }
    let items: Vec<String> = items.iter().map(|item| format!("  {}\n", line(item))).collect();
    format!("\n{heading}\n{}", items.concat())
}

fn table(database: &Database, object: &Object) -> Result<String> {
    let tables = Tables::read(database, Scope::One(&object.name))?;
    let mut text = String::new();
    for found in &tables.tables {
        text += &title(found.kind.name(), &found.name, found.remarks.as_ref());
        text += &columns(database, &tables, found);
        if Tables::is_view(found) {
            let source = tables.view_source(&found.name).unwrap_or_default();
            text += &format!("\nSource\n{}\n", lines(source));
        }
    }
    let of_kind = |is_foreign: bool| {
        let own = tables.constraints(&object.name).iter();
        let own = own.filter(|one| (one.kind == ConstraintKind::ForeignKey) == is_foreign);
        own.map(|one| tables.definition(one)).collect()
    };
    text += &section("Constraints", of_kind(false));
    text += &section("Foreign keys", of_kind(true));
    text += &section("Referenced by", references(database, &object.name)?);
    text += &section("Indexes", tables.indexes.iter().map(index).collect());
    // Those of system tables are the engine itself.
    if !object.is_system {
        let triggers = Triggers::of_table(database, &object.name)?.triggers;
        let triggers = triggers.iter().map(|trigger| format!("{} {}", name(&trigger.name), head(trigger)));
        text += &section("Triggers", triggers.collect());
    }
    Ok(text)
}

fn columns(database: &Database, tables: &Tables, table: &Table) -> String {
    let columns: Vec<&Column> = tables.columns(&table.name).iter().map(|column| &column.column).collect();
    let has_remarks = columns.iter().any(|column| column.remarks.is_some());
    let mut rows = vec![head_row(&["column", "type", "null", "value"], has_remarks)];
    for column in columns {
        let declared = database.shown_type(&column.data_type);
        let data_type = match &column.domain {
            Some(domain) => format!("{} ({declared})", name(domain)),
            None => declared,
        };
        let value = match (&column.computed, column.identity, &column.default) {
            (Some(expression), _, _) => format!("COMPUTED BY {expression}"),
            (None, Some(_), _) => "IDENTITY".to_owned(),
            (None, None, Some(default)) => format!("DEFAULT {default}"),
            (None, None, None) => String::new(),
        };
        let null = if column.nullable { "" } else { "NOT NULL" };
        rows.push(row(
            &[&name(&column.name), &data_type, null, &value],
            has_remarks,
            column.remarks.as_ref(),
        ));
    }
    format!("\n{}", aligned(&rows, usize::MAX))
}

fn head_row(heads: &[&str], has_remarks: bool) -> Vec<String> {
    heads.iter().copied().chain(has_remarks.then_some("comment")).map(str::to_owned).collect()
}

/// Returns cells that are harmless on a terminal.
fn row(cells: &[&str], has_remarks: bool, remarks: Option<&String>) -> Vec<String> {
    let remarks = has_remarks.then(|| remarks.map_or("", String::as_str));
    cells.iter().copied().chain(remarks).map(|cell| line(cell).into_owned()).collect()
}

fn index(index: &Index) -> String {
    let own = &index.index;
    let mut text = index.definition();
    if !own.active {
        text += ", inactive";
    }
    match &own.constraint {
        Some(constraint) if is_generated(constraint) => text += ", of a constraint",
        Some(constraint) => text += &format!(", of {}", name(constraint)),
        None => {}
    }
    text
}

const REFERENCES: &str = "SELECT DISTINCT C.RDB$RELATION_NAME FROM RDB$RELATION_CONSTRAINTS U \
     JOIN RDB$REF_CONSTRAINTS R ON R.RDB$CONST_NAME_UQ = U.RDB$CONSTRAINT_NAME \
     JOIN RDB$RELATION_CONSTRAINTS C ON C.RDB$CONSTRAINT_NAME = R.RDB$CONSTRAINT_NAME \
     WHERE U.RDB$RELATION_NAME = ";

/// Returns the foreign keys of all tables that refer to this one.
fn references(database: &Database, table: &str) -> Result<Vec<String>> {
    let sql = format!("{REFERENCES}{NAME} ORDER BY 1");
    let mut found = Vec::new();
    for owner in database.ask(&sql, &[table], |row| row.get::<String>(0))? {
        let tables = constraint::read(database, Scope::One(&owner))?;
        for constraint in tables.get(&owner).into_iter().flatten() {
            if constraint.references.as_ref().is_some_and(|references| references.table == table) {
                found.push(format!(
                    "{}: {}",
                    name(&owner),
                    constraint::definition(constraint, &HashSet::new())
                ));
            }
        }
    }
    Ok(found)
}

fn routine(database: &Database, object: &Object) -> Result<String> {
    let routines = Routines::read(database, Scope::One(&object.name))?;
    let (kind, remarks) = match object.kind {
        Kind::Function => {
            let function = routines.function(&object.name);
            (RoutineKind::Function, function.and_then(|function| function.remarks.as_ref()))
        }
        _ => {
            let procedure = routines.procedure(&object.name);
            (RoutineKind::Procedure, procedure.and_then(|procedure| procedure.remarks.as_ref()))
        }
    };
    let mut text = title(object.kind.name(), &object.name, remarks);
    let parameters = routines.parameters(kind, None, &object.name);
    if parameters.is_empty() {
        return Ok(text + "\nno parameters\n");
    }
    let has_remarks = parameters.iter().any(|one| one.parameter.remarks.is_some());
    let mut rows = vec![head_row(&["direction", "parameter", "type", "null", "default"], has_remarks)];
    rows.extend(parameters.iter().map(|one| parameter(database, one, has_remarks)));
    text += &format!("\n{}", aligned(&rows, usize::MAX));
    Ok(text)
}

fn parameter(database: &Database, one: &Parameter, has_remarks: bool) -> Vec<String> {
    let own = &one.parameter;
    let direction = match own.direction {
        Direction::In => "in",
        Direction::Out => "out",
        Direction::Return => "returns",
    };
    let parameter = own.name.as_ref().map_or_else(String::new, |own| name(own));
    let null = if own.nullable { "" } else { "NOT NULL" };
    let default = own.default.as_deref().unwrap_or_default();
    let cells = [direction, &parameter, &one.shown_type(database), null, default];
    row(&cells, has_remarks, own.remarks.as_ref())
}
