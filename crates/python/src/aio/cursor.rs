//! Cursors: one statement after the other, and the rows of the last one.

use super::connection::{Connection, Shared};
use super::many::Many;
use super::operation::{Operation, spawn, spawn_plain};
use super::runtime;
use super::transaction::{Held, Place, Transaction};
use crate::api::{Api, Asynchronous};
use crate::batches::Batches;
use crate::cursor::{NO_ROWS, no_rows};
use crate::dependent::Dependent;
use crate::describe::Columns;
use crate::failure::Failure;
use crate::flow::{self, ALTERED_AGAIN, Buffer, FAILED, FEW, How, Kept, Limit, Opened, Outcome};
use crate::info::statistics;
use crate::lock::{lock, plain};
use crate::options::Bounded;
use crate::params::{Sql, Value, is_mapping, single};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use firearrow::arrow::schema;
use firearrow::asynchronous::Statement;
use firearrow::{ReadOptions, RowFailure, StatementKind, WireStats};
use firearrow_driver::sql::is_dml;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyTuple};
use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Instant;

/// What a cursor has on the connection.
#[derive(Default)]
pub(super) struct State {
    /// The statement that was executed last.
    kept: Option<Kept<Asynchronous>>,
    pub(super) opened: Option<Opened<Asynchronous>>,
}

/// What Python has of the last execution.
#[derive(Default)]
struct View {
    buffer: Option<Buffer>,
    /// Why there are no more rows.
    failed: Option<firearrow::Error>,
    stats: WireStats,
}

pub(crate) struct Inner {
    pub(super) shared: Arc<Shared>,
    /// Locked by the call that runs.
    pub(super) state: Arc<tokio::sync::Mutex<State>>,
    /// Locked for moments.
    view: Mutex<View>,
}

impl Dependent for Inner {
    fn end(&self) {
        // No call is running: they keep the connection from ending.
        if let Ok(mut state) = self.state.try_lock() {
            *state = State::default();
        }
        *self.view() = View::default();
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let state = mem::take(&mut self.state);
        runtime::within(|| self.shared.facts.discard(state));
    }
}

/// What an execution gave, without its rows.
pub(super) struct Told {
    columns: Option<Columns>,
    affected: Option<u64>,
    failures: Vec<RowFailure>,
}

impl Told {
    /// For Python.
    pub(super) fn tell(py: Python<'_>, told: Self) -> PyResult<Py<PyAny>> {
        let told = flow::tell(py, told.columns, told.affected, told.failures)?;
        Ok(told.into_pyobject(py)?.into_any().unbind())
    }
}

