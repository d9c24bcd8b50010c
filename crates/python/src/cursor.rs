//! Cursors: one statement after the other, and the rows of the last one.

mod execution;
mod ingest;
mod json;
mod many;
mod reader;
mod result;

use crate::api::Blocking;
use crate::batches::Batches;
use crate::connection::{Connection, Hurry, Shared, closed_meanwhile};
use crate::dependent::Dependent;
use crate::flow::{self, How, Kept, Limit, Opened, Outcome, Shape, Told};
use crate::info::statistics;
use crate::lock::{Guard, Held};
use crate::options::Bounded;
use crate::params::{Sql, is_mapping};
use crate::transaction::Transaction;
use crate::{capsule, error, signal};
use arrow::array::RecordBatchReader;
use execution::Place;
use firearrow::{CancelToken, WireStats};
pub(crate) use json::JsonStream;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyTuple};
use result::Fetched;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How much longer than its statement an execution may take.
const GRACE: Duration = Duration::from_secs(1);

/// What a cursor has; its connection ends it.
#[derive(Default)]
pub(crate) struct State {
    /// The statement that was executed last.
    kept: Option<Kept<Blocking>>,
    rows: Option<Fetched>,
    stats: WireStats,
}

struct Inner {
    shared: Arc<Shared>,
    state: Held<State>,
}

impl Inner {
    /// What the cursor has; an error where this thread is fetching from it.
    fn state(&self, py: Python<'_>) -> PyResult<Guard<'_, State>> {
        self.state.lock_heard(py)?.ok_or_else(|| {
            error::programming(
                py,
                "the cursor is already in use by the call within which this code runs (as a signal handler, finaliser or \
                 generator)",
            )
        })
    }
}

impl Dependent for Inner {
    fn end(&self) {
        if let Some(mut state) = self.state.lock_detached() {
            *state = State::default();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let State { kept, rows, .. } = std::mem::take(self.state.get_mut());
        if rows.is_some() || kept.is_some() {
            self.shared.discard(Hurry::No, || drop((rows, kept)));
        }
    }
}

#[pyclass(frozen, module = "firearrow._core")]
pub(crate) struct Cursor {
    inner: Arc<Inner>,
}

#[allow(clippy::too_many_arguments)] // Each is an argument of the Python method.
#[pymethods]
impl Cursor {
    #[new]
    fn new(connection: &Connection) -> Self {
        let inner = Arc::new(Inner { shared: Arc::clone(&connection.shared), state: Held::default() });
        let weak: Weak<Inner> = Arc::downgrade(&inner);
        connection.shared.dependents.adopt(weak);
        Self { inner }
    }

    /// Executes a statement with one row of parameters, in `transaction` or one of its own.
    #[pyo3(signature = (transaction, sql, parameters, timeout=None, parallel=None, read=None, scrollable=false))]
    fn execute<'py>(
        &self,
        py: Python<'py>,
        transaction: Option<&Transaction>,
        sql: &str,
        parameters: Option<&Bound<'py, PyAny>>,
        timeout: Option<Bounded<f64>>,
        parallel: Option<Bounded<usize>>,
        read: Option<&Bound<'py, PyDict>>,
        scrollable: bool,
    ) -> PyResult<Told<'py>> {
        let shared = &self.inner.shared;
        let how = How::new(py, &shared.facts, timeout, parallel, read, scrollable)?;
        let sql = Sql::new(py, sql, parameters.is_some_and(is_mapping))?;
        let place = Place::new(shared, transaction);
        let run = || {
            shared.call(py, || {
                let outcome = execution::execute(py, self, &place, &sql, parameters, &how)?;
                self.tell(py, outcome, &how)
            })
        };
        match how.timeout {
            // The statement's own limit begins with its execution, not with what that waits for.
            Some(time) if !time.is_zero() => CancelToken::after(time.saturating_add(GRACE)).run(run),
            _ => run(),
        }
    }

