//! Executing statements, the same for both APIs of the client.

mod arrow_form;
mod buffer;
mod ingest;
mod json;
mod limit;
mod many;
mod result;
mod stream;

use crate::api::Api;
use crate::describe::Columns;
use crate::facts::Facts;
use crate::failure::Failure;
use crate::options::{Bounded, duration};
use crate::{error, options};
use arrow::array::RecordBatch;
use firearrow::{Params, ReadOptions, RowFailure, StatementKind, WireStats};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) use arrow_form::convert;
pub(crate) use buffer::{Buffer, FAILED};
pub(crate) use ingest::Ingestion;
pub(crate) use json::{Json, Shape};
pub(crate) use limit::Limit;
pub(crate) use many::{Collected, Sender};
pub(crate) use result::{Opened, Source};
pub(crate) use stream::Pour;

/// A first batch with no more rows than these is mostly the only one: the answer that there is no other is awaited with it.
pub(crate) const FEW: usize = 512;

/// How long a statement that is executed again stays prepared. Not longer, because the engine applies new constraints and
/// triggers only to statements that are prepared after them.
const KEPT: Duration = Duration::from_secs(1);

/// The error about a statement that was outdated twice.
pub(crate) const ALTERED_AGAIN: &str =
    "an object this statement uses was altered again while it was being prepared; execute it again";

/// A statement that may be executed again.
pub(crate) struct Kept<A: Api> {
    sql: String,
    pub(crate) statement: A::Statement,
    pub(crate) since: Instant,
    /// DDL that had been executed here by then.
    definitions: u64,
}

impl<A: Api> Kept<A> {
    /// `since` = when it became prepared; now without it.
    pub(crate) fn new(sql: &str, statement: A::Statement, since: Option<Instant>, definitions: u64) -> Self {
        Self { sql: sql.to_owned(), statement, since: since.unwrap_or_else(Instant::now), definitions }
    }

    /// Otherwise it is kept only for what Python asks of it, and not executed again.
    pub(crate) fn reusable_if(self, is_plain: bool) -> Self {
        Self { definitions: if is_plain { self.definitions } else { u64::MAX }, ..self }
    }

    /// Whether it can execute this SQL.
    pub(crate) fn fits(&self, sql: &str, definitions: u64) -> bool {
        self.sql == sql && self.definitions == definitions && self.since.elapsed() < KEPT
    }
}

/// A transaction for one execution.
pub(crate) enum Given<'a, A: Api> {
    Callers(&'a mut A::Transaction),
    /// The execution's own, which ends with it.
    Own(A::Transaction),
}

impl<A: Api> Given<'_, A> {
    pub(crate) fn get(&self) -> &A::Transaction {
        match self {
            Self::Callers(running) => running,
            Self::Own(own) => own,
        }
    }
}

/// How a statement is executed.
pub(crate) struct How {
    /// How rows are read, without loss for Python's objects.
    pub(crate) read: ReadOptions,
    /// How Arrow data is asked for, which these rows are converted to.
    pub(crate) arrow: Arc<ReadOptions>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) parallel: Option<usize>,
    /// Whether the rows of a query can be fetched in any order.
    pub(crate) scrollable: bool,
}

impl How {
    pub(crate) fn new(
        py: Python<'_>,
        facts: &Facts,
        timeout: Option<Bounded<f64>>,
        parallel: Option<Bounded<usize>>,
        read: Option<&Bound<'_, PyDict>>,
        scrollable: bool,
    ) -> PyResult<Self> {
        let mut arrow = Arc::clone(&facts.read);
        if let Some(read) = read {
            let options = Arc::make_mut(&mut arrow);
            for (name, value) in read {
                let (name, value): (String, String) = (name.extract()?, value.str()?.extract()?);
                options.set(&name, &value).map_err(|failed| error::programming(py, failed.to_string()))?;
            }
        }
        let timeout = timeout.map(|seconds| duration(py, seconds.0)).transpose()?;
        Ok(Self {
            read: options::for_rows(&arrow),
            arrow,
            timeout,
            parallel: parallel.map(|number| number.0),
            scrollable,
        })
    }
}

/// What an execution gave.
pub(crate) struct Outcome<A: Api> {
    pub(crate) rows: Option<Opened<A>>,
    pub(crate) affected: Option<u64>,
    pub(crate) failures: Vec<RowFailure>,
    pub(crate) stats: WireStats,
}