impl Inner {
    fn view(&self) -> MutexGuard<'_, View> {
        plain(&self.view)
    }

    /// Ends the previous result, as PEP 249 wants it. Returns the statement for this SQL: the previous one, if it has the same
    /// SQL and is fresh, or one that is sent with its execution if the connection knows it; and when the previous one was
    /// prepared.
    pub(super) async fn statement(
        &self,
        state: &mut State,
        held: &mut Held<'_>,
        sql: &str,
    ) -> Result<(Statement, Option<Instant>), Failure> {
        let kept = state.kept.take();
        self.close_result(state).await?;
        let kept = kept.filter(|kept| kept.fits(sql, self.shared.facts.definitions()));
        match kept {
            Some(kept) => Ok((kept.statement, Some(kept.since))),
            None => Ok((Asynchronous::recall(held.given().await?.get(), sql).await?, None)),
        }
    }

    async fn close_result(&self, state: &mut State) -> Result<(), Failure> {
        let is_over = {
            let view = mem::take(&mut *self.view());
            view.failed.is_some() || view.buffer.is_none_or(|buffer| buffer.is_over())
        };
        match state.opened.take() {
            Some(opened) if !is_over || opened.stays_open() => Ok(opened.close().await?),
            _ => Ok(()),
        }
    }

    /// Executes a statement with one row of parameters.
    async fn execute(
        &self,
        place: &Place,
        sql: &Sql,
        values: Vec<Value>,
        how: &How,
    ) -> Result<Told, Failure> {
        // Parallel readers stay attached to a statement, so it is not reused.
        let kept = (&how.arrow, how.parallel.is_none());
        let connection = self.shared.enter().await?;
        let mut state = self.state.lock().await;
        let mut held = place.enter(&connection).await?;
        let (prepared, since) = self.statement(&mut state, &mut held, &sql.text).await?;
        let prepared = Asynchronous::with(prepared, how);
        let params = single(sql.settle(values.clone(), prepared.parameters())?);
        let (is_dml, scrollable) = (is_dml(&sql.text), how.scrollable);
        if let Some(outcome) = flow::run(held.given().await?, &prepared, is_dml, scrollable, params).await? {
            return Ok(self.keep(&mut state, &sql.text, prepared, since, outcome, kept).await);
        }
        // Something that it uses was altered since it was prepared: once more, prepared anew.
        drop(prepared);
        let prepared = Asynchronous::prepare(held.given().await?.get(), &sql.text).await?;
        let prepared = Asynchronous::with(prepared, how);
        let params = single(sql.settle(values, prepared.parameters())?);
        match flow::run(held.given().await?, &prepared, is_dml, scrollable, params).await? {
            Some(outcome) => Ok(self.keep(&mut state, &sql.text, prepared, None, outcome, kept).await),
            None => Err(Failure::Programming(ALTERED_AGAIN)),
        }
    }

    /// Keeps what an execution gave, and the statement for the next one. Short results are read whole.
    pub(super) async fn keep(
        &self,
        state: &mut State,
        sql: &str,
        statement: Statement,
        since: Option<Instant>,
        outcome: Outcome<Asynchronous>,
        (arrow, is_plain): (&Arc<ReadOptions>, bool),
    ) -> Told {
        let Outcome { rows, affected, failures, stats } = outcome;
        self.shared.facts.note(statement.kind());
        // DDL is never the same again.
        let is_ddl = statement.kind() == StatementKind::Ddl;
        let kept = Kept::new(sql, statement, since, self.shared.facts.definitions());
        state.kept = Some(kept.reusable_if(is_plain && !is_ddl));
        let mut view = View { buffer: None, failed: None, stats };
        let mut columns = None;
        if let Some(mut opened) = rows {
            let mut buffer = Buffer::new(opened.columns(), arrow);
            columns = Some(Columns::clone(buffer.columns()));
            for _ in 0..2 {
                let batch = opened.next().await;
                let rows =
                    batch.as_ref().map_or(0, |batch| batch.as_ref().map_or(0, |batch| batch.num_rows()));
                view.failed = buffer.feed(batch).err();
                if rows == 0 || rows > FEW {
                    break;
                }
            }
            view.buffer = Some(buffer);
            state.opened = Some(opened);
        }
        *self.view() = view;
        Told { columns, affected, failures }
    }

    /// Reads a batch unless there are rows already. Returns whether there are more rows.
    async fn read(&self) -> Result<bool, Failure> {
        let _connection = self.shared.enter().await?;
        let mut state = self.state.lock().await;
        {
            let mut view = self.view();
            let View { buffer: Some(buffer), failed, .. } = &mut *view else {
                return Err(Failure::Programming(NO_ROWS));
            };
            if buffer.has_rows() {
                return Ok(true);
            }
            if let Some(failed) = failed.take() {
                return Err(failed.into());
            }
            if buffer.has_failed() {
                return Err(Failure::Programming(FAILED));
            }
            if buffer.is_over() {
                return Ok(false);
            }
        }
        let batch = match &mut state.opened {
            Some(opened) => opened.next().await,
            None => Ok(None),
        };
        match &mut self.view().buffer {
            Some(buffer) => Ok(buffer.feed(batch)?),
            None => Ok(batch?.is_some()),
        }
    }

    /// Moves to a row, counted from 0, if there is one.
    async fn scroll(&self, row: u64) -> Result<bool, Failure> {
        let _connection = self.shared.enter().await?;
        let mut state = self.state.lock().await;
        let opened = state.opened.as_mut().ok_or(Failure::Programming(NO_ROWS))?;
        if self.view().buffer.as_ref().is_none_or(Buffer::has_failed) {
            return Err(Failure::Programming(FAILED));
        }
        let found = opened.scroll(row).await?;
        let is_there = found.is_some();
        if let (Some(batch), Some(buffer)) = (found, &mut self.view().buffer) {
            buffer.go_to(row, batch);
        }
        Ok(is_there)
    }

    /// The columns of the rows, and the schema of their batches.
    pub(super) async fn schema(&self) -> Result<(Arc<Columns>, SchemaRef), Failure> {
        let connection = self.shared.enter().await?;
        let known = |buffer: &Buffer| (Arc::clone(buffer.columns()), Arc::clone(buffer.arrow()));
        let known = self.view().buffer.as_ref().map(known);
        let (columns, arrow) = known.ok_or(Failure::Programming(NO_ROWS))?;
        let read = connection.declared(&columns, &arrow).await?;
        let schema = schema(&columns, &read).map_err(firearrow::Error::from)?;
        Ok((columns, schema))
    }

    /// The next batches of the result that has these columns; none at its end.
    pub(super) async fn more(&self, columns: &Arc<Columns>) -> Result<VecDeque<RecordBatch>, Failure> {
        let is_more = self.read().await?;
        match &mut self.view().buffer {
            Some(buffer) if !Arc::ptr_eq(buffer.columns(), columns) => {
                Err(Failure::Programming("the cursor has executed another statement meanwhile"))
            }
            Some(buffer) if is_more => Ok(buffer.take()),
            _ => Ok(VecDeque::new()),
        }
    }

    /// Takes up to `most` batches of the rows that are left.
    async fn take(&self, most: usize, limit: Limit) -> Result<Batches, Failure> {
        let (columns, schema) = self.schema().await?;
        let mut batches = VecDeque::new();
        let (mut rows, mut bytes) = (0, 0);
        while batches.len() < most {
            let mut more = self.more(&columns).await?;
            if more.is_empty() {
                break;
            }
            rows += more.iter().map(|batch| batch.num_rows() as u64).sum::<u64>();
            bytes += limit.bytes(&more);
            limit.check(rows, bytes)?;
            batches.append(&mut more);
        }
        Batches::new(schema, &batches)
    }
}