    /// Executes a statement for each row of parameters: an iterable of rows, or a stream of Arrow batches.
    #[pyo3(signature = (transaction, sql, rows, go_on=false, read=None))]
    fn executemany<'py>(
        &self,
        py: Python<'py>,
        transaction: &Transaction,
        sql: &str,
        rows: &Bound<'py, PyAny>,
        go_on: bool,
        read: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Told<'py>> {
        let shared = &self.inner.shared;
        let how = How::new(py, &shared.facts, None, None, read, false)?;
        let place = Place::new(shared, Some(transaction));
        shared.call(py, || {
            let outcome = many::execute(py, self, &place, sql, rows, go_on, &how)?;
            // What was done is rolled back with the connection.
            if shared.calls.is_closing() {
                return Err(closed_meanwhile(py));
            }
            self.tell(py, outcome, &how)
        })
    }

    /// Inserts Arrow data into a table. Returns the number of rows.
    #[pyo3(signature = (begin, has_begun, data, table, mode, text=None))]
    fn ingest(
        &self,
        py: Python<'_>,
        begin: &Bound<'_, PyAny>,
        has_begun: bool,
        data: &Bound<'_, PyAny>,
        table: &str,
        mode: &str,
        text: Option<Bounded<u16>>,
    ) -> PyResult<u64> {
        let shared = &self.inner.shared;
        shared.call(py, || {
            let text = text.map(|number| number.0);
            let count = ingest::run(py, shared, begin, has_begun, data, table, mode, text)?;
            match shared.calls.is_closing() {
                true => Err(closed_meanwhile(py)),
                false => Ok(count),
            }
        })
    }

    /// The plan of the statement that was executed last.
    fn plan(&self, py: Python<'_>, detailed: bool) -> PyResult<Option<String>> {
        self.inner.shared.call(py, || {
            let statement = self.inner.state(py)?.kept.as_ref().map(|kept| kept.statement.clone());
            statement.map(|statement| signal::wait(py, || statement.plan(detailed))).transpose()
        })
    }

    /// The counters of the statement that was executed last.
    fn wire_stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.inner.shared.facts.check_process(py)?;
        let state = self.inner.state(py)?;
        let stats = state.rows.as_ref().and_then(Fetched::wire_stats).unwrap_or(state.stats);
        statistics(py, &stats)
    }

    fn fetchone<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.rows(py, |rows| rows.next(py, &self.inner.shared))
    }

    /// Refuses to hand out more rows: some were taken, and did not reach the caller.
    fn fail(&self, py: Python<'_>) {
        if self.inner.shared.facts.is_owner_process()
            && let Some(mut state) = self.inner.state.lock(py)
            && let Some(rows) = &mut state.rows
        {
            rows.buffer.fail();
        }
    }

    /// Up to `most` rows; all without it. More than the limits allow is an error, and ends the result.
    #[pyo3(signature = (most=None, max_rows=None, max_bytes=None))]
    fn fetchmany<'py>(
        &self,
        py: Python<'py>,
        most: Option<usize>,
        max_rows: Option<Bounded<u64>>,
        max_bytes: Option<Bounded<u64>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let limit = Limit::new(max_rows, max_bytes);
        self.rows(py, |rows| rows.list(py, &self.inner.shared, most.unwrap_or(usize::MAX), limit))
    }

    /// The rows that are left as Arrow batches, all read.
    #[pyo3(signature = (max_rows=None, max_bytes=None))]
    fn batches(
        &self,
        py: Python<'_>,
        max_rows: Option<Bounded<u64>>,
        max_bytes: Option<Bounded<u64>>,
    ) -> PyResult<Batches> {
        let shared = &self.inner.shared;
        shared.call(py, || {
            let reader = self.take_rows(py, Limit::new(max_rows, max_bytes))?;
            let read = signal::wait(py, || Ok(reader.read_all()))?;
            Ok(Batches::of(reader.schema(), read.map_err(|failed| failed.into_exception(py))?))
        })
    }

    /// Moves so that this row, counted from 0, is the next one. Returns whether there is one; without it, nothing changes.
    fn scroll(&self, py: Python<'_>, row: Bounded<u64>) -> PyResult<bool> {
        self.rows(py, |rows| rows.scroll(py, &self.inner.shared, row.0))
    }

    /// Rows handed out so far, and whether these are all.
    fn fetched(&self, py: Python<'_>) -> (u64, bool) {
        // In a forked process, a thread that is not there may have locked it.
        if !self.inner.shared.facts.is_owner_process() {
            return (0, false);
        }
        // A cursor may be shown while it fetches.
        let Some(state) = self.inner.state.lock(py) else { return (0, false) };
        state.rows.as_ref().map_or((0, false), |rows| (rows.buffer.count(), rows.buffer.is_complete()))
    }

    /// The rows that are left as JSON: one array, or one on each line; objects, or arrays of `values`.
    #[pyo3(signature = (lines, values, max_rows=None, max_bytes=None))]
    fn json_stream(
        &self,
        py: Python<'_>,
        lines: bool,
        values: bool,
        max_rows: Option<Bounded<u64>>,
        max_bytes: Option<Bounded<u64>>,
    ) -> PyResult<JsonStream> {
        let rows = self.take_rows(py, Limit::new(max_rows, max_bytes))?;
        JsonStream::new(py, &self.inner.shared, rows, Shape { lines, values })
    }

    /// The rows that are left as Arrow batches, by the capsule of a stream. They are read when the stream is.
    fn arrow_stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::stream(py, self.take_rows(py, Limit::default())?)
    }

    /// Closes the result; the statement can be executed again.
    fn close_result(&self, py: Python<'_>) -> PyResult<()> {
        let take = || Ok::<_, PyErr>(self.inner.state(py)?.rows.take());
        self.inner.shared.call(py, || match take()? {
            Some(rows) => signal::wait(py, || rows.close()),
            None => Ok(()),
        })
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let shared = &self.inner.shared;
        let take = || Ok::<_, PyErr>(std::mem::take(&mut *self.inner.state(py)?));
        if !shared.facts.is_owner_process() {
            // What it has is given up when it is dropped.
            return Ok(());
        }
        // A connection that ends ends this, too.
        let Some(_call) = shared.calls.enter() else { return Ok(()) };
        let State { kept, rows, .. } = take()?;
        let closed = match rows {
            Some(rows) => signal::wait(py, || rows.close()),
            None => Ok(()),
        };
        py.detach(|| drop(kept));
        closed
    }
}

