//! One statement for many rows of parameters.

use super::{Opened, Outcome, Source, counted};
use crate::api::Api;
use crate::params::{Many, Sql};
use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use firearrow::{Descriptor, OnFailure, RowFailure, RowsExecuted};
use pyo3::prelude::*;
use std::collections::VecDeque;

/// Rows of parameters that are collected before they are sent.
const ROWS: usize = 10_000;

/// Rows of parameters on their way from Python.
pub(crate) struct Collected {
    many: Many,
    /// Rows so far.
    number: usize,
}

impl Collected {
    pub(crate) fn new(parameters: usize) -> Self {
        Self { many: Many::new(parameters), number: 0 }
    }

    /// Adds a row. Returns those before it if they have to be sent first.
    pub(crate) fn push(
        &mut self,
        py: Python<'_>,
        row: &Bound<'_, PyAny>,
        sql: &Sql,
        descriptors: &[Descriptor],
    ) -> PyResult<Option<RecordBatch>> {
        let values = sql.values(py, Some(row), descriptors);
        let values = values.map_err(|failed| of_row(py, failed, self.number))?;
        let is_full = self.many.rows() == ROWS || !self.many.fits(&values);
        let full = is_full.then(|| self.many.take());
        self.many.push(values);
        self.number += 1;
        Ok(full)
    }

    /// The rows that are left.
    pub(crate) fn take(&mut self) -> Option<RecordBatch> {
        (self.many.rows() > 0).then(|| self.many.take())
    }
}

/// Says which row it is about.
fn of_row(py: Python<'_>, failed: PyErr, number: usize) -> PyErr {
    match failed.value(py).setattr("row", number) {
        Ok(()) => failed,
        Err(other) => other,
    }
}

/// Sends batches of parameters, and collects what became of them.
pub(crate) struct Sender {
    pub(crate) on_failure: OnFailure,
    affected: Option<u64>,
    failures: Vec<RowFailure>,
    /// Rows that the executions returned.
    batches: VecDeque<RecordBatch>,
    /// Rows of parameters in earlier batches.
    sent: usize,
    is_dml: bool,
}

impl Sender {
    /// With `go_on`, rows after one that failed are executed, too.
    pub(crate) fn new(go_on: bool, is_dml: bool) -> Self {
        let on_failure = if go_on { OnFailure::Continue } else { OnFailure::Stop };
        Self { on_failure, affected: None, failures: Vec::new(), batches: VecDeque::new(), sent: 0, is_dml }
    }

    pub(crate) fn should_stop(&self) -> bool {
        self.on_failure == OnFailure::Stop && !self.failures.is_empty()
    }

    pub(crate) async fn send<A: Api>(
        &mut self,
        running: &mut A::Transaction,
        statement: &A::Statement,
        batch: &RecordBatch,
    ) -> firearrow::Result<()> {
        let done = match A::has_rows(statement) {
            true => {
                let mut batches = VecDeque::new();
                let done = A::query_rows(statement, running, batch, self.on_failure, &mut batches).await?;
                if self.is_dml && !A::has_cursor(statement) {
                    without_phantoms(&mut batches, &done.affected_by_row)?;
                }
                self.batches.append(&mut batches);
                done
            }
            false => A::execute_rows(statement, running, batch, self.on_failure).await?,
        };
        self.note(done);
        self.sent += batch.num_rows();
        Ok(())
    }

    pub(crate) fn note(&mut self, done: RowsExecuted) {
        self.affected = match (self.affected, done.affected_rows) {
            (Some(before), Some(now)) => Some(before + now),
            (before, now) => before.or(now),
        };
        let sent = self.sent;
        let failures = done.failures.into_iter();
        self.failures.extend(failures.map(|RowFailure { row, error }| RowFailure { row: row + sent, error }));
    }

    pub(crate) fn finish<A: Api>(self, statement: &A::Statement) -> Outcome<A> {
        let opened = || Opened::new(statement.clone(), Source::Batches(self.batches));
        Outcome {
            rows: A::has_rows(statement).then(opened),
            affected: counted(self.is_dml, self.affected),
            failures: self.failures,
            stats: A::statement_stats(statement),
        }
    }
}

/// Before Firebird 5, an UPDATE or DELETE that finds no row returns one of NULLs. Drops those.
fn without_phantoms(batches: &mut VecDeque<RecordBatch>, affected: &[Option<u64>]) -> firearrow::Result<()> {
    // Each execution that did not fail has returned one row.
    let found: Vec<bool> = affected.iter().flatten().map(|rows| *rows > 0).collect();
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    if rows != found.len() || found.iter().all(|found| *found) {
        return Ok(());
    }
    let mut first = 0;
    for batch in batches {
        let end = first + batch.num_rows();
        *batch = filter_record_batch(batch, &BooleanArray::from(found[first..end].to_vec()))?;
        first = end;
    }
    Ok(())
}
