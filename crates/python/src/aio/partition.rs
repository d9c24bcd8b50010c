//! Queries in parts, which several connections read.

use super::connection::{Connection, Shared};
use super::operation::{Operation, spawn, spawn_plain};
use super::runtime;
use crate::batches::Batches;
use crate::capsule;
use crate::dependent::Dependent;
use crate::failure::Failure;
use crate::options::Bounded;
use crate::partition::{to_bytes, wanted};
use arrow::datatypes::SchemaRef;
use firearrow::asynchronous::{Cursor, PartitionedQuery};
use firearrow::{BatchLimits, Partition};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use std::mem;
use std::sync::{Arc, Weak};
use tokio::sync::Mutex;

/// Part of a connection, which ends it; `None` once it has ended.
struct Inner<T: Send + 'static> {
    shared: Arc<Shared>,
    /// Locked by the call that runs.
    value: Arc<Mutex<Option<T>>>,
}

impl<T: Send> Dependent for Inner<T> {
    fn end(&self) {
        // No call is running: they keep the connection from ending.
        if let Ok(mut value) = self.value.try_lock() {
            *value = None;
        }
    }
}

impl<T: Send> Drop for Inner<T> {
    fn drop(&mut self) {
        let value = mem::take(&mut self.value);
        runtime::within(|| self.shared.facts.discard(value));
    }
}

impl<T: Send> Inner<T> {
    /// Called while the connection is in use.
    fn new(shared: &Arc<Shared>, value: T) -> Arc<Self> {
        let value = Arc::new(Mutex::new(Some(value)));
        let inner = Arc::new(Self { shared: Arc::clone(shared), value });
        let weak: Weak<Self> = Arc::downgrade(&inner);
        shared.dependents.adopt(weak);
        inner
    }

    /// Lets it go.
    fn close(self: &Arc<Self>, py: Python<'_>) -> PyResult<Operation> {
        if !self.shared.facts.is_owner_process() {
            return Ok(Operation::ready(py.None()));
        }
        let inner = Arc::clone(self);
        spawn_plain(py, async move {
            // A connection that ends has ended this, too.
            let Ok(_connection) = inner.shared.enter().await else { return Ok(()) };
            *inner.value.lock().await = None;
            Ok(())
        })
    }
}

/// A query in parts. It holds the snapshot that they read.
#[pyclass(frozen, name = "AioPartitions", module = "firearrow._core")]
pub(crate) struct Partitions {
    query: Arc<Inner<PartitionedQuery>>,
    schema: SchemaRef,
    descriptors: Vec<Vec<u8>>,
    #[pyo3(get)]
    why_plain: Option<String>,
}

#[pymethods]
impl Partitions {
    /// Divides a query into at most so many parts.
    #[staticmethod]
    #[pyo3(signature = (connection, sql, parameters=None, most=None, without_snapshot=false))]
    fn open(
        py: Python<'_>,
        connection: &Connection,
        sql: &str,
        parameters: Option<&Bound<'_, PyAny>>,
        most: Option<Bounded<usize>>,
        without_snapshot: bool,
    ) -> PyResult<Operation> {
        connection.shared.facts.check_process(py)?;
        let (sql, params, options) = wanted(py, sql, parameters, most)?;
        let options = options.without_snapshot(without_snapshot);
        let shared = Arc::clone(&connection.shared);
        let open = async move {
            let connection = shared.enter().await?;
            let query = connection.partition(&sql, params, &options).await?;
            let descriptors = to_bytes(query.partitions())?;
            let (schema, why_plain) = (query.schema(), query.why_plain().map(ToString::to_string));
            Ok(Self { query: Inner::new(&shared, query), schema, descriptors, why_plain })
        };
        spawn(py, open, |py, parts| Ok(Py::new(py, parts)?.into_any()))
    }

    fn descriptors<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        self.descriptors.iter().map(|bytes| PyBytes::new(py, bytes)).collect()
    }

    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::schema(py, &self.schema)
    }

    /// Lets its snapshot go.
    fn close(&self, py: Python<'_>) -> PyResult<Operation> {
        self.query.close(py)
    }
}

/// The rows of one part of a query.
#[pyclass(frozen, name = "AioPart", module = "firearrow._core")]
pub(crate) struct Part {
    rows: Arc<Inner<Cursor>>,
    schema: SchemaRef,
}

#[pymethods]
impl Part {
    #[staticmethod]
    fn open(py: Python<'_>, connection: &Connection, descriptor: &[u8]) -> PyResult<Operation> {
        connection.shared.facts.check_process(py)?;
        let (shared, descriptor) = (Arc::clone(&connection.shared), descriptor.to_vec());
        let open = async move {
            let connection = shared.enter().await?;
            let partition = Partition::from_bytes(&descriptor)?;
            let rows = connection.read_partition(&partition, BatchLimits::default()).await?;
            let schema = rows.schema();
            Ok(Self { rows: Inner::new(&shared, rows), schema })
        };
        spawn(py, open, |py, part| Ok(Py::new(py, part)?.into_any()))
    }

    /// Waits for up to `most` batches of the rows that are left; all without it.
    #[pyo3(signature = (most=None))]
    fn batches(&self, py: Python<'_>, most: Option<usize>) -> PyResult<Operation> {
        self.rows.shared.facts.check_process(py)?;
        let (rows, schema) = (Arc::clone(&self.rows), Arc::clone(&self.schema));
        let read = async move {
            let _connection = rows.shared.enter().await?;
            let mut cursor = rows.value.lock().await;
            let cursor = cursor.as_mut().ok_or(Failure::Interface("the part is closed"))?;
            let mut batches = Vec::new();
            while batches.len() < most.unwrap_or(usize::MAX)
                && let Some(batch) = cursor.next_batch().await?
            {
                batches.push(batch);
            }
            Ok(Batches::of(schema, batches))
        };
        spawn(py, read, |py, batches| Ok(Py::new(py, batches)?.into_any()))
    }

    /// Lets rows go that nobody has read.
    fn close(&self, py: Python<'_>) -> PyResult<Operation> {
        self.rows.close(py)
    }
}