impl Cursor {
    /// Takes the rows that are left, as batches.
    fn take_rows(&self, py: Python<'_>, limit: Limit) -> PyResult<reader::Reader> {
        let shared = &self.inner.shared;
        shared.call(py, || {
            let rows = self.inner.state(py)?.rows.take();
            let rows = rows.ok_or_else(|| no_rows(py))?;
            signal::wait(py, || reader::Reader::new(shared, rows, limit))
        })
    }

    /// Works with the rows of the last execution.
    fn rows<T>(&self, py: Python<'_>, work: impl FnOnce(&mut Fetched) -> PyResult<T>) -> PyResult<T> {
        self.inner.shared.facts.check_process(py)?;
        let mut state = self.inner.state(py)?;
        match &mut state.rows {
            Some(rows) => work(rows),
            None => Err(no_rows(py)),
        }
    }

    /// Keeps what an execution gave.
    fn tell<'py>(&self, py: Python<'py>, outcome: Outcome<Blocking>, how: &How) -> PyResult<Told<'py>> {
        let Outcome { rows, affected, failures, stats } = outcome;
        let told = flow::tell(py, rows.as_ref().map(Opened::columns), affected, failures)?;
        let mut state = self.inner.state(py)?;
        state.rows = rows.map(|rows| Fetched::new(rows, &how.arrow));
        state.stats = stats;
        Ok(told)
    }
}

/// Why there is nothing to fetch.
pub(crate) const NO_ROWS: &str = "there are no rows to fetch: execute a query first";

pub(crate) fn no_rows(py: Python<'_>) -> PyErr {
    error::programming(py, NO_ROWS)
}
