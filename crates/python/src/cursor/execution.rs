//! Executing: in the caller's transaction, or in one that begins and ends with the statement.

use super::Cursor;
use super::result::{Fetched, Source};
use crate::connection::{Shared, duration, lock};
use crate::params::{Sql, single};
use crate::transaction::{self, Transaction};
use crate::{error, options, signal};
use firearrow::{Params, ReadOptions, RowFailure, Statement, StatementKind, TransactionOptions, WireStats};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a statement that is executed again stays prepared. Not longer, because the engine applies new constraints and
/// triggers only to statements that are prepared after them.
const KEPT: Duration = Duration::from_secs(1);

/// A statement that may be executed again.
pub(super) struct Kept {
    sql: String,
    pub(super) statement: Statement,
    since: Instant,
}

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
        work: impl FnOnce(Given<'_>) -> firearrow::Result<T> + Send,
    ) -> PyResult<T> {
        match &self.transaction {
            Some(inner) => inner.run(py, |running| work(Given::Callers(running))),
            None => self.shared.run(py, |connection| {
                let own = connection.begin_lazy(TransactionOptions::default())?;
                work(Given::Own(own))
            }),
        }
    }

    /// Runs `work` in the transaction, which there is.
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

/// A transaction for one execution.
enum Given<'a> {
    Callers(&'a mut firearrow::Transaction),
    Own(firearrow::Transaction),
}

impl Given<'_> {
    fn get(&self) -> &firearrow::Transaction {
        match self {
            Self::Callers(running) => running,
            Self::Own(own) => own,
        }
    }
}

/// How a statement is executed.
pub(super) struct How {
    read: ReadOptions,
    timeout: Option<Duration>,
    parallel: Option<usize>,
}

impl How {
    pub(super) fn new(
        py: Python<'_>,
        shared: &Shared,
        timeout: Option<f64>,
        parallel: Option<usize>,
        read: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut options = options::for_rows(&shared.read);
        if let Some(read) = read {
            for (name, value) in read {
                let (name, value): (String, String) = (name.extract()?, value.str()?.extract()?);
                options.set(&name, &value).map_err(|failed| error::programming(py, failed.to_string()))?;
            }
        }
        Ok(Self { read: options, timeout: timeout.map(duration).transpose()?, parallel })
    }

    pub(super) fn apply(&self, statement: Statement) -> Statement {
        let statement = statement.with_read_options(self.read.clone()).with_timeout(self.timeout);
        match self.parallel {
            Some(readers) => statement.with_parallel(readers),
            None => statement,
        }
    }
}

/// What an execution gave.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) rows: Option<Fetched>,
    pub(super) affected: Option<u64>,
    pub(super) failures: Vec<RowFailure>,
    pub(super) stats: WireStats,
}

/// Prepares a statement now.
pub(super) fn prepare(py: Python<'_>, place: &Place, sql: &str) -> PyResult<Statement> {
    place.run(py, |given| given.get().prepare(sql))
}

/// The statement for this SQL: the one before, if it is the same and fresh, or one that is sent with its execution if the
/// connection knows it. Also when it became prepared.
pub(super) fn statement(
    py: Python<'_>,
    cursor: &Cursor,
    place: &Place,
    sql: &str,
) -> PyResult<(Statement, Option<Instant>)> {
    cursor.inner.shared.check_process(py)?;
    let (rows, kept) = {
        let mut state = lock(py, &cursor.inner.state);
        (state.rows.take(), state.kept.take())
    };
    // The result before it ends here, as PEP 249 has it.
    if let Some(rows) = rows {
        signal::wait(py, || rows.close())?;
    }
    if let Some(kept) = kept {
        if kept.sql == sql && kept.since.elapsed() < KEPT && !kept.statement.is_in_use() {
            return Ok((kept.statement, Some(kept.since)));
        }
        py.detach(|| drop(kept));
    }
    Ok((place.run(py, |given| given.get().recall(sql))?, None))
}

