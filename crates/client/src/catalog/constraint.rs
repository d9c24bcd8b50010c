//! Constraints of tables.

use super::question::{Question, Row};
use super::{Name, View};
use crate::backend::Backend;
use crate::error::Result;
use crate::session::Session;
use std::collections::HashMap;

/// A constraint. NOT NULL is a property of columns, not one of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// Its table.
    pub table: String,
    /// Its name; `INTEG_` and a number if none was given.
    pub name: String,
    /// Its kind.
    pub kind: ConstraintKind,
    /// The columns of a key in its order, or those that a CHECK looks at, in the order of the table.
    pub columns: Vec<String>,
    /// The index that enforces a key.
    pub index: Option<String>,
    /// What a FOREIGN KEY refers to.
    pub references: Option<Reference>,
    /// The source of a CHECK, including that word.
    pub check: Option<String>,
}

/// The kind of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of SQL")]
pub enum ConstraintKind {
    PrimaryKey,
    Unique,
    ForeignKey,
    Check,
}

/// The key that a FOREIGN KEY refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The PRIMARY KEY or UNIQUE constraint.
    pub constraint: String,
    /// Its table.
    pub table: String,
    /// Its columns, in the order of those that refer to them.
    pub columns: Vec<String>,
    /// `RESTRICT` (none was given), `NO ACTION`, `CASCADE`, `SET NULL` or `SET DEFAULT`.
    pub on_update: String,
    /// The same for deletes.
    pub on_delete: String,
}

impl ConstraintKind {
    /// The words of SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::PrimaryKey => "PRIMARY KEY",
            Self::Unique => "UNIQUE",
            Self::ForeignKey => "FOREIGN KEY",
            Self::Check => "CHECK",
        }
    }

    fn of(name: &str) -> Option<Self> {
        let all = [Self::PrimaryKey, Self::Unique, Self::ForeignKey, Self::Check];
        all.into_iter().find(|kind| kind.name() == name)
    }
}

/// One row for each column.
const CONSTRAINTS: &str = "SELECT C.RDB$RELATION_NAME, C.RDB$CONSTRAINT_NAME, C.RDB$CONSTRAINT_TYPE, C.RDB$INDEX_NAME, \
     S.RDB$FIELD_NAME, U.RDB$CONSTRAINT_NAME, U.RDB$RELATION_NAME, T.RDB$FIELD_NAME, F.RDB$UPDATE_RULE, \
     F.RDB$DELETE_RULE FROM RDB$RELATION_CONSTRAINTS C \
     JOIN RDB$RELATIONS R ON R.RDB$RELATION_NAME = C.RDB$RELATION_NAME \
     LEFT JOIN RDB$INDEX_SEGMENTS S ON S.RDB$INDEX_NAME = C.RDB$INDEX_NAME \
     LEFT JOIN RDB$REF_CONSTRAINTS F ON F.RDB$CONSTRAINT_NAME = C.RDB$CONSTRAINT_NAME \
     LEFT JOIN RDB$RELATION_CONSTRAINTS U ON U.RDB$CONSTRAINT_NAME = F.RDB$CONST_NAME_UQ \
     LEFT JOIN RDB$INDEX_SEGMENTS T ON T.RDB$INDEX_NAME = U.RDB$INDEX_NAME \
     AND T.RDB$FIELD_POSITION = S.RDB$FIELD_POSITION";

/// A CHECK is a trigger before INSERT (type 1) and one before UPDATE with the same source. What it depends on (type 2: a
/// trigger) are its columns. Those of NOT NULL name a column where others name a trigger.
const CHECKS: &str = "SELECT C.RDB$CONSTRAINT_NAME, D.RDB$FIELD_NAME, G.RDB$TRIGGER_SOURCE \
     FROM RDB$RELATION_CONSTRAINTS C \
     JOIN RDB$RELATIONS R ON R.RDB$RELATION_NAME = C.RDB$RELATION_NAME \
     JOIN RDB$CHECK_CONSTRAINTS K ON K.RDB$CONSTRAINT_NAME = C.RDB$CONSTRAINT_NAME \
     JOIN RDB$TRIGGERS G ON G.RDB$TRIGGER_NAME = K.RDB$TRIGGER_NAME AND G.RDB$TRIGGER_TYPE = 1 \
     LEFT JOIN RDB$DEPENDENCIES D ON D.RDB$DEPENDENT_NAME = G.RDB$TRIGGER_NAME AND D.RDB$DEPENDENT_TYPE = 2 \
     AND D.RDB$DEPENDED_ON_NAME = C.RDB$RELATION_NAME \
     LEFT JOIN RDB$RELATION_FIELDS P ON P.RDB$RELATION_NAME = C.RDB$RELATION_NAME \
     AND P.RDB$FIELD_NAME = D.RDB$FIELD_NAME";