impl<A: Api> Outcome<A> {
    fn of(rows: Option<Opened<A>>, affected: Option<u64>) -> Self {
        Self { rows, affected, failures: Vec::new(), stats: WireStats::default() }
    }
}

/// What Python is told: columns (`None` without rows), affected rows (-1 if unknown), and failed rows.
pub(crate) type Told<'py> = (Option<Bound<'py, Columns>>, i64, Vec<(usize, Bound<'py, PyAny>)>);

/// Tells Python what an execution gave.
pub(crate) fn tell<'py>(
    py: Python<'py>,
    columns: Option<Columns>,
    affected: Option<u64>,
    failures: Vec<RowFailure>,
) -> PyResult<Told<'py>> {
    let columns = columns.map(|columns| Bound::new(py, columns)).transpose()?;
    let affected = affected.map_or(-1, |rows| i64::try_from(rows).unwrap_or(i64::MAX));
    let failures = failures
        .into_iter()
        .map(|failure| (failure.row, error::of(py, failure.error).into_value(py).into_bound(py).into_any()));
    Ok((columns, affected, failures.collect()))
}

/// Executes a statement; `None` if it must be prepared again.
pub(crate) async fn run<A: Api>(
    given: Given<'_, A>,
    statement: &A::Statement,
    is_dml: bool,
    scrollable: bool,
    params: Params,
) -> Result<Option<Outcome<A>>, Failure> {
    use StatementKind::{Commit, Rollback, StartTransaction};
    if matches!(A::kind(statement), Commit | Rollback | StartTransaction) {
        return Err(Failure::Programming(
            "use begin(), commit() and rollback() instead of SQL to control transactions",
        ));
    }
    let scrollable = scrollable && A::has_cursor(statement) && !is_dml;
    if scrollable && matches!(given, Given::Own(_)) {
        return Err(Failure::Programming(
            "in autocommit mode there is no transaction for a scrollable cursor: use begin()",
        ));
    }
    let before = A::statement_stats(statement);
    match once(given, statement, is_dml, scrollable, params).await {
        Ok(outcome) => Ok(Some(Outcome { stats: A::statement_stats(statement).since(&before), ..outcome })),
        Err(failed) if A::is_outdated_by(statement, &failed) => Ok(None),
        Err(failed) => Err(failed.into()),
    }
}

async fn once<A: Api>(
    given: Given<'_, A>,
    statement: &A::Statement,
    is_dml: bool,
    scrollable: bool,
    params: Params,
) -> firearrow::Result<Outcome<A>> {
    if scrollable {
        let cursor = Box::new(A::query_scrollable(statement, given.get(), params).await?);
        let rows = Opened::new(statement.clone(), Source::Scroll { cursor, read: 0, is_lost: false });
        return Ok(Outcome::of(Some(rows), None));
    }
    if !A::has_rows(statement) {
        let executed = match given {
            Given::Callers(running) => A::execute(statement, running, params).await?,
            Given::Own(own) => A::execute_last(statement, own, params).await?,
        };
        return Ok(Outcome::of(None, counted(is_dml, executed.affected_rows)));
    }
    let mut cursor = A::query(statement, given.get(), params).await?;
    if A::has_cursor(statement) && !is_dml {
        let cursor = match given {
            Given::Callers(_) => cursor,
            Given::Own(own) => A::own(cursor, own).await,
        };
        let rows = Opened::new(statement.clone(), Source::Cursor(Box::new(cursor)));
        return Ok(Outcome::of(Some(rows), None));
    }
    // What it does must not depend on how many of its rows are fetched.
    let mut batches = VecDeque::<RecordBatch>::new();
    while let Some(batch) = A::next_batch(&mut cursor).await? {
        batches.push_back(batch);
    }
    // Before Firebird 5, an UPDATE or DELETE that finds no row returns one of NULLs.
    if is_dml && !A::has_cursor(statement) && A::affected_rows(&cursor) == Some(0) {
        batches.clear();
    }
    let rows = batches.iter().map(|batch| batch.num_rows() as u64).sum();
    let affected = counted(is_dml, A::affected_rows(&cursor).or(Some(rows)));
    drop(cursor);
    if let Given::Own(own) = given {
        A::commit(own).await?;
    }
    Ok(Outcome::of(Some(Opened::new(statement.clone(), Source::Batches(batches))), affected))
}

/// The engine counts for procedures and blocks, too, but that is not what callers mean by affected rows.
fn counted(is_dml: bool, rows: Option<u64>) -> Option<u64> {
    rows.filter(|_| is_dml)
}
