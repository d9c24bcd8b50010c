//! Tables and views.

use super::question::{Question, Row};
use super::{Name, View};
use crate::backend::Backend;
use crate::error::Result;
use crate::session::Session;

/// A table or view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: TableKind,
    /// `COMMENT ON TABLE`.
    pub remarks: Option<String>,
    /// Its number. Another table that gets its name has another one.
    pub id: i32,
}

/// The kind of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableKind {
    /// An ordinary table.
    Table,
    /// A view.
    View,
    /// A system table: `RDB$…`, `MON$…`, `SEC$…`.
    System,
    /// A table whose rows each connection has for itself.
    GlobalTemporary {
        /// Whether rows survive their transaction (`ON COMMIT PRESERVE ROWS`).
        preserves_rows: bool,
    },
    /// A table over a file outside the database.
    External,
}

impl TableKind {
    /// All words of [`name`](Self::name).
    pub const NAMES: [&str; 5] = ["TABLE", "VIEW", "SYSTEM TABLE", "GLOBAL TEMPORARY", "EXTERNAL TABLE"];

    /// The word that ODBC, JDBC and ADBC have for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "TABLE",
            Self::View => "VIEW",
            Self::System => "SYSTEM TABLE",
            Self::GlobalTemporary { .. } => "GLOBAL TEMPORARY",
            Self::External => "EXTERNAL TABLE",
        }
    }
}

/// Databases restored from old backups have no `RDB$RELATION_TYPE`.
const TABLES: &str = "SELECT R.RDB$RELATION_NAME, R.RDB$SYSTEM_FLAG, R.RDB$RELATION_TYPE, \
     CASE WHEN R.RDB$VIEW_BLR IS NULL THEN 0 ELSE 1 END, \
     CASE WHEN R.RDB$EXTERNAL_FILE IS NULL THEN 0 ELSE 1 END, R.RDB$DESCRIPTION, \
     R.RDB$RELATION_ID FROM RDB$RELATIONS R";

impl View {
    /// Returns the tables and views with these names.
    pub(crate) async fn tables<B: Backend>(
        self,
        session: &mut Session<B>,
        name: Name<'_>,
    ) -> Result<Vec<Table>> {
        let question = Question::new(TABLES).and_name("R.RDB$RELATION_NAME", name);
        let question = self.without_system(question, "R").order_by("R.RDB$RELATION_NAME");
        self.ask(session, &question, |row| {
            Ok(Table { name: row.name(0)?, kind: kind(row), remarks: row.remark(5), id: row.number(6) })
        })
        .await
    }

    /// Whether this is a table, and neither a view nor a temporary or external one.
    pub(crate) async fn is_ordinary_table<B: Backend>(
        self,
        session: &mut Session<B>,
        name: &str,
    ) -> Result<bool> {
        let tables = self.tables(session, Name::Is(name)).await?;
        Ok(tables.iter().any(|found| found.kind == TableKind::Table))
    }

    /// Whether something happens when rows of these tables are inserted or deleted: one has triggers, or foreign keys that
    /// refer to it change or delete the rows that have them.
    pub(crate) async fn reacts_to_rows<B: Backend>(
        self,
        session: &mut Session<B>,
        table: Name<'_>,
    ) -> Result<bool> {
        let question = Question::new(REACTS)
            .and_name("R.RDB$RELATION_NAME", table)
            .and(&format!("({HAS_TRIGGERS} OR {IS_REFERRED_TO})"));
        Ok(!self.ask(session, &question, |_| Ok(())).await?.is_empty())
    }
}

/// Triggers of users (system triggers, of constraints, have other flags), and keys that act when a row goes.
const REACTS: &str = "SELECT 1 FROM RDB$RELATIONS R";
const HAS_TRIGGERS: &str = "EXISTS (SELECT 1 FROM RDB$TRIGGERS T \
     WHERE T.RDB$RELATION_NAME = R.RDB$RELATION_NAME AND COALESCE(T.RDB$SYSTEM_FLAG, 0) = 0)";
const IS_REFERRED_TO: &str = "EXISTS (SELECT 1 FROM RDB$REF_CONSTRAINTS F \
     JOIN RDB$RELATION_CONSTRAINTS U ON U.RDB$CONSTRAINT_NAME = F.RDB$CONST_NAME_UQ \
     WHERE U.RDB$RELATION_NAME = R.RDB$RELATION_NAME AND F.RDB$DELETE_RULE NOT IN ('RESTRICT', 'NO ACTION'))";

/// Types are the `rel_*` of `constants.h`.
fn kind(row: &Row<'_>) -> TableKind {
    match row.integer(2) {
        _ if row.is_set(1) => TableKind::System,
        _ if row.is_set(3) => TableKind::View,
        _ if row.is_set(4) => TableKind::External,
        Some(3) => TableKind::System,
        Some(4) => TableKind::GlobalTemporary { preserves_rows: true },
        Some(5) => TableKind::GlobalTemporary { preserves_rows: false },
        _ => TableKind::Table,
    }
}
