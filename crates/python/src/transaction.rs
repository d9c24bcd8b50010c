//! Transactions.

use crate::connection::{Hurry, Shared};
use crate::dependent::Dependent;
use crate::failure::Failure;
use crate::lock::Held;
use crate::{error, signal};
use pyo3::prelude::*;
use std::sync::{Arc, Weak};

/// A transaction, which cursors use and its connection ends.
pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    transaction: Held<Option<firearrow::Transaction>>,
}

impl Dependent for Inner {
    fn end(&self) {
        // Rolls back.
        drop(self.transaction.lock_detached().and_then(|mut running| running.take()));
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(running) = self.transaction.get_mut().take() {
            self.shared.discard(Hurry::Yes, || drop(running));
        }
    }
}

impl Inner {
    /// Runs `work` in the transaction, while other Python threads run.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut firearrow::Transaction) -> firearrow::Result<T> + Send,
    ) -> PyResult<T> {
        let wait = || {
            signal::wait_briefly(py, || {
                self.shared.end_dropped();
                // `None` where a generator of rows uses the transaction into which they go.
                let Some(mut running) = self.transaction.lock_detached() else { return Ok(None) };
                Ok(Some(running.as_mut().map(work).transpose()?))
            })
        };
        let done = self.shared.call(py, wait)?.ok_or_else(|| in_use(py))?;
        done.ok_or_else(|| ended(py))
    }

    /// Runs the end of the transaction.
    fn end_by(
        &self,
        py: Python<'_>,
        work: impl FnOnce(firearrow::Transaction) -> firearrow::Result<()> + Send,
    ) -> PyResult<()> {
        self.shared.call(py, || {
            let running = self.transaction.lock(py).ok_or_else(|| in_use(py))?.take();
            let running = running.ok_or_else(|| ended(py))?;
            signal::wait_briefly(py, || {
                self.shared.end_dropped();
                work(running)
            })
        })
    }
}

fn in_use(py: Python<'_>) -> PyErr {
    error::programming(py, "the transaction is in use by the call that this code runs in")
}

fn ended(py: Python<'_>) -> PyErr {
    Failure::Ended.into_exception(py)
}

#[pyclass(frozen, module = "firearrow._core")]
pub(crate) struct Transaction {
    pub(crate) inner: Arc<Inner>,
}

impl Transaction {
    pub(crate) fn new(shared: &Arc<Shared>, running: firearrow::Transaction) -> Self {
        let inner = Arc::new(Inner { shared: Arc::clone(shared), transaction: Held::new(Some(running)) });
        let weak: Weak<Inner> = Arc::downgrade(&inner);
        shared.dependents.adopt(weak);
        Self { inner }
    }
}

#[pymethods]
impl Transaction {
    #[getter]
    fn is_open(&self, py: Python<'_>) -> bool {
        self.inner.transaction.lock(py).is_none_or(|running| running.is_some())
    }

    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.inner.end_by(py, firearrow::Transaction::commit)
    }

    fn rollback(&self, py: Python<'_>) -> PyResult<()> {
        self.inner.end_by(py, firearrow::Transaction::rollback)
    }

    fn commit_retaining(&self, py: Python<'_>) -> PyResult<()> {
        self.inner.run(py, |transaction| transaction.commit_retaining())
    }

    fn rollback_retaining(&self, py: Python<'_>) -> PyResult<()> {
        self.inner.run(py, |transaction| transaction.rollback_retaining())
    }

    fn number(&self, py: Python<'_>) -> PyResult<u64> {
        self.inner.run(py, |transaction| transaction.number())
    }

    fn snapshot_number(&self, py: Python<'_>) -> PyResult<u64> {
        self.inner.run(py, |transaction| transaction.snapshot_number())
    }

    fn savepoint(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.inner.run(py, |transaction| transaction.savepoint(name))
    }

    fn rollback_to_savepoint(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.inner.run(py, |transaction| transaction.rollback_to_savepoint(name))
    }

    fn release_savepoint(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.inner.run(py, |transaction| transaction.release_savepoint(name))
    }
}