/// Columns and source by the name of the CHECK.
type Checks = HashMap<String, (Vec<String>, Option<String>)>;

impl View {
    /// Returns the constraints of these tables, by name within each table.
    pub(crate) async fn constraints<B: Backend>(
        self,
        session: &mut Session<B>,
        table: Name<'_>,
    ) -> Result<Vec<Constraint>> {
        let question = Question::new(CONSTRAINTS)
            .and_name("C.RDB$RELATION_NAME", table)
            .and("C.RDB$CONSTRAINT_TYPE <> 'NOT NULL'");
        let question = self
            .without_system(question, "R")
            .order_by("C.RDB$RELATION_NAME, C.RDB$CONSTRAINT_NAME, S.RDB$FIELD_POSITION");
        let mut constraints = Vec::<Constraint>::new();
        let rows = self
            .ask(session, &question, |row| {
                let Some(kind) = row.text(2).and_then(ConstraintKind::of) else { return Ok(None) };
                let columns = [row.text(4), row.text(7)].map(|name| name.map(str::to_owned));
                Ok(Some((constraint(row, kind)?, columns)))
            })
            .await?;
        for (constraint, [column, referenced]) in rows.into_iter().flatten() {
            let known = constraints.last().is_some_and(|last| last.name == constraint.name);
            if !known {
                constraints.push(constraint);
            }
            let Some(last) = constraints.last_mut() else { continue };
            last.columns.extend(column);
            if let Some(references) = &mut last.references {
                references.columns.extend(referenced);
            }
        }
        if constraints.iter().any(|constraint| constraint.kind == ConstraintKind::Check) {
            let mut checks = self.checks(session, table).await?;
            for constraint in &mut constraints {
                if let Some((columns, source)) = checks.remove(&constraint.name) {
                    constraint.columns = columns;
                    constraint.check = source;
                }
            }
        }
        Ok(constraints)
    }

    async fn checks<B: Backend>(self, session: &mut Session<B>, table: Name<'_>) -> Result<Checks> {
        let question = Question::new(CHECKS)
            .and_name("C.RDB$RELATION_NAME", table)
            .and("C.RDB$CONSTRAINT_TYPE = 'CHECK'");
        let question = self
            .without_system(question, "R")
            .order_by("C.RDB$CONSTRAINT_NAME, P.RDB$FIELD_POSITION, D.RDB$FIELD_NAME");
        let mut checks = Checks::new();
        let rows = self
            .ask(session, &question, |row| Ok((row.name(0)?, row.text(1).map(str::to_owned), row.remark(2))))
            .await?;
        for (name, column, source) in rows {
            let check = checks.entry(name).or_insert_with(|| (Vec::new(), source));
            // A column is noted once for each time it is used.
            check.0.extend(column.filter(|column| !check.0.contains(column)));
        }
        Ok(checks)
    }
}

/// Without its columns.
fn constraint(row: &Row<'_>, kind: ConstraintKind) -> Result<Constraint> {
    let text = |column| row.text(column).unwrap_or_default().to_owned();
    let references = row.text(5).map(|constraint| Reference {
        constraint: constraint.to_owned(),
        table: text(6),
        columns: Vec::new(),
        on_update: text(8),
        on_delete: text(9),
    });
    Ok(Constraint {
        table: row.name(0)?,
        name: row.name(1)?,
        kind,
        columns: Vec::new(),
        index: row.text(3).map(str::to_owned),
        references,
        check: None,
    })
}
