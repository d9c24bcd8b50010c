//! Executing: in the caller's transaction, or in one that begins and ends with the statement.

use super::Cursor;
use crate::api::{Api, Blocking, ready};
use crate::connection::Shared;
use crate::failure::Failure;
use crate::flow::{self, Given, How, Kept, Outcome};
use crate::params::{Sql, single};
use crate::transaction::{self, Transaction};
use crate::{error, signal};
use firearrow::{Params, Statement};
use firearrow_driver::sql::is_dml;
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Instant;

/// Where a statement is executed.
pub(super) struct Place {
    shared: Arc<Shared>,
    /// `None` = in a transaction of its own.
    transaction: Option<Arc<transaction::Inner>>,
}

impl Place {
    pub(super) fn new(shared: &Arc<Shared>, transaction: Option<&Transaction>) -> Self {
        Self { shared: Arc::clone(shared), transaction: transaction.map(|given| Arc::clone(&given.inner)) }
    }

    /// Runs `work` in the transaction, or with one that it has to end.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(Given<'_, Blocking>) -> firearrow::Result<T> + Send,
    ) -> PyResult<T> {
        match &self.transaction {
            Some(inner) => inner.run(py, |running| work(Given::Callers(running))),
            None => self.shared.run(py, |connection| {
                let own = connection.begin_lazy(self.shared.facts.single())?;
                work(Given::Own(own))
            }),
        }
    }

    /// Runs `work` in the caller's transaction, without which there is an error.
    pub(super) fn run_in<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut firearrow::Transaction) -> firearrow::Result<T> + Send,
    ) -> PyResult<T> {
        match &self.transaction {
            Some(inner) => inner.run(py, work),
            None => Err(error::programming(py, "many rows need a transaction")),
        }
    }
}

/// Prepares a statement anew.
fn prepare(py: Python<'_>, place: &Place, sql: &str) -> PyResult<Statement> {
    place.run(py, |given| given.get().prepare(sql))
}

/// Returns the statement for this SQL: the previous one, if it has the same SQL and is fresh, or one that is sent with its
/// execution if the connection knows it; and when the previous one was prepared.
pub(super) fn statement(
    py: Python<'_>,
    cursor: &Cursor,
    place: &Place,
    sql: &str,
) -> PyResult<(Statement, Option<Instant>)> {
    cursor.inner.shared.facts.check_process(py)?;
    let (rows, kept) = {
        let mut state = cursor.inner.state(py)?;
        (state.rows.take(), state.kept.take())
    };
    // The previous result ends here, as PEP 249 wants it.
    if let Some(rows) = rows {
        signal::wait(py, || rows.close())?;
    }
    if let Some(kept) = kept {
        if kept.fits(sql, cursor.inner.shared.facts.definitions()) && !kept.statement.is_in_use() {
            return Ok((kept.statement, Some(kept.since)));
        }
        py.detach(|| drop(kept));
    }
    Ok((place.run(py, |given| given.get().recall(sql))?, None))
}

/// Keeps a statement for the next execution.
pub(super) fn keep(py: Python<'_>, cursor: &Cursor, sql: &str, statement: Statement, since: Option<Instant>) {
    let facts = &cursor.inner.shared.facts;
    facts.note(statement.kind());
    let kept = Kept::new(sql, statement, since, facts.definitions());
    // Otherwise the next execution prepares again.
    if let Some(mut state) = cursor.inner.state.lock(py) {
        state.kept = Some(kept);
    }
}

/// Executes a statement with one row of parameters.
pub(super) fn execute(
    py: Python<'_>,
    cursor: &Cursor,
    place: &Place,
    sql: &Sql,
    parameters: Option<&Bound<'_, PyAny>>,
    how: &How,
) -> PyResult<Outcome<Blocking>> {
    let (prepared, since) = statement(py, cursor, place, &sql.text)?;
    let params = single(sql.values(py, parameters, prepared.parameters())?);
    let prepared = Blocking::with(prepared, how);
    if let Some(outcome) = run(py, place, sql, &prepared, how.scrollable, params)? {
        keep(py, cursor, &sql.text, prepared, since);
        return Ok(outcome);
    }
    // Something that it uses was altered since it was prepared: once more, prepared anew.
    py.detach(|| drop(prepared));
    let prepared = Blocking::with(prepare(py, place, &sql.text)?, how);
    let params = single(sql.values(py, parameters, prepared.parameters())?);
    let outcome = run(py, place, sql, &prepared, how.scrollable, params)?;
    let outcome =
        outcome.ok_or_else(|| error::programming(py, "what the statement uses was altered again"))?;
    keep(py, cursor, &sql.text, prepared, None);
    Ok(outcome)
}

/// Executes a statement; `None` if it must be prepared again.
fn run(
    py: Python<'_>,
    place: &Place,
    sql: &Sql,
    statement: &Statement,
    scrollable: bool,
    params: Params,
) -> PyResult<Option<Outcome<Blocking>>> {
    let mut failed = None;
    let outcome = place.run(py, |given| {
        match ready(flow::run(given, statement, is_dml(&sql.text), scrollable, params)) {
            Ok(outcome) => Ok(outcome),
            Err(Failure::Client(error)) => Err(error),
            Err(other) => {
                failed = Some(other);
                Ok(None)
            }
        }
    })?;
    match failed {
        Some(failed) => Err(failed.into_exception(py)),
        None => Ok(outcome),
    }
}
