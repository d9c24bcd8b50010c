//! Batches of a result for Arrow's consumers.

use crate::capsule;
use crate::failure::Failure;
use crate::flow::convert;
use arrow::array::{RecordBatch, RecordBatchIterator};
use arrow::datatypes::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// Batches that have arrived.
#[pyclass(frozen, module = "firearrow._core")]
pub(crate) struct Batches {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Batches {
    pub(crate) fn new<'a>(
        schema: SchemaRef,
        batches: impl IntoIterator<Item = &'a RecordBatch>,
    ) -> Result<Self, Failure> {
        let batches = batches.into_iter().map(|batch| convert(batch, &schema));
        let batches = batches.collect::<Result<_, _>>()?;
        Ok(Self { schema, batches })
    }

    /// Batches that have these columns.
    pub(crate) fn of(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }
}

#[pymethods]
impl Batches {
    fn __len__(&self) -> usize {
        self.batches.len()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The consumer converts.
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        capsule::stream(py, RecordBatchIterator::new(batches, self.schema.clone()))
    }
}
