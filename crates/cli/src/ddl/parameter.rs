//! Parameters of procedures and functions.

use super::database::{Database, Scope, is_set};
use super::name::name;
use crate::failure::Result;
use firearrow::catalog::{self, Direction, Name, RoutineKind};
use std::collections::HashMap;

/// A parameter, and how it was declared.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) parameter: catalog::Parameter,
    own: Own,
}

#[derive(Clone, Debug, Default)]
struct Own {
    is_type_of: bool,
    column: Option<(String, String)>,
    is_not_null: bool,
    has_collation: bool,
}

/// Mechanism 1 is `TYPE OF`. Numbers and directions are those of [`catalog::Parameter`].
const OF_PROCEDURES: &str = "SELECT A.RDB$PACKAGE_NAME, A.RDB$PROCEDURE_NAME, 0, A.RDB$PARAMETER_TYPE, \
     A.RDB$PARAMETER_NUMBER + 1, A.RDB$PARAMETER_MECHANISM, A.RDB$RELATION_NAME, A.RDB$FIELD_NAME, A.RDB$NULL_FLAG, \
     CASE WHEN A.RDB$COLLATION_ID <> COALESCE(F.RDB$COLLATION_ID, 0) THEN 1 ELSE 0 END \
     FROM RDB$PROCEDURE_PARAMETERS A \
     JOIN RDB$FIELDS F ON F.RDB$FIELD_NAME = A.RDB$FIELD_SOURCE WHERE {only}";

/// Results of functions have number 0. Legacy functions have other rules, and none of this.
const OF_FUNCTIONS: &str = "SELECT A.RDB$PACKAGE_NAME, A.RDB$FUNCTION_NAME, 1, \
     CASE A.RDB$ARGUMENT_POSITION WHEN 0 THEN 2 ELSE 0 END, \
     A.RDB$ARGUMENT_POSITION, A.RDB$ARGUMENT_MECHANISM, A.RDB$RELATION_NAME, A.RDB$FIELD_NAME, A.RDB$NULL_FLAG, \
     CASE WHEN A.RDB$COLLATION_ID <> COALESCE(F.RDB$COLLATION_ID, 0) THEN 1 ELSE 0 END \
     FROM RDB$FUNCTION_ARGUMENTS A \
     JOIN RDB$FIELDS F ON F.RDB$FIELD_NAME = A.RDB$FIELD_SOURCE WHERE {only}";

/// A routine as a key: its kind, package and name.
pub(super) type Routine = (RoutineKind, Option<String>, String);

/// Returns the parameters of routines, in their order.
pub(super) fn read(database: &Database, routine: Scope<'_>) -> Result<HashMap<Routine, Vec<Parameter>>> {
    let mut own = HashMap::new();
    for (sql, column) in [(OF_PROCEDURES, "A.RDB$PROCEDURE_NAME"), (OF_FUNCTIONS, "A.RDB$FUNCTION_NAME")] {
        own.extend(database.ask_scope(sql, column, routine, |row| {
            let key: (Option<String>, String, i64, i64, i64) =
                (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
            let column = row.get::<Option<String>>(6)?.zip(row.get::<Option<String>>(7)?);
            let own = Own {
                is_type_of: is_set(&row, 5)?,
                column,
                is_not_null: is_set(&row, 8)?,
                has_collation: is_set(&row, 9)?,
            };
            Ok((key, own))
        })?);
    }
    let mut parameters = HashMap::<Routine, Vec<Parameter>>::new();
    for parameter in database.catalog.parameters(routine.name(), Name::Any)? {
        let (kind, direction) = numbers(&parameter);
        let place = i64::from(parameter.position);
        let key = (parameter.package.clone(), parameter.routine.clone(), kind, direction, place);
        let own = own.remove(&key).unwrap_or_default();
        let routine = (parameter.routine_kind, key.0, key.1);
        parameters.entry(routine).or_default().push(Parameter { parameter, own });
    }
    Ok(parameters)
}

fn numbers(parameter: &catalog::Parameter) -> (i64, i64) {
    let kind = match parameter.routine_kind {
        RoutineKind::Procedure => 0,
        RoutineKind::Function => 1,
    };
    let direction = match parameter.direction {
        Direction::In => 0,
        Direction::Out => 1,
        Direction::Return => 2,
    };
    (kind, direction)
}

impl Parameter {
    /// Returns the declaration: name, type and default. A stub has no types of columns, which may not be there yet.
    pub(super) fn definition(&self, database: &Database, is_stub: bool) -> Result<String> {
        let Self { parameter, own } = self;
        let mut sql = parameter.name.as_ref().map_or_else(String::new, |own| format!("{} ", name(own)));
        sql += &match (&own.column, &parameter.domain) {
            (Some((table, column)), _) if own.is_type_of && !is_stub => {
                format!("TYPE OF COLUMN {}.{}", name(table), name(column))
            }
            (None, Some(domain)) if own.is_type_of => format!("TYPE OF {}", name(domain)),
            (None, Some(domain)) => name(domain),
            _ => database.sql_type(&parameter.data_type, None)?,
        };
        if own.is_not_null {
            sql += " NOT NULL";
        }
        let has_declared_type = own.column.is_none() && parameter.domain.is_none();
        sql += &match &parameter.data_type.collation {
            Some(collation) if own.has_collation && !has_declared_type => {
                format!(" COLLATE {}", name(collation))
            }
            _ if has_declared_type => database.collate(&parameter.data_type),
            _ => String::new(),
        };
        if let Some(default) = &parameter.default {
            sql += &format!(" DEFAULT {default}");
        }
        Ok(sql)
    }

    /// Returns the table or view of `TYPE OF COLUMN`.
    pub(super) fn table(&self) -> Option<&str> {
        self.own.column.as_ref().map(|(table, _)| table.as_str())
    }

    /// Returns the type as people read it.
    pub(super) fn shown_type(&self, database: &Database) -> String {
        match (&self.own.column, &self.parameter.domain) {
            (None, Some(domain)) => name(domain),
            _ => database.shown_type(&self.parameter.data_type),
        }
    }
}
