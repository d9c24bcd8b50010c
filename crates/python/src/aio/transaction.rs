//! Transactions.

use super::connection::{Shared, Use};
use super::operation::{Operation, spawn, spawn_plain};
use super::runtime;
use crate::api::{Api, Asynchronous};
use crate::dependent::Dependent;
use crate::facts::Facts;
use crate::failure::Failure;
use crate::flow::Given;
use firearrow::TransactionOptions;
use firearrow::asynchronous;
use pyo3::prelude::*;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use tokio::sync::{Mutex, OwnedMappedMutexGuard, OwnedMutexGuard};

pub(super) enum Slot {
    /// Begins with the first call.
    Fresh(TransactionOptions),
    Running(asynchronous::Transaction),
    Ended,
}

/// A transaction while a call uses it.
pub(super) type Running = OwnedMappedMutexGuard<Slot, asynchronous::Transaction>;

/// A transaction, which cursors use and its connection ends.
pub(crate) struct Inner {
    pub(super) shared: Arc<Shared>,
    slot: Arc<Mutex<Slot>>,
    is_over: AtomicBool,
}

impl Dependent for Inner {
    fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        // No call is running: they keep the connection from ending.
        if let Ok(mut slot) = self.slot.try_lock() {
            *slot = Slot::Ended;
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let slot = mem::replace(&mut self.slot, Arc::new(Mutex::const_new(Slot::Ended)));
        runtime::within(|| self.shared.facts.discard(slot));
    }
}

impl Inner {
    /// Waits for its turn, and begins the transaction if nobody has.
    pub(super) async fn enter(&self, connection: &asynchronous::Connection) -> Result<Running, Failure> {
        let mut slot = Arc::clone(&self.slot).lock_owned().await;
        if let Slot::Fresh(options) = *slot {
            *slot = Slot::Running(connection.begin_lazy(options).await?);
        }
        match OwnedMutexGuard::try_map(slot, |slot| match slot {
            Slot::Running(running) => Some(running),
            _ => None,
        }) {
            Ok(running) => Ok(running),
            Err(_) => Err(Failure::Ended),
        }
    }

    /// Begins a call that uses the transaction. The first part of the result has to be dropped first: see [`Use`].
    pub(super) async fn call(&self) -> Result<(Running, Use), Failure> {
        let connection = self.shared.enter().await?;
        let running = self.enter(&connection).await?;
        Ok((running, connection))
    }

    /// Ends it with a commit, or with a rollback.
    fn end(self: &Arc<Self>, py: Python<'_>, is_commit: bool) -> PyResult<Operation> {
        self.shared.facts.check_process(py)?;
        if self.is_over.swap(true, Ordering::SeqCst) {
            return Err(Failure::Ended.into_exception(py));
        }
        if let Ok(mut slot) = self.slot.try_lock()
            && let Slot::Fresh(_) = *slot
        {
            *slot = Slot::Ended;
            return Ok(Operation::ready(py.None()));
        }
        let inner = Arc::clone(self);
        spawn_plain(py, async move {
            let _connection = inner.shared.enter().await?;
            let mut slot = inner.slot.lock().await;
            match mem::replace(&mut *slot, Slot::Ended) {
                Slot::Running(running) if is_commit => running.commit().await?,
                Slot::Running(running) => running.rollback().await?,
                Slot::Fresh(_) => {}
                Slot::Ended => return Err(Failure::Ended),
            }
            Ok(())
        })
    }
}

/// Where a statement is executed.
#[derive(Clone)]
pub(super) struct Place {
    /// `None` = in a transaction of its own.
    transaction: Option<Arc<Inner>>,
    /// How that begins.
    single: TransactionOptions,
}

impl Place {
    pub(super) fn new(facts: &Facts, transaction: Option<&Transaction>) -> Self {
        Self { transaction: transaction.map(|given| Arc::clone(&given.inner)), single: facts.single() }
    }

    /// Begins a call of a connection in this place.
    pub(super) async fn enter<'a>(&self, connection: &'a Use) -> Result<Held<'a>, Failure> {
        let running = match &self.transaction {
            Some(inner) => Some(inner.enter(connection).await?),
            None => None,
        };
        Ok(Held { connection, running, single: self.single })
    }
}

