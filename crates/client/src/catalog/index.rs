//! Indexes of tables.

use super::question::{Question, Row};
use super::{Name, View};
use crate::backend::Backend;
use crate::error::Result;
use crate::session::Session;

/// An index.
#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    /// Its table.
    pub table: String,
    /// Its name.
    pub name: String,
    /// Whether no two rows may have equal values.
    pub unique: bool,
    /// Whether it goes from the greatest value to the least.
    pub descending: bool,
    /// Whether the engine keeps it up to date.
    pub active: bool,
    /// The constraint that it enforces.
    pub constraint: Option<String>,
    /// Its columns; empty for an index by expression.
    pub segments: Vec<Segment>,
    /// The expression of an index by expression, with parentheses.
    pub expression: Option<String>,
    /// Which rows a partial index has (Firebird 5 and later), with the word WHERE.
    pub condition: Option<String>,
    /// [`Segment::selectivity`] of all segments together.
    pub selectivity: Option<f64>,
}

/// A column of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// The column.
    pub column: String,
    /// One by the number of different values of this segment together with those before it, as of the last
    /// `SET STATISTICS INDEX`, of the creation or of a restore. `None` if it was never computed, or there were no rows.
    pub selectivity: Option<f64>,
}

/// One row for each segment; the condition is put in place of `{condition}`.
const INDEXES: &str = "SELECT I.RDB$RELATION_NAME, I.RDB$INDEX_NAME, I.RDB$UNIQUE_FLAG, I.RDB$INDEX_TYPE, \
     I.RDB$INDEX_INACTIVE, C.RDB$CONSTRAINT_NAME, S.RDB$FIELD_NAME, S.RDB$STATISTICS, I.RDB$STATISTICS, \
     I.RDB$EXPRESSION_SOURCE, {condition} FROM RDB$INDICES I \
     JOIN RDB$RELATIONS R ON R.RDB$RELATION_NAME = I.RDB$RELATION_NAME \
     LEFT JOIN RDB$RELATION_CONSTRAINTS C ON C.RDB$INDEX_NAME = I.RDB$INDEX_NAME \
     LEFT JOIN RDB$INDEX_SEGMENTS S ON S.RDB$INDEX_NAME = I.RDB$INDEX_NAME";

impl View {
    /// Returns the indexes of these tables, by name within each table.
    pub(crate) async fn indexes<B: Backend>(
        self,
        session: &mut Session<B>,
        table: Name<'_>,
    ) -> Result<Vec<Index>> {
        let condition =
            if self.has_partial_indexes(session).await? { "I.RDB$CONDITION_SOURCE" } else { "NULL" };
        let question =
            Question::new(&INDEXES.replace("{condition}", condition)).and_name("I.RDB$RELATION_NAME", table);
        let question = self
            .without_system(question, "R")
            .order_by("I.RDB$RELATION_NAME, I.RDB$INDEX_NAME, S.RDB$FIELD_POSITION");
        let mut indexes = Vec::<Index>::new();
        for (index, segment) in self.ask(session, &question, |row| Ok((index(row)?, segment(row)))).await? {
            if indexes.last().is_none_or(|last| last.name != index.name) {
                indexes.push(index);
            }
            if let Some(last) = indexes.last_mut() {
                last.segments.extend(segment);
            }
        }
        Ok(indexes)
    }

    async fn has_partial_indexes<B: Backend>(self, session: &mut Session<B>) -> Result<bool> {
        let question = Question::new("SELECT C.RDB$FIELD_POSITION FROM RDB$RELATION_FIELDS C")
            .and_name("C.RDB$RELATION_NAME", Name::Is("RDB$INDICES"))
            .and_name("C.RDB$FIELD_NAME", Name::Is("RDB$CONDITION_SOURCE"));
        Ok(!self.ask(session, &question, |_| Ok(())).await?.is_empty())
    }
}

/// Without its segments.
fn index(row: &Row<'_>) -> Result<Index> {
    Ok(Index {
        table: row.name(0)?,
        name: row.name(1)?,
        unique: row.is_set(2),
        descending: row.is_set(3),
        active: !row.is_set(4),
        constraint: row.text(5).map(str::to_owned),
        segments: Vec::new(),
        expression: row.remark(9),
        condition: row.remark(10),
        selectivity: computed(row.float(8)),
    })
}

fn segment(row: &Row<'_>) -> Option<Segment> {
    let column = row.text(6)?.to_owned();
    Some(Segment { column, selectivity: computed(row.float(7)) })
}

/// The engine has 0 for what it never computed.
fn computed(selectivity: Option<f64>) -> Option<f64> {
    selectivity.filter(|&value| value > 0.0 && value <= 1.0)
}
