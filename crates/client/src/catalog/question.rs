//! Queries of the catalog tables and their rows.

use super::View;
use super::name::{Condition, Name};
use crate::answer;
use crate::arrow::{MaxBlob, ReadOptions};
use crate::backend::{Backend, End};
use crate::error::{Error, Kind, Result};
use crate::params::Params;
use crate::session::Session;
use crate::session::run::How;
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, Int16Type, Int32Type, Int64Type};
use firearrow_proto::wire::Limits;

/// SQL in the making. Its text depends on the kinds of names only, so that the connection knows it the next time.
pub(super) struct Question {
    sql: String,
    values: Vec<String>,
    is_impossible: bool,
}

impl Question {
    /// `select` goes up to its last join.
    pub(super) fn new(select: &str) -> Self {
        Self { sql: format!("{select} WHERE 1 = 1"), values: Vec::new(), is_impossible: false }
    }

    pub(super) fn and(mut self, condition: &str) -> Self {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
        self
    }

    pub(super) fn and_name(self, column: &str, name: Name<'_>) -> Self {
        match name.condition(column) {
            Condition::Always => self,
            Condition::Never => Self { is_impossible: true, ..self },
            Condition::Holds { sql, value } => {
                let mut question = self.and(&sql);
                question.values.push(value);
                question
            }
        }
    }

    /// Adds the rows of another query with as many columns.
    pub(super) fn union_all(mut self, other: Self) -> Self {
        self.sql.push_str(" UNION ALL ");
        self.sql.push_str(&other.sql);
        self.values.extend(other.values);
        self.is_impossible |= other.is_impossible;
        self
    }

    pub(super) fn order_by(mut self, columns: &str) -> Self {
        self.sql.push_str(" ORDER BY ");
        self.sql.push_str(columns);
        self
    }
}

impl View {
    /// Leaves out system objects unless they are requested; `owner` is the alias of the table that has their flag.
    pub(super) fn without_system(self, question: Question, owner: &str) -> Question {
        if self.with_system {
            return question;
        }
        question.and(&format!("COALESCE({owner}.RDB$SYSTEM_FLAG, 0) = 0"))
    }

    pub(super) async fn ask<B: Backend, T>(
        self,
        session: &mut Session<B>,
        question: &Question,
        read: fn(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut answers = Vec::new();
        if question.is_impossible {
            return Ok(answers);
        }
        // Whatever the connection's own switches are.
        let longest = MaxBlob::new(Limits::default().answer as u64);
        let read_options = ReadOptions { trim_char: true, max_blob: longest, ..ReadOptions::default() };
        let how = How { read: read_options, ..How::default() };
        let values = Params::texts(question.values.iter().map(|value| Some(value.as_str())));
        let sql = question.sql.as_str().into();
        let mut reading = session.query(sql, self.transaction, &values, &how).await?;
        let mut size = answer::Size::default();
        let asked = loop {
            let batch = match session.next(&mut reading).await {
                Ok(Some(batch)) => batch,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            let taken = size.add(&batch).and_then(|()| {
                (0..batch.num_rows()).try_for_each(|row| {
                    answers.push(read(&Row { batch: &batch, row })?);
                    Ok(())
                })
            });
            if taken.is_err() {
                break taken;
            }
        };
        let left = session.leave(&mut reading, End::Rollback).await;
        asked.and(left).map(|()| answers)
    }
}

/// One row of an answer.
pub(super) struct Row<'a> {
    batch: &'a RecordBatch,
    row: usize,
}

impl Row<'_> {
    /// Text without blanks at its end.
    pub(super) fn text(&self, column: usize) -> Option<&str> {
        let array = self.batch.columns().get(column)?.as_string_opt::<i32>()?;
        array.is_valid(self.row).then(|| array.value(self.row))
    }

    /// The contents of a BLOB.
    pub(super) fn bytes(&self, column: usize) -> Option<&[u8]> {
        let array = self.batch.columns().get(column)?.as_binary_opt::<i32>()?;
        array.is_valid(self.row).then(|| array.value(self.row))
    }

    /// A name that may be missing.
    pub(super) fn owned(&self, column: usize) -> Option<String> {
        self.text(column).map(str::to_owned)
    }

    /// A name that must be there.
    pub(super) fn name(&self, column: usize) -> Result<String> {
        let missing = || {
            let column = self.batch.schema_ref().fields().get(column).map_or("", |field| field.name());
            Error::new(Kind::Protocol, format!("a row of the catalog tables has no {column}"))
        };
        self.text(column).map(str::to_owned).ok_or_else(missing)
    }

    /// A remark: empty ones are none.
    pub(super) fn remark(&self, column: usize) -> Option<String> {
        self.text(column).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    pub(super) fn integer(&self, column: usize) -> Option<i64> {
        let array = self.batch.columns().get(column)?;
        if array.is_null(self.row) {
            return None;
        }
        Some(match array.data_type() {
            DataType::Int16 => array.as_primitive::<Int16Type>().value(self.row).into(),
            DataType::Int32 => array.as_primitive::<Int32Type>().value(self.row).into(),
            DataType::Int64 => array.as_primitive::<Int64Type>().value(self.row),
            _ => return None,
        })
    }

    /// A number, or 0 for none: the engine's flags and sizes.
    pub(super) fn number<T: TryFrom<i64> + Default>(&self, column: usize) -> T {
        self.integer(column).and_then(|value| T::try_from(value).ok()).unwrap_or_default()
    }

    pub(super) fn is_set(&self, column: usize) -> bool {
        self.integer(column).is_some_and(|value| value != 0)
    }

    pub(super) fn float(&self, column: usize) -> Option<f64> {
        let array = self.batch.columns().get(column)?.as_primitive_opt::<Float64Type>()?;
        array.is_valid(self.row).then(|| array.value(self.row))
    }
}
