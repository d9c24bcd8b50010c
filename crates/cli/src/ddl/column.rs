//! Columns of tables.

use super::database::{Database, Scope, is_set, text};
use super::name::{is_generated, name};
use crate::failure::Result;
use firearrow::catalog::{self, Identity, Name};
use std::collections::HashMap;

/// A column, and what only it has, apart from its domain.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) column: catalog::Column,
    /// The domain that it has in the catalog tables, made by the engine if the user named none.
    pub(super) source: String,
    own: Own,
}

#[derive(Clone, Debug, Default)]
struct Own {
    has_default: bool,
    is_not_null: bool,
    /// The constraint NOT NULL, if the user named it.
    not_null: Option<String>,
    has_collation: bool,
    segment: Option<i32>,
    start: Option<i64>,
    increment: Option<i64>,
}

const OWN: &str = "SELECT C.RDB$RELATION_NAME, C.RDB$FIELD_NAME, C.RDB$FIELD_SOURCE, \
     CASE WHEN C.RDB$DEFAULT_SOURCE IS NULL THEN 0 ELSE 1 END, C.RDB$NULL_FLAG, \
     CASE WHEN C.RDB$COLLATION_ID <> COALESCE(F.RDB$COLLATION_ID, 0) THEN 1 ELSE 0 END, F.RDB$SEGMENT_LENGTH, \
     G.RDB$INITIAL_VALUE, G.RDB$GENERATOR_INCREMENT \
     FROM RDB$RELATION_FIELDS C \
     JOIN RDB$FIELDS F ON F.RDB$FIELD_NAME = C.RDB$FIELD_SOURCE \
     LEFT JOIN RDB$GENERATORS G ON G.RDB$GENERATOR_NAME = C.RDB$GENERATOR_NAME WHERE {only}";

/// Where other constraints name a trigger, those of NOT NULL name a column.
const NOT_NULL: &str = "SELECT C.RDB$RELATION_NAME, K.RDB$TRIGGER_NAME, C.RDB$CONSTRAINT_NAME \
     FROM RDB$RELATION_CONSTRAINTS C \
     JOIN RDB$CHECK_CONSTRAINTS K ON K.RDB$CONSTRAINT_NAME = C.RDB$CONSTRAINT_NAME \
     WHERE C.RDB$CONSTRAINT_TYPE = 'NOT NULL' AND {only}";

/// Returns the columns of tables and views by the names of those.
pub(super) fn read(database: &Database, table: Scope<'_>) -> Result<HashMap<String, Vec<Column>>> {
    let mut own = HashMap::new();
    let rows = database.ask_scope(OWN, "C.RDB$RELATION_NAME", table, |row| {
        let facts = Own {
            has_default: is_set(&row, 3)?,
            is_not_null: is_set(&row, 4)?,
            not_null: None,
            has_collation: is_set(&row, 5)?,
            segment: row.get(6)?,
            start: row.get(7)?,
            increment: row.get(8)?,
        };
        Ok(((row.get(0)?, row.get(1)?), (row.get::<String>(2)?, facts)))
    })?;
    own.extend(rows);
    for (key, constraint) in database.ask_scope(NOT_NULL, "C.RDB$RELATION_NAME", table, |row| {
        Ok(((row.get(0)?, row.get(1)?), text(&row, 2)?))
    })? {
        let named = constraint.filter(|constraint| !is_generated(constraint));
        if let (Some(constraint), Some((_, facts))) = (named, own.get_mut(&key)) {
            facts.not_null = Some(constraint);
        }
    }
    let mut columns = HashMap::<String, Vec<Column>>::new();
    for column in database.catalog.columns(table.name(), Name::Any)? {
        let (source, own) = own.remove(&(column.table.clone(), column.name.clone())).unwrap_or_default();
        columns.entry(column.table.clone()).or_default().push(Column { column, source, own });
    }
    Ok(columns)
}

impl Column {
    /// Returns the definition within `CREATE TABLE`. A column whose expression comes later is NULL until then.
    pub(super) fn definition(&self, database: &Database, is_deferred: bool) -> Result<String> {
        let Column { column, own, .. } = self;
        let mut sql = name(&column.name);
        if let Some(expression) = &column.computed {
            let expression = match is_deferred {
                true => &format!("(CAST(NULL AS {}))", self.computed_type(database)?),
                false => expression,
            };
            sql += &self.computation(database, expression)?;
            return Ok(sql);
        }
        match &column.domain {
            Some(domain) => sql += &format!(" {}", name(domain)),
            None => sql += &format!(" {}", database.sql_type(&column.data_type, own.segment)?),
        }
        if let Some(default) = column.default.as_ref().filter(|_| own.has_default) {
            sql += &format!(" DEFAULT {default}");
        }
        if let Some(identity) = column.identity {
            sql += &self.identity(database, identity);
        }
        match &own.not_null {
            Some(constraint) => sql += &format!(" CONSTRAINT {} NOT NULL", name(constraint)),
            // Identity columns are never NULL.
            None if own.is_not_null && column.identity.is_none() => sql += " NOT NULL",
            None => {}
        }
        sql += &match (&column.domain, &column.data_type.collation) {
            (Some(_), Some(collation)) if own.has_collation => format!(" COLLATE {}", name(collation)),
            (Some(_), _) => String::new(),
            (None, _) => database.collate(&column.data_type),
        };
        Ok(sql)
    }

    /// Returns the statement that gives a column its expression.
    pub(super) fn alter(&self, database: &Database) -> Result<Option<String>> {
        let Some(expression) = &self.column.computed else { return Ok(None) };
        let (table, column) = (name(&self.column.table), name(&self.column.name));
        Ok(Some(format!(
            "ALTER TABLE {table} ALTER {column} TYPE {} COMPUTED BY {expression}",
            self.computed_type(database)?
        )))
    }

    /// With its type: the one that follows from the expression may be another. What has no room at all, such as `''`,
    /// has a type that nobody can declare.
    fn computation(&self, database: &Database, expression: &str) -> Result<String> {
        Ok(match self.column.data_type.characters {
            Some(0) => format!(" COMPUTED BY {expression}"),
            _ => format!(" {} COMPUTED BY {expression}", self.computed_type(database)?),
        })
    }

    /// Returns the type, or the nearest one that can be declared.
    fn computed_type(&self, database: &Database) -> Result<String> {
        let mut data_type = self.column.data_type.clone();
        data_type.characters = data_type.characters.map(|length| length.max(1));
        database.sql_type(&data_type, self.own.segment)
    }

    fn identity(&self, database: &Database, identity: Identity) -> String {
        let kind = match identity {
            Identity::Always => "ALWAYS",
            Identity::ByDefault => "BY DEFAULT",
        };
        let mut options = Vec::new();
        if let Some(start) = self.own.start.filter(|start| *start != database.first_value()) {
            options.push(format!("START WITH {start}"));
        }
        if let Some(increment) = self.own.increment.filter(|increment| *increment != 1) {
            options.push(format!("INCREMENT BY {increment}"));
        }
        let options = if options.is_empty() { String::new() } else { format!(" ({})", options.join(" ")) };
        format!(" GENERATED {kind} AS IDENTITY{options}")
    }
}
