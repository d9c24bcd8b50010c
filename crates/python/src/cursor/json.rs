//! Results as JSON.

use super::reader::Reader;
use crate::flow::Json;
use crate::{error, signal};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Mutex;

struct State {
    reader: Reader,
    json: Json,
    is_over: bool,
}

/// The rows that are left of a result, a piece of JSON for each batch.
#[pyclass(frozen, module = "firearrow._core")]
pub(crate) struct JsonStream(Mutex<State>);

impl JsonStream {
    pub(super) fn new(reader: Reader, lines: bool) -> Self {
        Self(Mutex::new(State { reader, json: Json::new(lines), is_over: false }))
    }
}

#[pymethods]
impl JsonStream {
    /// The next piece; `None` after the last.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let mut state = crate::connection::lock(py, &self.0);
        let State { reader, json, is_over } = &mut *state;
        if *is_over {
            return Ok(None);
        }
        let piece = signal::wait(py, || {
            Ok(match reader.next() {
                Some(batch) => batch.and_then(|batch| json.piece(&batch)).map(|piece| (piece, false)),
                None => json.end().map(|piece| (piece, true)),
            })
        })?;
        *is_over = !matches!(piece, Ok((_, false)));
        let (piece, _) = piece.map_err(|failed| error::of(py, failed))?;
        Ok(Some(PyBytes::new(py, &piece)))
    }
}
