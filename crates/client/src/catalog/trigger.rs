//! Triggers.

use super::question::{Question, Row};
use super::routine::Language;
use super::{Name, View};
use crate::backend::Backend;
use crate::error::Result;
use crate::session::Session;
use std::fmt;

/// A trigger.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trigger {
    /// Its name.
    pub name: String,
    /// Its table or view. Triggers of the database and of DDL statements have none.
    pub table: Option<String>,
    /// Whether it runs before or after the event. Triggers of the database run at it.
    pub phase: Option<Phase>,
    /// Its event.
    pub event: TriggerEvent,
    /// `POSITION`: of several triggers for one event, lower ones run first.
    pub position: i16,
    /// Whether it runs.
    pub active: bool,
    /// Its language.
    pub language: Language,
    /// Its source, beginning with `AS`.
    pub source: Option<String>,
    /// `COMMENT ON TRIGGER`.
    pub remarks: Option<String>,
}

/// When a trigger runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of SQL")]
pub enum Phase {
    Before,
    After,
}

/// The event of a trigger. Its text is that of `CREATE TRIGGER`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TriggerEvent {
    /// Changes of rows, as they were listed.
    Rows(Vec<RowEvent>),
    /// An event of the database.
    Database(DatabaseEvent),
    /// These DDL statements, such as `CREATE TABLE`.
    Statements(Vec<&'static str>),
    /// Any DDL statement.
    AnyStatement,
    /// A value of `RDB$TRIGGER_TYPE` that this crate does not know.
    Other(i64),
}

/// A change of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of SQL")]
pub enum RowEvent {
    Insert,
    Update,
    Delete,
}

/// An event of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of SQL")]
pub enum DatabaseEvent {
    Connect,
    Disconnect,
    TransactionStart,
    TransactionCommit,
    TransactionRollback,
}

impl RowEvent {
    /// The word of SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

impl DatabaseEvent {
    /// The words of SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connect => "CONNECT",
            Self::Disconnect => "DISCONNECT",
            Self::TransactionStart => "TRANSACTION START",
            Self::TransactionCommit => "TRANSACTION COMMIT",
            Self::TransactionRollback => "TRANSACTION ROLLBACK",
        }
    }
}

impl fmt::Display for TriggerEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows(events) => {
                let names: Vec<_> = events.iter().map(|event| event.name()).collect();
                f.write_str(&names.join(" OR "))
            }
            Self::Database(event) => f.write_str(event.name()),
            Self::Statements(names) => f.write_str(&names.join(" OR ")),
            Self::AnyStatement => f.write_str("ANY DDL STATEMENT"),
            Self::Other(number) => write!(f, "{number}"),
        }
    }
}

const TRIGGERS: &str = "SELECT T.RDB$TRIGGER_NAME, T.RDB$RELATION_NAME, T.RDB$TRIGGER_TYPE, T.RDB$TRIGGER_SEQUENCE, \
     T.RDB$TRIGGER_INACTIVE, T.RDB$ENGINE_NAME, T.RDB$ENTRYPOINT, T.RDB$TRIGGER_SOURCE, T.RDB$DESCRIPTION \
     FROM RDB$TRIGGERS T";

impl View {
    /// Returns the triggers with these names. Unless `table` is [`Name::Any`], only those on such tables and views.
    pub(crate) async fn triggers<B: Backend>(
        self,
        session: &mut Session<B>,
        table: Name<'_>,
        trigger: Name<'_>,
    ) -> Result<Vec<Trigger>> {
        let question = Question::new(TRIGGERS)
            .and_name("T.RDB$RELATION_NAME", table)
            .and_name("T.RDB$TRIGGER_NAME", trigger);
        let question = self.without_system(question, "T").order_by("T.RDB$TRIGGER_NAME");
        self.ask(session, &question, self::trigger).await
    }
}

fn trigger(row: &Row<'_>) -> Result<Trigger> {
    let (phase, event) = decode(row.number(2));
    Ok(Trigger {
        name: row.name(0)?,
        table: row.owned(1),
        phase,
        event,
        position: row.number(3),
        active: !row.is_set(4),
        language: Language::of(row.owned(5), None, row.remark(6)),
        source: row.remark(7),
        remarks: row.remark(8),
    })
}

/// `TRIGGER_TYPE_MASK` of `jrd/constants.h`: what kind of number the rest is.
const MASK: i64 = 3 << 13;
const ROWS: i64 = 0;
const DATABASE: i64 = 1 << 13;
const STATEMENTS: i64 = 2 << 13;
/// All bits but the kind and the phase: `DDL_TRIGGER_ANY`.
const ANY: i64 = i64::MAX & !MASK & !1;

