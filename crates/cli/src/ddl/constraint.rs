//! Constraints of tables.

use super::database::{Database, Scope};
use super::name::{in_order, is_generated, name, names};
use super::routine::MISSING;
use crate::failure::Result;
use firearrow::catalog::{Constraint, ConstraintKind};
use std::collections::{HashMap, HashSet};

/// Returns the constraints of tables by the names of those: keys, then CHECKs, then foreign keys.
pub(super) fn read(database: &Database, table: Scope<'_>) -> Result<HashMap<String, Vec<Constraint>>> {
    let mut all = database.catalog.constraints(table.name())?;
    all.sort_by(|one, other| key(one).cmp(&key(other)));
    let mut constraints = HashMap::<String, Vec<Constraint>>::new();
    for constraint in all {
        constraints.entry(constraint.table.clone()).or_default().push(constraint);
    }
    Ok(constraints)
}

fn key(constraint: &Constraint) -> (usize, (bool, u64, &str)) {
    let kind = match constraint.kind {
        ConstraintKind::PrimaryKey => 0,
        ConstraintKind::Unique => 1,
        ConstraintKind::Check => 2,
        ConstraintKind::ForeignKey => 3,
    };
    (kind, in_order(&constraint.name))
}

/// Returns the definition within `CREATE TABLE`, or after `ADD`. `descending` has the names of descending indexes.
pub(super) fn definition(constraint: &Constraint, descending: &HashSet<String>) -> String {
    let mut sql = match is_generated(&constraint.name) {
        true => String::new(),
        false => format!("CONSTRAINT {} ", name(&constraint.name)),
    };
    if constraint.kind == ConstraintKind::Check {
        return match &constraint.check {
            Some(check) => sql + check,
            None => format!("{sql}CHECK (1 = 1 /* {MISSING} */)"),
        };
    }
    sql += &format!("{} ({})", constraint.kind.name(), names(&constraint.columns));
    if let Some(references) = &constraint.references {
        sql += &format!(" REFERENCES {} ({})", name(&references.table), names(&references.columns));
        for (event, action) in [("UPDATE", &references.on_update), ("DELETE", &references.on_delete)] {
            // RESTRICT cannot be written: it is what the engine has where nothing was.
            if action != "RESTRICT" && !action.is_empty() {
                sql += &format!(" ON {event} {action}");
            }
        }
    }
    sql + &using(constraint, descending)
}

/// Returns ` USING INDEX` and its name, unless the engine has chosen that.
fn using(constraint: &Constraint, descending: &HashSet<String>) -> String {
    let Some(index) = &constraint.index else { return String::new() };
    let is_descending = descending.contains(index);
    if !is_descending && (index.starts_with("RDB$") || *index == constraint.name) {
        return String::new();
    }
    format!(" USING{} INDEX {}", if is_descending { " DESCENDING" } else { "" }, name(index))
}
