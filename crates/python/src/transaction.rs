//! Transactions.

use crate::connection::{Hurry, Shared};
use crate::dependent::Dependent;
use crate::failure::Failure;
use crate::lock::Held;
use crate::{error, signal};
use firearrow::{CancelToken, Kind};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// A transaction, which cursors use and its connection ends.
pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    transaction: Held<Option<firearrow::Transaction>>,
    /// Known without waiting for a call that uses the transaction.
    is_over: AtomicBool,
}

impl Dependent for Inner {
    fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
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
                self.shared.end_dropped()?;
                // `None` where a generator of rows uses the transaction into which they go.
                let Some(mut running) = self.transaction.lock_for()? else { return Ok(None) };
                Ok(Some(running.as_mut().map(work).transpose()?))
            })
        };
        let done = self.shared.call(py, wait)?.ok_or_else(|| in_use(py))?;
        done.ok_or_else(|| ended(py))
    }

    /// Runs the end of the transaction. It goes on if that is refused, or cancelled before it has begun; `work` may also return it.
    fn end_by(
        &self,
        py: Python<'_>,
        work: impl FnOnce(
            firearrow::Transaction,
        ) -> Result<(), (firearrow::Error, Option<firearrow::Transaction>)>
        + Send,
    ) -> PyResult<()> {
        let wait = || {
            signal::wait_briefly(py, || {
                self.shared.end_dropped()?;
                let Some(mut running) = self.transaction.lock_for()? else { return Ok(None) };
                let Some(taken) = running.take() else { return Ok(Some(false)) };
                self.is_over.store(true, Ordering::SeqCst);
                let Err((failed, left)) = work(taken) else { return Ok(Some(true)) };
                self.is_over.store(left.is_none(), Ordering::SeqCst);
                *running = left;
                Err(failed)
            })
        };
        match self.shared.call(py, wait)? {
            Some(true) => Ok(()),
            Some(false) => Err(ended(py)),
            None => Err(in_use(py)),
        }
    }

    /// Commits. If that was cancelled, others may be using the connection, for which its rollback has to wait.
    fn commit(
        &self,
        mut running: firearrow::Transaction,
    ) -> Result<(), (firearrow::Error, Option<firearrow::Transaction>)> {
        running.try_commit().map_err(|failed| {
            match failed.kind() {
                Kind::Cancelled | Kind::Timeout => self.shared.discard(Hurry::Yes, || drop(running)),
                _ => drop(running),
            }
            (failed, None)
        })
    }

    /// Rolls back. Ctrl+C ends the wait for a server that does not answer, and with it the connection.
    fn roll_back(
        &self,
        mut running: firearrow::Transaction,
    ) -> Result<(), (firearrow::Error, Option<firearrow::Transaction>)> {
        if CancelToken::is_over() {
            // A call around this one was cancelled, which must not keep its work.
            return running.rollback().map_err(|failed| (failed, None));
        }
        running.try_rollback().map_err(|failed| {
            let goes_on =
                matches!(failed.kind(), Kind::Cancelled | Kind::Timeout) && !self.shared.has_failed();
            (failed, goes_on.then_some(running))
        })
    }
}

fn in_use(py: Python<'_>) -> PyErr {
    error::programming(
        py,
        "the transaction is already in use by the call within which this code runs (as a signal handler, finaliser or \
         generator)",
    )
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
        let transaction = Held::new(Some(running));
        let inner =
            Arc::new(Inner { shared: Arc::clone(shared), transaction, is_over: AtomicBool::new(false) });
        let weak: Weak<Inner> = Arc::downgrade(&inner);
        shared.dependents.adopt(weak);
        Self { inner }
    }
}

#[pymethods]
impl Transaction {
    #[getter]
    fn is_open(&self) -> bool {
        !self.inner.is_over.load(Ordering::SeqCst)
    }

    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.inner.end_by(py, |running| self.inner.commit(running))
    }

    fn rollback(&self, py: Python<'_>) -> PyResult<()> {
        self.inner.end_by(py, |running| self.inner.roll_back(running))
    }

    fn prepare_commit(&self, py: Python<'_>, message: &[u8]) -> PyResult<()> {
        self.inner.run(py, |transaction| transaction.prepare_commit(message))
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