#[pyclass(frozen, name = "AioCursor", module = "firearrow._core")]
pub(crate) struct Cursor {
    inner: Arc<Inner>,
}

#[pymethods]
impl Cursor {
    #[new]
    fn new(connection: &Connection) -> Self {
        let inner = Arc::new(Inner {
            shared: Arc::clone(&connection.shared),
            state: Arc::default(),
            view: Mutex::default(),
        });
        let weak: Weak<Inner> = Arc::downgrade(&inner);
        connection.shared.dependents.adopt(weak);
        Self { inner }
    }

    /// Executes a statement with one row of parameters, in `transaction` or one of its own. If the values depend on the
    /// statement, the result is a `Prepared`, which executes it.
    #[pyo3(signature = (transaction, sql, parameters, timeout=None, parallel=None, read=None, scrollable=false))]
    #[allow(clippy::too_many_arguments)]
    fn execute(
        &self,
        py: Python<'_>,
        transaction: Option<&Transaction>,
        sql: &str,
        parameters: Option<&Bound<'_, PyAny>>,
        timeout: Option<Bounded<f64>>,
        parallel: Option<Bounded<usize>>,
        read: Option<&Bound<'_, PyDict>>,
        scrollable: bool,
    ) -> PyResult<Operation> {
        let inner = self.here(py)?;
        let how = How::new(py, &inner.shared.facts, timeout, parallel, read, scrollable)?;
        let sql = Sql::new(py, sql, parameters.is_some_and(is_mapping))?;
        let place = Place::new(&self.inner.shared.facts, transaction);
        // What can be iterated only once is needed twice.
        let parameters = match parameters {
            Some(given) if given.cast::<PyIterator>().is_ok() => {
                Some(PyTuple::new(py, given.try_iter()?.collect::<PyResult<Vec<_>>>()?)?.into_any())
            }
            other => other.cloned(),
        };
        if let Some(values) = sql.early_values(py, parameters.as_ref())? {
            let execute = async move { inner.execute(&place, &sql, values, &how).await };
            return spawn(py, execute, Told::tell);
        }
        let parameters = parameters.map(Bound::unbind);
        let prepare = async move {
            let statement = inner.prepare(&place, &sql).await?;
            Ok((inner, place, sql, how, statement))
        };
        spawn(py, prepare, move |py, (inner, place, sql, how, statement)| {
            let given = parameters.as_ref().map(|given| given.bind(py));
            let values = sql.values(py, given, statement.parameters())?;
            let call = Mutex::new(Some((inner, place, sql, how, values)));
            Ok(Py::new(py, Prepared { call })?.into_any())
        })
    }

