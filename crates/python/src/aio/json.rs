//! Results as JSON.

use super::cursor::{Cursor, Inner};
use super::operation::{Operation, spawn};
use crate::describe::Columns;
use crate::failure::Failure;
use crate::flow::{Json, Limit, Shape, convert};
use crate::options::Bounded;
use arrow::datatypes::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

struct State {
    inner: Arc<Inner>,
    columns: Arc<Columns>,
    schema: SchemaRef,
    json: Json,
    limit: Limit,
    /// Rows and bytes so far.
    kept: (u64, u64),
    is_over: bool,
}

impl State {
    /// The next piece; `None` after the last.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        if self.is_over {
            return Ok(None);
        }
        // After an error there is no further piece, nor after a call that was cancelled.
        self.is_over = true;
        let mut piece = Vec::new();
        let batches = self.inner.more(&self.columns).await?;
        self.kept.0 += batches.iter().map(|batch| batch.num_rows() as u64).sum::<u64>();
        self.kept.1 += self.limit.bytes(&batches);
        self.limit.check(self.kept.0, self.kept.1)?;
        for batch in &batches {
            let batch = convert(batch, &self.schema)?;
            piece.append(&mut self.json.piece(&batch).map_err(Failure::Reader)?);
        }
        if batches.is_empty() {
            return self.json.end().map(Some).map_err(Failure::Reader);
        }
        self.is_over = false;
        Ok(Some(piece))
    }
}

/// The rows that are left of a result, a piece of JSON for each batch.
#[pyclass(frozen, name = "AioJsonStream", module = "firearrow._core")]
pub(crate) struct JsonStream(Arc<tokio::sync::Mutex<State>>);

#[pymethods]
impl JsonStream {
    fn next(&self, py: Python<'_>) -> PyResult<Operation> {
        let state = Arc::clone(&self.0);
        let next = async move { state.lock().await.next().await };
        spawn(py, next, |py, piece| match piece {
            Some(piece) => Ok(PyBytes::new(py, &piece).into_any().unbind()),
            None => Ok(py.None()),
        })
    }
}

#[pymethods]
impl Cursor {
    /// The rows that are left as JSON: one array, or one on each line; objects, or arrays of `values`.
    #[pyo3(signature = (lines, values, max_rows=None, max_bytes=None))]
    fn json_stream(
        &self,
        py: Python<'_>,
        lines: bool,
        values: bool,
        max_rows: Option<Bounded<u64>>,
        max_bytes: Option<Bounded<u64>>,
    ) -> PyResult<Operation> {
        let inner = self.here(py)?;
        let limit = Limit::new(max_rows, max_bytes);
        let begin = async move {
            let (columns, schema) = inner.schema().await?;
            let json = Json::new(Shape { lines, values }, &schema).map_err(Failure::Reader)?;
            Ok(State { inner, columns, schema, json, limit, kept: (0, 0), is_over: false })
        };
        spawn(py, begin, |py, state| {
            Ok(Py::new(py, JsonStream(Arc::new(tokio::sync::Mutex::new(state))))?.into_any())
        })
    }
}
