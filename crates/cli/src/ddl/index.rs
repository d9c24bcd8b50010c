//! Indexes of tables.

use super::database::{Database, Scope, text};
use super::name::{name, names};
use super::script::Script;
use crate::failure::Result;
use firearrow::catalog;
use std::collections::HashMap;

/// An index and its comment.
#[derive(Clone, Debug)]
pub(super) struct Index {
    pub(super) index: catalog::Index,
    pub(super) remarks: Option<String>,
}

const REMARKS: &str = "SELECT I.RDB$INDEX_NAME, I.RDB$DESCRIPTION FROM RDB$INDICES I \
     WHERE I.RDB$DESCRIPTION IS NOT NULL AND {only}";

/// Returns the indexes of tables, with those of constraints.
pub(super) fn read(database: &Database, table: Scope<'_>) -> Result<Vec<Index>> {
    let remarks = database.ask_scope(REMARKS, "I.RDB$RELATION_NAME", table, |row| {
        Ok((row.get::<String>(0)?, text(&row, 1)?))
    })?;
    let mut remarks: HashMap<_, _> = remarks.into_iter().collect();
    let indexes = database.catalog.indexes(table.name())?.into_iter();
    Ok(indexes.map(|index| Index { remarks: remarks.remove(&index.name).flatten(), index }).collect())
}

impl Index {
    /// Whether it is more than a list of columns, so that it may need other objects.
    pub(super) fn is_computed(&self) -> bool {
        self.index.expression.is_some() || self.index.condition.is_some()
    }

    /// Whether it belongs to a constraint, which creates it.
    pub(super) fn is_of_constraint(&self) -> bool {
        self.index.constraint.is_some()
    }

    /// Adds the index with its comment. One of a constraint is there already.
    pub(super) fn create(&self, script: &mut Script) {
        let index = &self.index;
        if !self.is_of_constraint() {
            script.add("INDEX", &index.name, self.sql());
            if !index.active {
                script.add("INDEX", &index.name, format!("ALTER INDEX {} INACTIVE", name(&index.name)));
            }
        }
        // Names that the engine chooses may be others the next time.
        if !index.name.starts_with("RDB$") {
            script.comment("INDEX", &index.name, self.remarks.as_ref());
        }
    }

    fn sql(&self) -> String {
        let index = &self.index;
        let unique = if index.unique { " UNIQUE" } else { "" };
        let descending = if index.descending { " DESCENDING" } else { "" };
        let (own, table) = (name(&index.name), name(&index.table));
        format!("CREATE{unique}{descending} INDEX {own} ON {table} {}", self.keys())
    }

    /// Returns the name and the keys, for people.
    pub(super) fn definition(&self) -> String {
        let index = &self.index;
        let unique = if index.unique { "UNIQUE " } else { "" };
        let descending = if index.descending { "DESCENDING " } else { "" };
        format!("{} {unique}{descending}{}", name(&index.name), self.keys())
    }

    fn keys(&self) -> String {
        let index = &self.index;
        let keys = match &index.expression {
            Some(expression) => format!("COMPUTED BY {expression}"),
            None => format!("({})", names(index.segments.iter().map(|segment| &segment.column))),
        };
        match &index.condition {
            Some(condition) => format!("{keys} {condition}"),
            None => keys,
        }
    }
}
