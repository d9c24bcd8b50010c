//! Triggers of tables, views, the database and DDL statements.

use super::database::{Database, Scope};
use super::name::name;
use super::routine::{MISSING, external};
use super::script::Script;
use super::table::security;
use crate::failure::Result;
use firearrow::catalog::{Language, Name, Phase, Trigger, TriggerEvent};
use std::collections::HashMap;

/// Triggers, and which of them have a SQL SECURITY of their own.
pub(super) struct Triggers {
    pub(super) triggers: Vec<Trigger>,
    definers: HashMap<String, bool>,
}

const DEFINERS: &str = "SELECT T.RDB$TRIGGER_NAME, T.RDB$SQL_SECURITY FROM RDB$TRIGGERS T \
     WHERE T.RDB$SQL_SECURITY IS NOT NULL";

impl Triggers {
    /// Reads triggers by their own name. Those of the database and of DDL statements, which may see or refuse what
    /// comes after them, are the last.
    pub(super) fn read(database: &Database, trigger: Scope<'_>) -> Result<Self> {
        Self::of(database, database.catalog.triggers(Name::Any, trigger.name())?)
    }

    /// Reads the triggers of a table or view.
    pub(super) fn of_table(database: &Database, table: &str) -> Result<Self> {
        Self::of(database, database.catalog.triggers(Name::Is(table), Name::Any)?)
    }

    fn of(database: &Database, mut triggers: Vec<Trigger>) -> Result<Self> {
        triggers.sort_by_key(|trigger| match trigger.event {
            TriggerEvent::Rows(_) => 0,
            TriggerEvent::Database(_) => 1,
            _ => 2,
        });
        let definers = match database.is_at_least(4) {
            true => database.ask(DEFINERS, &[], |row| Ok((row.get(0)?, row.get(1)?)))?,
            false => Vec::new(),
        };
        Ok(Self { triggers, definers: definers.into_iter().collect() })
    }

    /// Adds the triggers with their comments.
    pub(super) fn create(&self, script: &mut Script) {
        for trigger in &self.triggers {
            let sql = self.sql(trigger);
            match trigger.language {
                Language::Psql => script.add_body("TRIGGER", &trigger.name, sql),
                _ => script.add("TRIGGER", &trigger.name, sql),
            }
            script.comment("TRIGGER", &trigger.name, trigger.remarks.as_ref());
        }
    }

    fn sql(&self, trigger: &Trigger) -> String {
        let mut sql = format!("CREATE TRIGGER {}", name(&trigger.name));
        if let Some(table) = &trigger.table {
            sql += &format!(" FOR {}", name(table));
        }
        sql += &format!("\n{}", head(trigger));
        let source = trigger.source.as_deref();
        if let Language::External { .. } = trigger.language {
            return format!("{sql}\n{}", external(&trigger.language, source));
        }
        if let Some(definer) = self.definers.get(&trigger.name) {
            sql += &format!("\n{}", security(*definer));
        }
        match source {
            Some(source) => sql += &format!("\n{source}"),
            None => sql += &format!("\nAS /* {MISSING} */\nBEGIN END"),
        }
        sql
    }
}

/// Returns when a trigger runs, as `CREATE TRIGGER` has it.
pub(super) fn head(trigger: &Trigger) -> String {
    let active = if trigger.active { "ACTIVE" } else { "INACTIVE" };
    let phase = match (&trigger.event, trigger.phase) {
        (TriggerEvent::Database(_), _) => "ON ",
        (_, Some(Phase::Before)) => "BEFORE ",
        (_, Some(Phase::After)) => "AFTER ",
        (_, None) => "",
    };
    format!("{active} {phase}{} POSITION {}", trigger.event, trigger.position)
}
