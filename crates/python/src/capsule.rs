//! Arrow's C data interface in Python's capsules: `__arrow_c_stream__`, in both directions, and `__arrow_c_schema__`.
#![allow(unsafe_code)]

use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ffi::FFI_ArrowSchema;
use arrow::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use firearrow_driver::size_of_rows;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi::c_str;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::VecDeque;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};

const NAME: &CStr = c_str!("arrow_array_stream");
const SCHEMA_NAME: &CStr = c_str!("arrow_schema");

/// Tells a consumer the columns.
pub(crate) fn schema<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let exported = FFI_ArrowSchema::try_from(schema.as_ref());
    let exported = exported.map_err(|failed| PyTypeError::new_err(failed.to_string()))?;
    PyCapsule::new_with_value(py, exported, SCHEMA_NAME)
}

/// Hands a reader to whoever takes the capsule.
pub(crate) fn stream<'py>(
    py: Python<'py>,
    reader: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'py, PyCapsule>> {
    // Dropping it releases the reader, unless a consumer has moved it away.
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), NAME)
}

/// Takes the stream of an object that has one; `None` if it has none.
pub(crate) fn reader(object: &Bound<'_, PyAny>) -> PyResult<Option<Received>> {
    let Some(export) = object.getattr_opt("__arrow_c_stream__")? else { return Ok(None) };
    let exported = export.call0()?;
    let capsule = exported.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(NAME))?;
    // SAFETY: the name says what the capsule holds. Its content is moved out, which leaves a released stream behind, as the
    // interface demands.
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr().cast()) };
    let received = |reader| Some(Received { reader, ahead: VecDeque::new(), is_all: false, is_over: None });
    reader.map(received).map_err(|failed| PyTypeError::new_err(failed.to_string()))
}

/// A stream of another library.
pub(crate) struct Received {
    reader: RecordBatchStreamReader,
    /// Batches that were looked at.
    ahead: VecDeque<RecordBatch>,
    /// These are all.
    is_all: bool,
    /// Nothing more is asked for once this is set.
    is_over: Option<&'static AtomicBool>,
}

impl Received {
    /// Ends with an error once `is_over` is set. A producer may run Python code, which a thread of ours must not do when the
    /// interpreter ends: Python ends such threads in the middle of other libraries' functions, which aborts the process.
    pub(crate) fn until(mut self, is_over: &'static AtomicBool) -> Self {
        self.is_over = Some(is_over);
        self
    }

    /// Asks the producer.
    fn pull(&mut self) -> Option<Result<RecordBatch, ArrowError>> {
        if self.is_over.is_some_and(|is_over| is_over.load(Ordering::SeqCst)) {
            let text = "the interpreter is shutting down".to_owned();
            return Some(Err(ArrowError::CDataInterface(text)));
        }
        self.reader.next()
    }

    /// Reads batches, up to so many bytes.
    pub(crate) fn look_ahead(&mut self, bytes: usize) -> Result<(), ArrowError> {
        let mut size = 0;
        while size < bytes {
            let Some(batch) = self.pull().transpose()? else {
                self.is_all = true;
                break;
            };
            size += size_of_rows(&batch);
            self.ahead.push_back(batch);
        }
        Ok(())
    }

    /// The batches, if all have been looked at and there are rows.
    pub(crate) fn all(&self) -> Option<&VecDeque<RecordBatch>> {
        let has_rows = self.ahead.iter().any(|batch| batch.num_rows() > 0);
        (self.is_all && has_rows).then_some(&self.ahead)
    }
}

impl Iterator for Received {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.ahead.pop_front().map(Ok).or_else(|| self.pull())
    }
}

impl RecordBatchReader for Received {
    fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }
}