    /// Begins to execute a statement for each row of parameters.
    #[pyo3(signature = (transaction, sql, rows, go_on=false, read=None))]
    fn executemany(
        &self,
        py: Python<'_>,
        transaction: &Transaction,
        sql: &str,
        rows: &Bound<'_, PyAny>,
        go_on: bool,
        read: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Operation> {
        let inner = self.here(py)?;
        let how = How::new(py, &inner.shared.facts, None, None, read, false)?;
        let place = Place::new(&self.inner.shared.facts, Some(transaction));
        Many::begin(py, inner, place, sql, rows, go_on, how)
    }

    /// The plan of the statement that was executed last.
    fn plan(&self, py: Python<'_>, detailed: bool) -> PyResult<Operation> {
        let inner = self.here(py)?;
        let ask = async move {
            let _connection = inner.shared.enter().await?;
            let statement = inner.state.lock().await.kept.as_ref().map(|kept| kept.statement.clone());
            Ok(match statement {
                Some(statement) => Some(statement.plan(detailed).await?),
                None => None,
            })
        };
        spawn(py, ask, |py, plan| Ok(plan.into_pyobject(py)?.into_any().unbind()))
    }

    /// What the statement that was executed last has cost.
    fn wire_stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let of_rows = match self.inner.state.try_lock() {
            Ok(state) => state.opened.as_ref().and_then(Opened::wire_stats),
            Err(_) => None,
        };
        statistics(py, &of_rows.unwrap_or_else(|| self.inner.view().stats))
    }