/// `RDB$TRIGGER_TYPE`, as `SHOW_trigger_action` of `isql/show.epp` reads it.
fn decode(number: i64) -> (Option<Phase>, TriggerEvent) {
    let phase = |is_after: bool| Some(if is_after { Phase::After } else { Phase::Before });
    let other = (None, TriggerEvent::Other(number));
    match number & MASK {
        // Three pairs of bits at most.
        ROWS if (1..=126).contains(&number) => {
            // Counted from one, so that the lowest bit is the phase.
            let bits = number + 1;
            let event = |shift: u32| match (bits >> shift) & 3 {
                1 => Some(RowEvent::Insert),
                2 => Some(RowEvent::Update),
                3 => Some(RowEvent::Delete),
                _ => None,
            };
            let events: Vec<_> = [1, 3, 5].into_iter().filter_map(event).collect();
            (phase(bits & 1 != 0), TriggerEvent::Rows(events))
        }
        DATABASE => {
            use DatabaseEvent::*;
            let all = [Connect, Disconnect, TransactionStart, TransactionCommit, TransactionRollback];
            let event = usize::try_from(number & !MASK).ok().and_then(|index| all.get(index).copied());
            event.map_or(other, |event| (None, TriggerEvent::Database(event)))
        }
        STATEMENTS if number & ANY == ANY => (phase(number & 1 != 0), TriggerEvent::AnyStatement),
        STATEMENTS => {
            let bits = number & ANY;
            let names: Vec<_> = STATEMENT_NAMES
                .iter()
                .filter(|(bit, _)| bits >> bit & 1 != 0)
                .map(|(_, name)| *name)
                .collect();
            let all_known = names.len() == bits.count_ones() as usize && bits > 0;
            if all_known { (phase(number & 1 != 0), TriggerEvent::Statements(names)) } else { other }
        }
        _ => other,
    }
}

/// `DDL_TRIGGER_…` of `jrd/constants.h`.
const STATEMENT_NAMES: [(u32, &str); 44] = [
    (1, "CREATE TABLE"),
    (2, "ALTER TABLE"),
    (3, "DROP TABLE"),
    (4, "CREATE PROCEDURE"),
    (5, "ALTER PROCEDURE"),
    (6, "DROP PROCEDURE"),
    (7, "CREATE FUNCTION"),
    (8, "ALTER FUNCTION"),
    (9, "DROP FUNCTION"),
    (10, "CREATE TRIGGER"),
    (11, "ALTER TRIGGER"),
    (12, "DROP TRIGGER"),
    (16, "CREATE EXCEPTION"),
    (17, "ALTER EXCEPTION"),
    (18, "DROP EXCEPTION"),
    (19, "CREATE VIEW"),
    (20, "ALTER VIEW"),
    (21, "DROP VIEW"),
    (22, "CREATE DOMAIN"),
    (23, "ALTER DOMAIN"),
    (24, "DROP DOMAIN"),
    (25, "CREATE ROLE"),
    (26, "ALTER ROLE"),
    (27, "DROP ROLE"),
    (28, "CREATE INDEX"),
    (29, "ALTER INDEX"),
    (30, "DROP INDEX"),
    (31, "CREATE SEQUENCE"),
    (32, "ALTER SEQUENCE"),
    (33, "DROP SEQUENCE"),
    (34, "CREATE USER"),
    (35, "ALTER USER"),
    (36, "DROP USER"),
    (37, "CREATE COLLATION"),
    (38, "DROP COLLATION"),
    (39, "ALTER CHARACTER SET"),
    (40, "CREATE PACKAGE"),
    (41, "ALTER PACKAGE"),
    (42, "DROP PACKAGE"),
    (43, "CREATE PACKAGE BODY"),
    (44, "DROP PACKAGE BODY"),
    (45, "CREATE MAPPING"),
    (46, "ALTER MAPPING"),
    (47, "DROP MAPPING"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_numbers() {
        use Phase::{After, Before};
        for (number, phase, text) in [
            (1, Some(Before), "INSERT"),
            (2, Some(After), "INSERT"),
            (3, Some(Before), "UPDATE"),
            (6, Some(After), "DELETE"),
            (17, Some(Before), "INSERT OR UPDATE"),
            (27, Some(Before), "UPDATE OR DELETE"),
            (113, Some(Before), "INSERT OR UPDATE OR DELETE"),
            (114, Some(After), "INSERT OR UPDATE OR DELETE"),
            (8192, None, "CONNECT"),
            (8196, None, "TRANSACTION ROLLBACK"),
            (16386, Some(Before), "CREATE TABLE"),
            (16385 + 8 + (1 << 47), Some(After), "DROP TABLE OR DROP MAPPING"),
            (STATEMENTS | ANY, Some(Before), "ANY DDL STATEMENT"),
            (STATEMENTS | ANY | 1, Some(After), "ANY DDL STATEMENT"),
        ] {
            let (found, event) = decode(number);
            assert_eq!((found, event.to_string().as_str()), (phase, text), "{number}");
        }
        for number in [0, -1, i64::MIN, 127, 8191, 8197, 16384, 16384 | 1 << 48, 24576] {
            assert_eq!(decode(number), (None, TriggerEvent::Other(number)));
        }
    }
}
