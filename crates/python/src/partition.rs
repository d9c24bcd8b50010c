//! Queries in parts, which several connections read, in threads or processes.

use crate::capsule;
use crate::connection::{Connection, Dependent, Shared};
use crate::error;
use crate::flow::OTHER_PROCESS;
use crate::options::Bounded;
use crate::params::{Sql, is_mapping, single};
use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use firearrow::{BatchLimits, CancelToken, Cursor, Partition, PartitionOptions, PartitionedQuery};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Something of the client that its connection ends.
struct Held<T> {
    shared: Arc<Shared>,
    value: Mutex<Option<T>>,
}

impl<T: Send + Sync + 'static> Held<T> {
    fn new(shared: &Arc<Shared>, value: T) -> Arc<Self> {
        let held = Arc::new(Self { shared: Arc::clone(shared), value: Mutex::new(Some(value)) });
        let weak: Weak<Self> = Arc::downgrade(&held);
        shared.dependents.adopt(weak);
        held
    }
}

impl<T> Held<T> {
    fn take(&self) -> Option<T> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<T: Send + Sync> Dependent for Held<T> {
    fn end(&self) {
        drop(self.take());
    }
}

impl<T> Drop for Held<T> {
    fn drop(&mut self) {
        let value = self.take();
        let _call = self.shared.calls.enter();
        self.shared.facts.discard(value);
    }
}

/// A query in parts. It holds the snapshot that they read.
#[pyclass(frozen, module = "firearrow._core")]
pub(crate) struct Partitions {
    held: Arc<Held<PartitionedQuery>>,
    descriptors: Vec<Vec<u8>>,
    #[pyo3(get)]
    why_plain: Option<String>,
}

#[pymethods]
impl Partitions {
    /// Divides a query into at most so many parts.
    #[new]
    #[pyo3(signature = (connection, sql, parameters=None, most=None))]
    fn new(
        py: Python<'_>,
        connection: &Connection,
        sql: &str,
        parameters: Option<&Bound<'_, PyAny>>,
        most: Option<Bounded<usize>>,
    ) -> PyResult<Self> {
        let sql = Sql::new(py, sql, parameters.is_some_and(is_mapping))?;
        let values = sql.early_values(py, parameters)?.ok_or_else(|| {
            error::programming(
                py,
                "a query in parts takes str, int, float, bool, bytes, Decimal, date and datetime",
            )
        })?;
        let options = PartitionOptions::default().wanted(most.map_or(0, |most| most.0));
        let shared = &connection.shared;
        let (query, descriptors) = shared.run(py, |connection| {
            let query = connection.partition(&sql.text, single(values), &options)?;
            let descriptors = query.partitions().iter().map(Partition::to_bytes);
            let descriptors = descriptors.collect::<firearrow::Result<_>>()?;
            Ok((query, descriptors))
        })?;
        let why_plain = query.why_plain().map(ToString::to_string);
        Ok(Self { held: Held::new(shared, query), descriptors, why_plain })
    }

    fn descriptors<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        self.descriptors.iter().map(|bytes| PyBytes::new(py, bytes)).collect()
    }

    /// Lets its snapshot go.
    fn close(&self, py: Python<'_>) {
        let shared = &self.held.shared;
        // A connection that ends ends this, too.
        if let Some(_call) = shared.calls.enter().filter(|_| shared.facts.is_here()) {
            let query = self.held.take();
            py.detach(|| drop(query));
        }
    }
}

#[pymethods]
impl Connection {
    /// Reads a part of a query, by the capsule of an Arrow stream.
    fn read_partition<'py>(&self, py: Python<'py>, descriptor: &[u8]) -> PyResult<Bound<'py, PyCapsule>> {
        let cursor = self.shared.run(py, |connection| {
            connection.read_partition(&Partition::from_bytes(descriptor)?, BatchLimits::default())
        })?;
        let schema = cursor.schema();
        capsule::stream(
            py,
            Part { schema, held: Held::new(&self.shared, cursor), token: CancelToken::new(), is_over: false },
        )
    }
}

/// A part that is read.
struct Part {
    schema: SchemaRef,
    held: Arc<Held<Cursor>>,
    token: CancelToken,
    is_over: bool,
}

impl Iterator for Part {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let lost = |why: &'static str| Some(Err(ArrowError::IoError(why.to_owned(), io::Error::other(why))));
        let shared = &self.held.shared;
        if !shared.facts.is_here() {
            return lost(OTHER_PROCESS);
        }
        let closed = "the connection of this stream was closed before all rows were read";
        let Some(_call) = shared.calls.enter() else { return lost(closed) };
        let mut held = self.held.value.lock().unwrap_or_else(PoisonError::into_inner);
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

impl RecordBatchReader for Part {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
