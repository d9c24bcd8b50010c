//! Queries in parts, which several connections read, in threads or processes.

use crate::capsule;
use crate::connection::{Connection, Part};
use crate::error;
use crate::failure::OTHER_PROCESS;
use crate::options::Bounded;
use crate::params::{Sql, is_mapping, single};
use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use firearrow::{BatchLimits, CancelToken, Cursor, Params, Partition, PartitionOptions, PartitionedQuery};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use std::io;
use std::sync::Arc;

/// A query in parts. It holds the snapshot that they read.
#[pyclass(frozen, module = "firearrow._core")]
pub(crate) struct Partitions {
    query: Arc<Part<PartitionedQuery>>,
    schema: SchemaRef,
    descriptors: Vec<Vec<u8>>,
    #[pyo3(get)]
    why_plain: Option<String>,
}

#[pymethods]
impl Partitions {
    /// Divides a query into at most so many parts.
    #[new]
    #[pyo3(signature = (connection, sql, parameters=None, most=None, without_snapshot=false))]
    fn new(
        py: Python<'_>,
        connection: &Connection,
        sql: &str,
        parameters: Option<&Bound<'_, PyAny>>,
        most: Option<Bounded<usize>>,
        without_snapshot: bool,
    ) -> PyResult<Self> {
        let (sql, params, options) = wanted(py, sql, parameters, most)?;
        let options = options.without_snapshot(without_snapshot);
        let shared = &connection.shared;
        shared.call(py, || {
            let (query, descriptors) = shared.run(py, |connection| {
                let query = connection.partition(&sql, params, &options)?;
                let descriptors = to_bytes(query.partitions())?;
                Ok((query, descriptors))
            })?;
            let (schema, why_plain) = (query.schema(), query.why_plain().map(ToString::to_string));
            Ok(Self { query: Part::new(shared, query), schema, descriptors, why_plain })
        })
    }

    fn descriptors<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        self.descriptors.iter().map(|bytes| PyBytes::new(py, bytes)).collect()
    }

    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::schema(py, &self.schema)
    }

    /// Lets its snapshot go.
    fn close(&self, py: Python<'_>) {
        self.query.close(py);
    }
}

/// What is divided, with its parameters, and into how many parts.
pub(crate) fn wanted(
    py: Python<'_>,
    sql: &str,
    parameters: Option<&Bound<'_, PyAny>>,
    most: Option<Bounded<usize>>,
) -> PyResult<(String, Params, PartitionOptions)> {
    let sql = Sql::new(py, sql, parameters.is_some_and(is_mapping))?;
    let values = sql.early_values(py, parameters)?.ok_or_else(|| {
        error::programming(
            py,
            "a query in parts takes str, int, float, bool, bytes, Decimal, date and datetime",
        )
    })?;
    let options = PartitionOptions::default().wanted(most.map_or(0, |most| most.0));
    Ok((sql.text, single(values), options))
}

pub(crate) fn to_bytes(partitions: &[Partition]) -> firearrow::Result<Vec<Vec<u8>>> {
    partitions.iter().map(Partition::to_bytes).collect()
}

#[pymethods]
impl Connection {
    /// Reads a part of a query, by the capsule of an Arrow stream.
    fn read_partition<'py>(&self, py: Python<'py>, descriptor: &[u8]) -> PyResult<Bound<'py, PyCapsule>> {
        let stream = self.shared.call(py, || {
            let cursor = self.shared.run(py, |connection| {
                connection.read_partition(&Partition::from_bytes(descriptor)?, BatchLimits::default())
            })?;
            let schema = cursor.schema();
            let part = Part::new(&self.shared, cursor);
            Ok(Stream { schema, part, token: CancelToken::new(), is_over: false })
        })?;
        capsule::stream(py, stream)
    }
}

/// The rows of one part of a query.
struct Stream {
    schema: SchemaRef,
    part: Arc<Part<Cursor>>,
    token: CancelToken,
    is_over: bool,
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let lost = |why: &'static str| Some(Err(ArrowError::IoError(why.to_owned(), io::Error::other(why))));
        let shared = &self.part.shared;
        if !shared.facts.is_owner_process() {
            return lost(OTHER_PROCESS);
        }
        let closed = "the connection of this stream was closed before all rows were read";
        let Some(_call) = shared.calls.enter() else { return lost(closed) };
        let mut held = self.part.lock_detached();
        let Some(cursor) = &mut *held else { return lost(closed) };
        match self.token.run(|| cursor.next_batch()) {
            Ok(Some(batch)) => return Some(Ok(batch)),
            Ok(None) => {}
            Err(_) if shared.calls.is_closing() => return lost(closed),
            Err(failed) => {
                self.is_over = true;
                return Some(Err(ArrowError::ExternalError(Box::new(failed))));
            }
        }
        self.is_over = true;
        // Its transaction ends with it.
        drop(held.take());
        None
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
