//! Results as JSON: an array of objects, or an object on each line.

use super::reader::Reader;
use crate::connection::Shared;
use crate::flow::Failure;
use crate::signal;
use arrow::array::{ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Schema, TimeUnit, TimestampMicrosecondType};
use arrow::error::ArrowError;
use arrow::json::WriterBuilder;
use arrow::json::writer::{JsonArray, LineDelimited, Writer};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes on their way from the writer to Python.
#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn take(&self) -> Vec<u8> {
        mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl io::Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Format {
    Array(Writer<Buffer, JsonArray>),
    Lines(Writer<Buffer, LineDelimited>),
}

/// Names UTC so that the writer, which has no table of zones, knows it.
fn with_offsets(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let is_zoned = |data_type: &DataType| matches!(data_type, DataType::Timestamp(_, Some(_)));
    if !batch.schema().fields().iter().any(|field| is_zoned(field.data_type())) {
        return Ok(batch.clone());
    }
    let renamed = batch.columns().iter().map(|column| match column.data_type() {
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => {
            let moments = column.as_primitive::<TimestampMicrosecondType>();
            Arc::new(moments.clone().with_timezone("+00:00")) as ArrayRef
        }
        _ => Arc::clone(column),
    });
    let columns: Vec<ArrayRef> = renamed.collect();
    let fields = batch
        .schema()
        .fields()
        .iter()
        .zip(&columns)
        .map(|(field, column)| field.as_ref().clone().with_data_type(column.data_type().clone()))
        .collect::<Vec<_>>();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

impl Format {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let batch = &with_offsets(batch)?;
        match self {
            Self::Array(writer) => writer.write(batch),
            Self::Lines(writer) => writer.write(batch),
        }
    }

    fn finish(&mut self) -> Result<(), ArrowError> {
        match self {
            Self::Array(writer) => writer.finish(),
            Self::Lines(writer) => writer.finish(),
        }
    }
}

struct State {
    shared: Arc<Shared>,
    reader: Reader,
    format: Format,
    buffer: Buffer,
    is_over: bool,
}

/// The rows that are left of a result, a piece of JSON for each batch.
#[pyclass(frozen, module = "firearrow._core")]
pub(crate) struct JsonStream(Mutex<State>);

impl JsonStream {
    pub(super) fn new(shared: &Arc<Shared>, reader: Reader, lines: bool) -> Self {
        let buffer = Buffer::default();
        // A key that is missing would not say whether there is such a column.
        let builder = WriterBuilder::new().with_explicit_nulls(true);
        let format = match lines {
            true => Format::Lines(builder.build(buffer.clone())),
            false => Format::Array(builder.build(buffer.clone())),
        };
        Self(Mutex::new(State { shared: Arc::clone(shared), reader, format, buffer, is_over: false }))
    }
}

#[pymethods]
impl JsonStream {
    /// The next piece; `None` after the last.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let mut state = crate::connection::lock(py, &self.0);
        let State { shared, reader, format, buffer, is_over } = &mut *state;
        if *is_over {
            return Ok(None);
        }
        *is_over = true;
        *is_over = shared.call(py, || {
            let step = signal::wait(py, || {
                Ok(reader.read().and_then(|batch| match batch {
                    Some(batch) => format.write(&batch).map(|()| false).map_err(Failure::Reader),
                    None => format.finish().map(|()| true).map_err(Failure::Reader),
                }))
            })?;
            step.map_err(|failed| failed.into_exception(py))
        })?;
        Ok(Some(PyBytes::new(py, &buffer.take())))
    }
}
