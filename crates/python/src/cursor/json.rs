//! Results as JSON.

use super::reader::Reader;
use crate::connection::Shared;
use crate::failure::Failure;
use crate::flow::{Json, Shape};
use crate::lock::lock;
use crate::signal;
use arrow::array::RecordBatchReader;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Arc, Mutex};

struct State {
    shared: Arc<Shared>,
    reader: Reader,
    json: Json,
    is_over: bool,
}

/// The rows that are left of a result, a piece of JSON for each batch.
#[pyclass(frozen, module = "firearrow._core")]
pub(crate) struct JsonStream(Mutex<State>);

impl JsonStream {
    pub(super) fn new(py: Python<'_>, shared: &Arc<Shared>, reader: Reader, shape: Shape) -> PyResult<Self> {
        let json = Json::new(shape, &reader.schema());
        let json = json.map_err(|failed| Failure::Reader(failed).into_exception(py))?;
        Ok(Self(Mutex::new(State { shared: Arc::clone(shared), reader, json, is_over: false })))
    }
}

#[pymethods]
impl JsonStream {
    /// The next piece; `None` after the last.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let mut state = lock(py, &self.0);
        let State { shared, reader, json, is_over } = &mut *state;
        if *is_over {
            return Ok(None);
        }
        // Unless it goes well, there is no next piece.
        *is_over = true;
        let (piece, is_last) = shared.call(py, || {
            let piece = signal::wait(py, || {
                Ok(reader.read().and_then(|batch| match batch {
                    Some(batch) => json.piece(&batch).map(|piece| (piece, false)).map_err(Failure::Reader),
                    None => json.end().map(|piece| (piece, true)).map_err(Failure::Reader),
                }))
            })?;
            piece.map_err(|failed| failed.into_exception(py))
        })?;
        *is_over = is_last;
        Ok(Some(PyBytes::new(py, &piece)))
    }
}