    /// The next row, if it has arrived.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.rows(py, |rows| rows.next(py))
    }

    /// Refuses to hand out more rows: some were taken, and did not reach the caller.
    fn fail(&self, py: Python<'_>) {
        if let Some(rows) = &mut lock(py, &self.inner.view).buffer {
            rows.fail();
        }
    }

    /// Appends up to `most` rows that have come to a list; all without it. Returns the bytes of what was appended and `kept`
    /// before, if they are limited.
    #[pyo3(signature = (to, most=None, kept=0, max_rows=None, max_bytes=None))]
    fn append(
        &self,
        py: Python<'_>,
        to: &Bound<'_, PyList>,
        most: Option<usize>,
        kept: u64,
        max_rows: Option<Bounded<u64>>,
        max_bytes: Option<Bounded<u64>>,
    ) -> PyResult<u64> {
        let limit = Limit::new(max_rows, max_bytes);
        self.rows(py, |rows| {
            let bytes = kept + limit.bytes(rows.waiting());
            let checked = limit.check(to.len() as u64 + rows.left(), bytes);
            checked.map_err(|failed| failed.into_exception(py))?;
            rows.append(py, most.unwrap_or(usize::MAX), to)?;
            Ok(bytes)
        })
    }

    /// Waits for more rows; `False` at the end.
    fn read(&self, py: Python<'_>) -> PyResult<Operation> {
        let inner = self.here(py)?;
        let is_done = {
            let view = lock(py, &inner.view);
            view.failed.is_none() && view.buffer.as_ref().is_some_and(Buffer::is_done)
        };
        if is_done {
            return Ok(Operation::ready(false.into_pyobject(py)?.to_owned().into_any().unbind()));
        }
        let read = async move { inner.read().await };
        spawn(py, read, |py, is_more| Ok(is_more.into_pyobject(py)?.to_owned().into_any().unbind()))
    }

    /// Waits for up to `most` batches of the rows that are left; all without it.
    #[pyo3(signature = (most=None, max_rows=None, max_bytes=None))]
    fn batches(
        &self,
        py: Python<'_>,
        most: Option<usize>,
        max_rows: Option<Bounded<u64>>,
        max_bytes: Option<Bounded<u64>>,
    ) -> PyResult<Operation> {
        let inner = self.here(py)?;
        let limit = Limit::new(max_rows, max_bytes);
        let take = async move { inner.take(most.unwrap_or(usize::MAX), limit).await };
        spawn(py, take, |py, batches| Ok(Py::new(py, batches)?.into_any()))
    }

    /// Moves so that this row, counted from 0, is the next one; the result is whether there is one.
    fn scroll(&self, py: Python<'_>, row: Bounded<u64>) -> PyResult<Operation> {
        let inner = self.here(py)?;
        let scroll = async move { inner.scroll(row.0).await };
        spawn(py, scroll, |py, is_there| Ok(is_there.into_pyobject(py)?.to_owned().into_any().unbind()))
    }

    /// Rows that have been handed out so far, and whether all have.
    fn fetched(&self, py: Python<'_>) -> (u64, bool) {
        let view = lock(py, &self.inner.view);
        view.buffer.as_ref().map_or((0, false), |rows| (rows.count(), rows.is_done()))
    }

    /// Closes the result; the statement can be executed again.
    fn close_result(&self, py: Python<'_>) -> PyResult<Operation> {
        let inner = self.here(py)?;
        spawn_plain(py, async move {
            let _connection = inner.shared.enter().await?;
            inner.close_result(&mut *inner.state.lock().await).await
        })
    }

    fn close(&self, py: Python<'_>) -> PyResult<Operation> {
        let inner = Arc::clone(&self.inner);
        if !inner.shared.facts.is_owner_process() {
            return Ok(Operation::ready(py.None()));
        }
        let is_over = lock(py, &inner.view).buffer.as_ref().is_none_or(Buffer::is_over);
        if is_over && let Ok(mut state) = inner.state.try_lock() {
            let state = mem::take(&mut *state);
            drop(mem::take(&mut *lock(py, &inner.view)));
            runtime::within(|| drop(state));
            return Ok(Operation::ready(py.None()));
        }
        spawn_plain(py, async move {
            // A connection that ends has ended this, too.
            let Ok(_connection) = inner.shared.enter().await else { return Ok(()) };
            let mut state = inner.state.lock().await;
            state.kept = None;
            inner.close_result(&mut state).await
        })
    }
}

impl Cursor {
    pub(super) fn here(&self, py: Python<'_>) -> PyResult<Arc<Inner>> {
        self.inner.shared.facts.check_process(py)?;
        Ok(Arc::clone(&self.inner))
    }

    /// Works with the rows of the last execution.
    fn rows<T>(&self, py: Python<'_>, work: impl FnOnce(&mut Buffer) -> PyResult<T>) -> PyResult<T> {
        match &mut lock(py, &self.inner.view).buffer {
            Some(rows) => work(rows),
            None => Err(no_rows(py)),
        }
    }
}

impl Inner {
    /// Prepares a statement, which is kept.
    async fn prepare(&self, place: &Place, sql: &Sql) -> Result<Statement, Failure> {
        let connection = self.shared.enter().await?;
        let mut state = self.state.lock().await;
        let mut held = place.enter(&connection).await?;
        let (statement, since) = self.statement(&mut state, &mut held, &sql.text).await?;
        state.kept = Some(Kept::new(&sql.text, statement.clone(), since, self.shared.facts.definitions()));
        Ok(statement)
    }
}

/// What an execution needs.
type Call = (Arc<Inner>, Place, Sql, How, Vec<Value>);

/// A statement that waits for its execution.
#[pyclass(frozen, name = "AioPrepared", module = "firearrow._core")]
pub(crate) struct Prepared {
    call: Mutex<Option<Call>>,
}

#[pymethods]
impl Prepared {
    /// Executes it.
    fn execute(&self, py: Python<'_>) -> PyResult<Operation> {
        let call = lock(py, &self.call).take();
        let execute = async move {
            let Some((inner, place, sql, how, values)) = call else {
                return Err(Failure::Internal("a statement that was prepared for one execution"));
            };
            inner.execute(&place, &sql, values, &how).await
        };
        spawn(py, execute, Told::tell)
    }
}
