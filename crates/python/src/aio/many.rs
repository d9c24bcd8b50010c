//! One statement for many rows of parameters, which come from Python in the thread of the event loop.

use super::cursor::{Inner, Told};
use super::operation::{Operation, spawn, spawn_writing};
use super::runtime::IS_OVER;
use super::transaction::Place;
use crate::api::{Api, Asynchronous};
use crate::capsule::{self, Received};
use crate::failure::Failure;
use crate::flow::{Collected, How, Pour, Sender};
use crate::lock::lock;
use crate::params::{Sql, is_mapping};
use arrow::array::RecordBatch;
use firearrow::ReadOptions;
use firearrow::asynchronous::Statement;
use firearrow_driver::sql::is_dml;
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use std::mem;
use std::sync::{Arc, Mutex};
use tokio::task::spawn_blocking;

/// Rows that are taken from Python at a time; then other tasks have their turn.
const TURN: usize = 1_000;

/// Where rows of parameters come from.
enum Rows {
    Python { rows: Py<PyIterator>, first: Option<Py<PyAny>>, collected: Collected },
    Arrow(Box<Received>),
    Over,
}

/// An execution for many rows: `fill` until something is to be sent, `send`, and again until that tells what it gave.
#[pyclass(frozen, name = "AioMany", module = "firearrow._core")]
pub(crate) struct Many {
    inner: Arc<Inner>,
    place: Place,
    sql: Arc<Sql>,
    statement: Statement,
    /// How Arrow data of the rows that it gives is asked for.
    arrow: Arc<ReadOptions>,
    rows: Mutex<Rows>,
    /// What is to be sent.
    next: Mutex<Option<Filled>>,
    sender: Arc<tokio::sync::Mutex<Option<Sender>>>,
}

impl Many {
    pub(super) fn begin(
        py: Python<'_>,
        inner: Arc<Inner>,
        place: Place,
        sql: &str,
        rows: &Bound<'_, PyAny>,
        go_on: bool,
        how: How,
    ) -> PyResult<Operation> {
        let reader = capsule::reader(rows)?;
        let (rows, is_named) = match reader {
            Some(reader) => (Rows::Arrow(Box::new(reader.until(&IS_OVER))), false),
            None => {
                let mut rows = rows.try_iter()?;
                let first = rows.next().transpose()?;
                let is_named = first.as_ref().is_some_and(is_mapping);
                let first = first.map(Bound::unbind);
                (Rows::Python { rows: rows.unbind(), first, collected: Collected::new(0) }, is_named)
            }
        };
        let sql = Sql::new(py, sql, is_named)?;
        let prepare = async move {
            let statement = {
                let connection = inner.shared.enter().await?;
                let mut state = inner.state.lock().await;
                let mut held = place.enter(&connection).await?;
                inner.statement(&mut state, &mut held, &sql.text).await?.0
            };
            Ok((inner, place, sql, Asynchronous::with(statement, &how), how.arrow))
        };
        spawn(py, prepare, move |py, (inner, place, sql, statement, arrow)| {
            let rows = match rows {
                Rows::Python { rows, first, .. } => {
                    let collected = Collected::new(statement.parameters().len());
                    Rows::Python { rows, first, collected }
                }
                other => other,
            };
            let sender = Arc::new(tokio::sync::Mutex::new(Some(Sender::new(go_on, is_dml(&sql.text)))));
            let (sql, rows, next) = (Arc::new(sql), Mutex::new(rows), Mutex::default());
            let many = Self { inner, place, sql, statement, arrow, rows, next, sender };
            Ok(Py::new(py, many)?.into_any())
        })
    }

    /// The next rows to be sent; `None` if more have to be taken first.
    fn filled(&self, py: Python<'_>) -> PyResult<Option<Filled>> {
        let mut taken = lock(py, &self.rows);
        let Rows::Python { rows, first, collected } = &mut *taken else {
            return Ok(Some(match mem::replace(&mut *taken, Rows::Over) {
                Rows::Arrow(reader) => Filled::Arrow(reader),
                _ => Filled::Last(None),
            }));
        };
        let parameters = self.statement.parameters();
        if let Some(row) = first.take() {
            collected.push(py, row.bind(py), &self.sql, parameters)?;
        }
        for _ in 0..TURN {
            let Some(row) = rows.bind(py).clone().next() else {
                return Ok(Some(Filled::Last(collected.take())));
            };
            if let Some(full) = collected.push(py, &row?, &self.sql, parameters)? {
                return Ok(Some(Filled::Some(full)));
            }
        }
        Ok(None)
    }
}

/// What is to be sent.
enum Filled {
    Some(RecordBatch),
    Last(Option<RecordBatch>),
    Arrow(Box<Received>),
}

#[pymethods]
impl Many {
    /// Takes some rows. Returns whether there is something to be sent.
    fn fill(&self, py: Python<'_>) -> PyResult<bool> {
        let filled = self.filled(py)?;
        let is_some = filled.is_some();
        *lock(py, &self.next) = filled;
        Ok(is_some)
    }

    /// Sends what there is. The result is `None`, or what all rows gave.
    fn send(&self, py: Python<'_>) -> PyResult<Operation> {
        let filled = lock(py, &self.next).take().unwrap_or(Filled::Last(None));
        let (inner, place, sql) = (Arc::clone(&self.inner), self.place.clone(), Arc::clone(&self.sql));
        let (statement, sender) = (self.statement.clone(), Arc::clone(&self.sender));
        let arrow = Arc::clone(&self.arrow);
        let send = async move {
            let connection = inner.shared.enter().await?;
            let mut state = inner.state.lock().await;
            let mut held = place.enter(&connection).await?;
            let mut sending = sender.lock().await;
            let Some(sender) = &mut *sending else {
                return Err(Failure::Internal("the rows were sent already"));
            };
            let is_last = !matches!(filled, Filled::Some(_));
            match filled {
                Filled::Some(batch) | Filled::Last(Some(batch)) => {
                    sender.send::<Asynchronous>(held.running()?, &statement, &batch).await?;
                }
                Filled::Last(None) => {}
                Filled::Arrow(reader) if !statement.has_rows() => {
                    let on_failure = sender.on_failure;
                    let done = Asynchronous::pour(&statement, held.running()?, *reader, on_failure).await?;
                    sender.note(done);
                }
                Filled::Arrow(mut reader) => {
                    while !sender.should_stop() {
                        let (batch, rest) = pull(reader).await?;
                        let Some(batch) = batch else { break };
                        sender.send::<Asynchronous>(held.running()?, &statement, &batch).await?;
                        reader = rest;
                    }
                }
            }
            if !is_last && !sender.should_stop() {
                return Ok(None);
            }
            let Some(sender) = sending.take() else { return Ok(None) };
            let outcome = sender.finish::<Asynchronous>(&statement);
            Ok(Some(inner.keep(&mut state, &sql.text, statement, None, outcome, (&arrow, true)).await))
        };
        spawn_writing(py, send, |py, told| match told {
            Some(told) => Told::tell(py, told),
            None => Ok(py.None()),
        })
    }
}

/// Takes a batch from a reader, which may take its time.
async fn pull(mut reader: Box<Received>) -> Result<(Option<RecordBatch>, Box<Received>), Failure> {
    let pulled = spawn_blocking(move || (reader.next().transpose(), reader)).await;
    let (batch, reader) = pulled.map_err(|_| Failure::Internal("the reader of Arrow data was given up"))?;
    Ok((batch.map_err(Failure::Reader)?, reader))
}
