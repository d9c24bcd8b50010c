//! One statement for many rows of parameters.

use super::Cursor;
use super::execution::{How, Outcome, Place, counted, keep, statement};
use super::result::{Fetched, Source};
use crate::params::{Many, Sql, is_mapping};
use crate::{capsule, error};
use arrow::array::{RecordBatch, RecordBatchReader};
use firearrow::{OnFailure, RowFailure, RowsExecuted, Statement};
use pyo3::prelude::*;
use std::collections::VecDeque;

/// Rows of parameters that are collected before they are sent.
const ROWS: usize = 10_000;

/// Executes a statement for each row of parameters. With `go_on`, also for those after one that failed.
pub(super) fn execute(
    py: Python<'_>,
    cursor: &Cursor,
    place: &Place,
    sql: &str,
    rows: &Bound<'_, PyAny>,
    go_on: bool,
    how: &How,
) -> PyResult<Outcome> {
    let mut sender = Sender {
        place,
        on_failure: if go_on { OnFailure::Continue } else { OnFailure::Stop },
        outcome: Outcome::default(),
        batches: VecDeque::new(),
        sent: 0,
    };
    if let Some(reader) = capsule::reader(rows)? {
        let sql = Sql::new(py, sql, false)?;
        let prepared = how.apply(statement(py, cursor, place, &sql.text)?.0);
        sender.send_all(py, &prepared, reader)?;
        return sender.finish(py, cursor, &sql.text, prepared);
    }
    let mut rows = rows.try_iter()?.peekable();
    let is_named = matches!(rows.peek(), Some(Ok(row)) if is_mapping(row));
    let sql = Sql::new(py, sql, is_named)?;
    let prepared = how.apply(statement(py, cursor, place, &sql.text)?.0);
    let mut many = Many::new(prepared.parameters().len());
    for (number, row) in rows.enumerate() {
        let values = sql.values(py, Some(&row?), prepared.parameters());
        let values = values.map_err(|failed| of_row(py, failed, number))?;
        if many.rows() == ROWS || !many.fits(&values) {
            sender.send(py, &prepared, many.take())?;
            if sender.should_stop() {
                break;
            }
        }
        many.push(values);
    }
    if many.rows() > 0 && !sender.should_stop() {
        sender.send(py, &prepared, many.take())?;
    }
    sender.finish(py, cursor, &sql.text, prepared)
}

/// Says which row it is about.
fn of_row(py: Python<'_>, failed: PyErr, number: usize) -> PyErr {
    match failed.value(py).setattr("row", number) {
        Ok(()) => failed,
        Err(other) => other,
    }
}

/// Sends batches of parameters, and collects what became of them.
struct Sender<'a> {
    place: &'a Place,
    on_failure: OnFailure,
    outcome: Outcome,
    /// Rows that the executions returned.
    batches: VecDeque<RecordBatch>,
    /// Rows of parameters in earlier batches.
    sent: usize,
}

impl Sender<'_> {
    fn should_stop(&self) -> bool {
        self.on_failure == OnFailure::Stop && !self.outcome.failures.is_empty()
    }

    fn send(&mut self, py: Python<'_>, statement: &Statement, batch: RecordBatch) -> PyResult<()> {
        let (on_failure, batches) = (self.on_failure, &mut self.batches);
        let done = self.place.run_in(py, |running| {
            if !statement.has_rows() {
                return statement.execute_rows(running, &batch, on_failure);
            }
            let mut cursor = statement.query_rows(running, &batch, on_failure)?;
            loop {
                match cursor.next_batch() {
                    Ok(Some(batch)) => batches.push_back(batch),
                    Ok(None) => break,
                    // The row that failed is in the report.
                    Err(_) if !cursor.executed().failures.is_empty() => break,
                    Err(failed) => return Err(failed),
                }
            }
            let executed = cursor.executed().clone();
            drop(cursor);
            Ok(executed)
        })?;
        let rows = batch.num_rows();
        self.note(done);
        self.sent += rows;
        Ok(())
    }

    /// All batches of a reader.
    fn send_all(
        &mut self,
        py: Python<'_>,
        statement: &Statement,
        reader: impl RecordBatchReader + Send,
    ) -> PyResult<()> {
        if statement.has_rows() {
            for batch in reader {
                self.send(py, statement, batch.map_err(|failed| error::of(py, failed))?)?;
                if self.should_stop() {
                    break;
                }
            }
            return Ok(());
        }
        let on_failure = self.on_failure;
        let done = self.place.run_in(py, |running| statement.execute_stream(running, reader, on_failure))?;
        self.note(done);
        Ok(())
    }

    fn note(&mut self, done: RowsExecuted) {
        let affected = &mut self.outcome.affected;
        *affected = match (*affected, done.affected_rows) {
            (Some(before), Some(now)) => Some(before + now),
            (before, now) => before.or(now),
        };
        let sent = self.sent;
        let failures = done.failures.into_iter();
        self.outcome
            .failures
            .extend(failures.map(|RowFailure { row, error }| RowFailure { row: row + sent, error }));
    }

    fn finish(
        mut self,
        py: Python<'_>,
        cursor: &Cursor,
        sql: &str,
        statement: Statement,
    ) -> PyResult<Outcome> {
        self.outcome.affected = counted(&statement, self.outcome.affected);
        if statement.has_rows() {
            let source = Source::Batches(self.batches);
            self.outcome.rows = Some(Fetched::new(&statement, source));
        }
        self.outcome.stats = statement.wire_stats();
        keep(py, cursor, sql, statement, None);
        Ok(self.outcome)
    }
}
