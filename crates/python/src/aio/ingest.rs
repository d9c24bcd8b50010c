//! Arrow data into a table.

use super::cursor::{Cursor, Inner};
use super::operation::{Operation, spawn_writing};
use super::runtime::IS_OVER;
use super::transaction::Transaction;
use crate::api::Asynchronous;
use crate::capsule::Received;
use crate::failure::Failure;
use crate::flow;
use crate::lock::lock;
use crate::options::Bounded;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// An ingestion: `define`, then `insert` in a transaction that begins when the table exists.
#[pyclass(frozen, name = "AioIngestion", module = "firearrow._core")]
pub(crate) struct Ingestion {
    inner: Arc<Inner>,
    ingestion: Arc<flow::Ingestion>,
    rows: Arc<Mutex<Option<Received>>>,
}

#[pymethods]
impl Cursor {
    #[pyo3(signature = (data, table, mode, text=None))]
    fn ingestion(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        table: &str,
        mode: &str,
        text: Option<Bounded<u16>>,
    ) -> PyResult<Ingestion> {
        let inner = self.here(py)?;
        let (ingestion, rows) = flow::Ingestion::new(py, data, table, mode, text.map(|length| length.0))?;
        let rows = rows.until(&IS_OVER);
        Ok(Ingestion { inner, ingestion: Arc::new(ingestion), rows: Arc::new(Mutex::new(Some(rows))) })
    }
}

#[pymethods]
impl Ingestion {
    /// Makes the table unless it exists. `has_begun`: whether the transaction for the rows has, which would not see a new table.
    fn define(&self, py: Python<'_>, has_begun: bool) -> PyResult<Operation> {
        let (inner, ingestion, rows) =
            (Arc::clone(&self.inner), Arc::clone(&self.ingestion), Arc::clone(&self.rows));
        let taken = lock(py, &rows).take();
        let define = async move {
            let mut taken = taken.ok_or(Failure::Internal("the rows were sent already"))?;
            // The producer may wait for other calls, which need this thread and the connection.
            let looking = Arc::clone(&ingestion);
            let looked =
                tokio::task::spawn_blocking(move || looking.look_ahead(&mut taken).map(|()| taken)).await;
            let taken = looked.map_err(|_| Failure::Internal("reading the rows panicked"))??;
            let connection = inner.shared.enter().await?;
            let has_firebird4 = inner.shared.facts.has_firebird4;
            ingestion.define::<Asynchronous>(&connection, taken.all(), has_firebird4, has_begun).await?;
            *rows.lock().unwrap_or_else(PoisonError::into_inner) = Some(taken);
            Ok(())
        };
        spawn_writing(py, define, |py, ()| Ok(py.None()))
    }

    /// Inserts the rows. The result is their number.
    fn insert(&self, py: Python<'_>, transaction: &Transaction) -> PyResult<Operation> {
        let (place, ingestion) = (transaction.here(py)?, Arc::clone(&self.ingestion));
        let rows = lock(py, &self.rows).take();
        let insert = async move {
            let rows = rows.ok_or(Failure::Internal("the rows were sent already"))?;
            let mut held = place.call().await?;
            Ok(ingestion.insert::<Asynchronous>(&mut held.0, rows).await?)
        };
        spawn_writing(py, insert, |py, done| {
            let count = flow::Ingestion::tell(py, done)?;
            Ok(count.into_pyobject(py)?.into_any().unbind())
        })
    }
}
