//! Executing: in the caller's transaction, or in one that begins and ends with the statement.

use super::Cursor;
use crate::api::{Api, Blocking, ready};
use crate::connection::Shared;
use crate::facts::Facts;
use crate::failure::Failure;
use crate::flow::{self, ALTERED_AGAIN, Given, How, Kept, Outcome};
use crate::params::{Sql, Value, single};
use crate::transaction::{self, Transaction};
use crate::{error, signal};
use firearrow::{Params, Statement, StatementKind};
use firearrow_driver::sql::is_dml;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
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
    let mut kept = take_previous(py, cursor)?;
    if let Some(kept) = py.detach(|| take_fresh(&mut kept, sql, &cursor.inner.shared.facts)) {
        return Ok((kept.statement, Some(kept.since)));
    }
    Ok((place.run(py, |given| given.get().recall(sql))?, None))
}

/// Ends the previous result, as PEP 249 wants it. Returns the statement that gave it.
fn take_previous(py: Python<'_>, cursor: &Cursor) -> PyResult<Option<Kept<Blocking>>> {
    let shared = &cursor.inner.shared;
    shared.facts.check_process(py)?;
    let (rows, kept) = {
        let mut state = cursor.inner.state(py)?;
        (state.rows.take(), state.kept.take())
    };
    match rows {
        Some(rows) if !rows.is_done() => signal::wait_briefly(py, || rows.close())?,
        // Nothing of it is left on the server, and the statement stays.
        Some(rows) if kept.is_some() => drop(rows),
        rows => py.detach(|| drop(rows)),
    }
    Ok(kept)
}

/// Takes the previous statement if it has this SQL and is fresh; drops it otherwise, which may take a while.
fn take_fresh(kept: &mut Option<Kept<Blocking>>, sql: &str, facts: &Facts) -> Option<Kept<Blocking>> {
    kept.take().filter(|kept| kept.fits(sql, facts.definitions()) && !kept.statement.is_in_use())
}

/// Keeps a statement for the next execution.
pub(super) fn keep(
    py: Python<'_>,
    cursor: &Cursor,
    sql: &str,
    statement: Statement,
    since: Option<Instant>,
    is_plain: bool,
) {
    let facts = &cursor.inner.shared.facts;
    facts.note(statement.kind());
    // DDL is never the same again.
    let is_ddl = statement.kind() == StatementKind::Ddl;
    let kept = Kept::new(sql, statement, since, facts.definitions()).reusable_if(is_plain && !is_ddl);
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
    // Parallel readers stay attached to a statement, so it is not reused.
    let is_plain = how.parallel.is_none();
    // One wait instead of one for each step, if the values do not depend on the statement.
    let values = match parameters.is_none_or(can_be_read_again) {
        true => sql.early_values(py, parameters).ok().flatten(),
        false => None,
    };
    let (prepared, since, outcome) = match values {
        Some(values) => prepare_and_execute(py, cursor, place, sql, values, how)?,
        None => {
            let (prepared, since) = statement(py, cursor, place, &sql.text)?;
            let params = single(sql.values(py, parameters, prepared.parameters())?);
            let prepared = Blocking::with(prepared, how);
            let outcome = run(py, place, sql, &prepared, how.scrollable, params)?;
            (prepared, since, outcome)
        }
    };
    if let Some(outcome) = outcome {
        keep(py, cursor, &sql.text, prepared, since, is_plain);
        return Ok(outcome);
    }
    // Something that it uses was altered since it was prepared: once more, prepared anew.
    py.detach(|| drop(prepared));
    let prepared = Blocking::with(prepare(py, place, &sql.text)?, how);
    let params = single(sql.values(py, parameters, prepared.parameters())?);
    let outcome = run(py, place, sql, &prepared, how.scrollable, params)?;
    let outcome = outcome.ok_or_else(|| error::programming(py, ALTERED_AGAIN))?;
    keep(py, cursor, &sql.text, prepared, None, is_plain);
    Ok(outcome)
}

/// Whether its values can be read twice, without running foreign code.
fn can_be_read_again(given: &Bound<'_, PyAny>) -> bool {
    given.is_none()
        || given.is_exact_instance_of::<PyTuple>()
        || given.is_exact_instance_of::<PyList>()
        || given.is_exact_instance_of::<PyDict>()
}

/// Finds the statement and executes it. Returns it, when the previous execution prepared it, and what it gave; `None` if it must
/// be prepared again.
fn prepare_and_execute(
    py: Python<'_>,
    cursor: &Cursor,
    place: &Place,
    sql: &Sql,
    values: Vec<Value>,
    how: &How,
) -> PyResult<(Statement, Option<Instant>, Option<Outcome<Blocking>>)> {
    let facts = &cursor.inner.shared.facts;
    let mut kept = take_previous(py, cursor)?;
    let mut failed = None;
    let done = place.run(py, |given| {
        let (prepared, since) = match take_fresh(&mut kept, &sql.text, facts) {
            Some(kept) => (kept.statement, Some(kept.since)),
            None => (given.get().recall(&sql.text)?, None),
        };
        let executed = sql.settle(values, prepared.parameters()).and_then(|values| {
            let prepared = Blocking::with(prepared, how);
            let (is_dml, scrollable) = (is_dml(&sql.text), how.scrollable);
            let outcome = ready(flow::run(given, &prepared, is_dml, scrollable, single(values)))?;
            Ok((prepared, since, outcome))
        });
        match executed {
            Ok(executed) => Ok(Some(executed)),
            Err(Failure::Client(error)) => Err(error),
            Err(other) => {
                failed = Some(other);
                Ok(None)
            }
        }
    });
    if let Some(kept) = kept {
        // It did not come to that.
        py.detach(|| drop(kept));
    }
    match (done?, failed) {
        (Some(executed), _) => Ok(executed),
        (None, Some(failed)) => Err(failed.into_exception(py)),
        (None, None) => Err(Failure::Internal("nothing was executed").into_exception(py)),
    }
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