/// A connection and a place on it, while a call uses them.
pub(super) struct Held<'a> {
    connection: &'a Use,
    running: Option<Running>,
    single: TransactionOptions,
}

impl Held<'_> {
    /// The transaction, or a new one.
    pub(super) async fn given(&mut self) -> Result<Given<'_, Asynchronous>, Failure> {
        Ok(match &mut self.running {
            Some(running) => Given::Callers(&mut **running),
            None => Given::Own(Asynchronous::begin(self.connection, self.single).await?),
        })
    }

    /// The caller's transaction, without which there is an error.
    pub(super) fn running(&mut self) -> Result<&mut asynchronous::Transaction, Failure> {
        match &mut self.running {
            Some(running) => Ok(running),
            None => Err(Failure::Programming("many rows need a transaction")),
        }
    }
}

#[pyclass(frozen, name = "AioTransaction", module = "firearrow._core")]
pub(crate) struct Transaction {
    pub(super) inner: Arc<Inner>,
}

impl Transaction {
    pub(super) fn new(shared: &Arc<Shared>, options: TransactionOptions) -> Self {
        Self::of(shared, Slot::Fresh(options))
    }

    pub(super) fn of(shared: &Arc<Shared>, slot: Slot) -> Self {
        let slot = Arc::new(Mutex::new(slot));
        let inner = Arc::new(Inner { shared: Arc::clone(shared), slot, is_over: AtomicBool::new(false) });
        let weak: Weak<Inner> = Arc::downgrade(&inner);
        shared.dependents.adopt(weak);
        Self { inner }
    }

    pub(super) fn here(&self, py: Python<'_>) -> PyResult<Arc<Inner>> {
        self.inner.shared.facts.check_process(py)?;
        Ok(Arc::clone(&self.inner))
    }
}

#[pymethods]
impl Transaction {
    #[getter]
    fn is_open(&self) -> bool {
        !self.inner.is_over.load(Ordering::SeqCst)
    }

    fn commit(&self, py: Python<'_>) -> PyResult<Operation> {
        self.inner.end(py, true)
    }

    fn rollback(&self, py: Python<'_>) -> PyResult<Operation> {
        self.inner.end(py, false)
    }

    fn prepare_commit(&self, py: Python<'_>, message: Vec<u8>) -> PyResult<Operation> {
        let inner = self.here(py)?;
        spawn_plain(py, async move { Ok(inner.call().await?.0.prepare_commit(&message).await?) })
    }

    fn commit_retaining(&self, py: Python<'_>) -> PyResult<Operation> {
        let inner = self.here(py)?;
        spawn_plain(py, async move { Ok(inner.call().await?.0.commit_retaining().await?) })
    }

    fn rollback_retaining(&self, py: Python<'_>) -> PyResult<Operation> {
        let inner = self.here(py)?;
        spawn_plain(py, async move { Ok(inner.call().await?.0.rollback_retaining().await?) })
    }

    fn number(&self, py: Python<'_>) -> PyResult<Operation> {
        let inner = self.here(py)?;
        let ask = async move { Ok(inner.call().await?.0.number().await?) };
        spawn(py, ask, |py, number| Ok(number.into_pyobject(py)?.into_any().unbind()))
    }

    fn snapshot_number(&self, py: Python<'_>) -> PyResult<Operation> {
        let inner = self.here(py)?;
        let ask = async move { Ok(inner.call().await?.0.snapshot_number().await?) };
        spawn(py, ask, |py, number| Ok(number.into_pyobject(py)?.into_any().unbind()))
    }

    fn savepoint(&self, py: Python<'_>, name: String) -> PyResult<Operation> {
        let inner = self.here(py)?;
        spawn_plain(py, async move { Ok(inner.call().await?.0.savepoint(&name).await?) })
    }

    fn rollback_to_savepoint(&self, py: Python<'_>, name: String) -> PyResult<Operation> {
        let inner = self.here(py)?;
        spawn_plain(py, async move { Ok(inner.call().await?.0.rollback_to_savepoint(&name).await?) })
    }

    fn release_savepoint(&self, py: Python<'_>, name: String) -> PyResult<Operation> {
        let inner = self.here(py)?;
        spawn_plain(py, async move { Ok(inner.call().await?.0.release_savepoint(&name).await?) })
    }
}
