//! Connections.

use super::operation::{Operation, spawn, spawn_plain, to_its_end};
use super::runtime;
use super::transaction::{Slot, Transaction};
use crate::config;
use crate::dependent::Dependents;
use crate::facts::Facts;
use crate::failure::Failure;
use crate::info::{described, statistics, texts};
use crate::options::{Bounded, duration};
use firearrow::asynchronous;
use firearrow::config::Target;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};
use tokio::time::timeout;

/// How often those that delay the end of a connection are cancelled again: they may have been between two calls.
const AGAIN: Duration = Duration::from_millis(50);

/// How long the end of a connection waits for what was dropped before.
const LEAVING: Duration = Duration::from_secs(5);

/// The right to use a connection, which is not closed meanwhile. A call gets it first and drops it last, so that nothing is
/// in use when the connection ends.
pub(super) type Use = OwnedRwLockReadGuard<Option<asynchronous::Connection>, asynchronous::Connection>;

/// A connection, which its transactions and cursors share.
pub(crate) struct Shared {
    /// Read-locked by calls, once each, before they lock anything else.
    connection: Arc<RwLock<Option<asynchronous::Connection>>>,
    /// Since the beginning of its end.
    is_closed: AtomicBool,
    pub(super) dependents: Dependents,
    pub(super) facts: Facts,
}

impl Shared {
    fn new(connection: asynchronous::Connection) -> Self {
        let facts =
            Facts::new(connection.cancel_handle(), connection.has_firebird4(), connection.read_options());
        let connection = Arc::new(RwLock::new(Some(connection)));
        Self { connection, is_closed: AtomicBool::new(false), dependents: Dependents::default(), facts }
    }

    /// Begins a call.
    pub(super) async fn enter(&self) -> Result<Use, Failure> {
        if self.is_closed() {
            return Err(Failure::Closed);
        }
        let connection = Arc::clone(&self.connection).read_owned().await;
        OwnedRwLockReadGuard::try_map(connection, Option::as_ref).map_err(|_| Failure::Closed)
    }

    fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }

    /// Asks what is known without waiting; `None` once the connection ends.
    fn known<T>(&self, ask: impl FnOnce(&asynchronous::Connection) -> T) -> Option<T> {
        if self.is_closed() {
            return None;
        }
        self.connection.try_read().ok()?.as_ref().map(ask)
    }

    /// Waits for calls to end, which are cancelled.
    async fn exclusive(&self) -> OwnedRwLockWriteGuard<Option<asynchronous::Connection>> {
        loop {
            self.facts.cancel.cancel();
            if let Ok(connection) = timeout(AGAIN, Arc::clone(&self.connection).write_owned()).await {
                return connection;
            }
        }
    }

    /// Limits what the server still has to do. What was dropped before may be ending, and is cancelled after a while.
    async fn leave(&self, connection: &asynchronous::Connection) {
        let mut leaving = pin!(connection.leave());
        let mut patience = LEAVING;
        while timeout(patience, &mut leaving).await.is_err() {
            self.facts.cancel.cancel();
            patience = AGAIN;
        }
    }

    /// Takes the connection away from everybody; its transactions are rolled back. With `leaves`, the server has a few seconds.
    async fn take(&self, leaves: bool) -> Option<asynchronous::Connection> {
        let mut connection = self.exclusive().await;
        let taken = connection.take();
        if let Some(taken) = taken.as_ref().filter(|_| leaves) {
            self.leave(taken).await;
        }
        self.dependents.end();
        taken
    }
}

impl Drop for Shared {
    /// Nobody closed it: that happens in the background.
    fn drop(&mut self) {
        let connection = mem::take(&mut self.connection);
        match self.facts.is_owner_process() {
            true => runtime::within(|| drop(connection)),
            // Not a byte may go to the server from here.
            false => mem::forget(connection),
        }
    }
}

#[pyclass(frozen, name = "AioConnection", module = "firearrow._core")]
pub(crate) struct Connection {
    pub(super) shared: Arc<Shared>,
}

#[pymethods]
impl Connection {
    #[staticmethod]
    #[pyo3(signature = (database, options, create=false))]
    fn open(
        py: Python<'_>,
        database: &str,
        options: &Bound<'_, PyDict>,
        create: bool,
    ) -> PyResult<Operation> {
        let config = config::read(py, database, options)?;
        let is_here = matches!(config.target, Target::Embedded { .. });
        let open = async move {
            Ok(match create {
                true => asynchronous::Connection::create(&config).await?,
                false => asynchronous::Connection::open(&config).await?,
            })
        };
        let open = async move {
            // An engine in this process does not stop in the middle.
            if is_here { to_its_end(open).await } else { open.await }
        };
        spawn(py, open, |py, connection| {
            let connection = Self { shared: Arc::new(Shared::new(connection)) };
            Ok(Py::new(py, connection)?.into_any())
        })
    }