/// Keeps a statement for the next execution.
pub(super) fn keep(py: Python<'_>, cursor: &Cursor, sql: &str, statement: Statement, since: Option<Instant>) {
    let since = since.unwrap_or_else(Instant::now);
    lock(py, &cursor.inner.state).kept = Some(Kept { sql: sql.to_owned(), statement, since });
}

/// Executes a statement with one row of parameters.
pub(super) fn execute(
    py: Python<'_>,
    cursor: &Cursor,
    place: &Place,
    sql: &Sql,
    parameters: Option<&Bound<'_, PyAny>>,
    how: &How,
) -> PyResult<Outcome> {
    let (prepared, since) = statement(py, cursor, place, &sql.text)?;
    let params = single(sql.values(py, parameters, prepared.parameters())?);
    let prepared = how.apply(prepared);
    if let Some(outcome) = run(py, place, &prepared, params)? {
        keep(py, cursor, &sql.text, prepared, since);
        return Ok(outcome);
    }
    // What it uses was altered since the connection got to know it: once more, prepared anew.
    py.detach(|| drop(prepared));
    let prepared = how.apply(prepare(py, place, &sql.text)?);
    let params = single(sql.values(py, parameters, prepared.parameters())?);
    let outcome = run(py, place, &prepared, params)?;
    let outcome =
        outcome.ok_or_else(|| error::programming(py, "what the statement uses was altered again"))?;
    keep(py, cursor, &sql.text, prepared, None);
    Ok(outcome)
}

/// Executes a statement; `None` if it must be prepared again.
fn run(py: Python<'_>, place: &Place, statement: &Statement, params: Params) -> PyResult<Option<Outcome>> {
    use StatementKind::{Commit, Rollback, StartTransaction};
    if matches!(statement.kind(), Commit | Rollback | StartTransaction) {
        return Err(error::programming(
            py,
            "transactions begin with begin() and end with commit() or rollback() of the connection, not with SQL",
        ));
    }
    place.run(py, |given| {
        let before = statement.wire_stats();
        match once(given, statement, params) {
            Ok(outcome) => Ok(Some(Outcome { stats: statement.wire_stats().since(&before), ..outcome })),
            Err(failed) if statement.is_outdated_by(&failed) => Ok(None),
            Err(failed) => Err(failed),
        }
    })
}

fn once(given: Given<'_>, statement: &Statement, params: Params) -> firearrow::Result<Outcome> {
    if !statement.has_rows() {
        let executed = match given {
            Given::Callers(running) => statement.execute(running, params)?,
            Given::Own(own) => statement.execute_last(own, params)?,
        };
        return Ok(Outcome { affected: counted(statement, executed.affected_rows), ..Outcome::default() });
    }
    let mut cursor = statement.query(given.get(), params)?;
    if matches!(statement.kind(), StatementKind::Select | StatementKind::SelectForUpdate) {
        let cursor = match given {
            Given::Callers(_) => cursor,
            Given::Own(own) => cursor.owning(own),
        };
        let source = Source::Cursor(Box::new(cursor));
        let rows = Some(Fetched::new(statement, source));
        return Ok(Outcome { rows, ..Outcome::default() });
    }
    // What it does must not depend on how many of its rows are fetched.
    let mut batches = VecDeque::new();
    while let Some(batch) = cursor.next_batch()? {
        batches.push_back(batch);
    }
    let rows = batches.iter().map(|batch| batch.num_rows() as u64).sum();
    let affected = counted(statement, cursor.affected_rows().or(Some(rows)));
    drop(cursor);
    if let Given::Own(own) = given {
        own.commit()?;
    }
    let rows = Some(Fetched::new(statement, Source::Batches(batches)));
    Ok(Outcome { rows, affected, ..Outcome::default() })
}

/// The engine counts for procedures and blocks, too, but that is not what callers mean by affected rows.
pub(super) fn counted(statement: &Statement, rows: Option<u64>) -> Option<u64> {
    use StatementKind::{Delete, Insert, Update};
    rows.filter(|_| matches!(statement.kind(), Insert | Update | Delete))
}