    /// Begins a transaction, which the server learns of with its first statement.
    #[pyo3(signature = (isolation=None, read_only=false, lock_timeout=None, snapshot=None))]
    fn begin(
        &self,
        py: Python<'_>,
        isolation: Option<&str>,
        read_only: bool,
        lock_timeout: Option<Bounded<f64>>,
        snapshot: Option<Bounded<u64>>,
    ) -> PyResult<Transaction> {
        self.shared.facts.check_process(py)?;
        let options = self.shared.facts.transaction(py, isolation, read_only, lock_timeout, snapshot)?;
        if self.shared.is_closed() {
            return Err(Failure::Closed.into_exception(py));
        }
        Ok(Transaction::new(&self.shared, options))
    }

    /// Takes over a transaction in limbo.
    fn recover(&self, py: Python<'_>, number: Bounded<u64>) -> PyResult<Operation> {
        self.shared.facts.check_process(py)?;
        let shared = Arc::clone(&self.shared);
        let take = async move {
            let connection = shared.enter().await?;
            let taken = connection.recover(number.0).await?;
            Ok(Transaction::of(&shared, Slot::Running(taken)))
        };
        spawn(py, take, |py, transaction| Ok(transaction.into_pyobject(py)?.into_any().unbind()))
    }

    /// How the transactions of single statements begin, in autocommit mode.
    fn set_single(
        &self,
        py: Python<'_>,
        isolation: Option<&str>,
        read_only: bool,
        lock_timeout: Option<Bounded<f64>>,
    ) -> PyResult<()> {
        let facts = &self.shared.facts;
        facts.set_single(facts.transaction(py, isolation, read_only, lock_timeout, None)?);
        Ok(())
    }

    #[getter]
    fn is_open(&self) -> bool {
        !self.shared.is_closed()
    }

    #[getter]
    fn is_alive(&self, py: Python<'_>) -> PyResult<bool> {
        self.shared.facts.check_process(py)?;
        Ok(self.shared.known(asynchronous::Connection::is_alive).unwrap_or(false))
    }

    fn ping(&self, py: Python<'_>) -> PyResult<Operation> {
        self.shared.facts.check_process(py)?;
        let shared = Arc::clone(&self.shared);
        spawn_plain(py, async move { Ok(shared.enter().await?.ping().await?) })
    }

    fn reset(&self, py: Python<'_>) -> PyResult<Operation> {
        self.shared.facts.check_process(py)?;
        let shared = Arc::clone(&self.shared);
        spawn_plain(py, async move { Ok(shared.enter().await?.reset().await?) })
    }

    /// Cancels what other tasks run on it.
    fn cancel(&self) {
        self.shared.facts.cancel.cancel();
    }

    #[pyo3(signature = (statement=None, idle=None))]
    fn limit(
        &self,
        py: Python<'_>,
        statement: Option<Bounded<f64>>,
        idle: Option<Bounded<f64>>,
    ) -> PyResult<Operation> {
        let time = |seconds: Option<Bounded<f64>>| seconds.map(|seconds| duration(py, seconds.0)).transpose();
        let (statement, idle) = (time(statement)?, time(idle)?);
        self.shared.facts.check_process(py)?;
        let shared = Arc::clone(&self.shared);
        spawn_plain(py, async move { Ok(shared.enter().await?.limit_session(statement, idle).await?) })
    }

    fn info(&self, py: Python<'_>) -> PyResult<Operation> {
        self.shared.facts.check_process(py)?;
        let shared = Arc::clone(&self.shared);
        let ask = async move { Ok(shared.enter().await?.info().await?) };
        spawn(py, ask, |py, info| Ok(described(py, info)?.into_any().unbind()))
    }

    fn wire_stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = self.shared.known(asynchronous::Connection::wire_stats);
        statistics(py, &stats.ok_or_else(|| Failure::Closed.into_exception(py))?)
    }

    fn warnings(&self, py: Python<'_>) -> PyResult<(Vec<String>, Vec<String>)> {
        let warnings = self
            .shared
            .known(|connection| texts(connection.warnings(), &connection.take_statement_warnings()));
        warnings.ok_or_else(|| Failure::Closed.into_exception(py))
    }

    fn close(&self, py: Python<'_>) -> PyResult<Operation> {
        self.end(py, false)
    }

    fn drop_database(&self, py: Python<'_>) -> PyResult<Operation> {
        self.end(py, true)
    }
}

impl Connection {
    /// Ends it, in the background if the caller goes away.
    fn end(&self, py: Python<'_>, with_database: bool) -> PyResult<Operation> {
        self.shared.facts.check_process(py)?;
        if self.shared.is_closed.swap(true, Ordering::SeqCst) {
            return Ok(Operation::ready(py.None()));
        }
        let shared = Arc::clone(&self.shared);
        let end = async move {
            match shared.take(!with_database).await {
                Some(connection) if with_database => connection.drop_database().await?,
                // One that has failed is closed.
                Some(connection) if !connection.is_failed() => connection.close().await?,
                _ => {}
            }
            Ok(())
        };
        spawn_plain(py, to_its_end(end))
    }
}
