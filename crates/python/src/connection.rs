//! Connections.

mod calls;
mod whole;

use crate::flow::Failure;
use crate::options::Bounded;
use crate::transaction::Transaction;
use crate::{config, error, options, signal};
use calls::{Calls, Left};
use firearrow::{CancelHandle, Descriptor, Kind, ReadOptions, StatementKind, TransactionOptions};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;
use std::mem;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::thread;
use std::time::Duration;
use whole::Whole;

/// How long closing waits for calls of other threads, which it cancels. The client gives up a server that does not listen sooner.
const CLOSING: Duration = Duration::from_secs(10);

/// Something of a connection that ends with it.
pub(crate) trait Dependent: Send + Sync {
    /// Ends it. Whoever uses it afterwards is told that it is closed.
    fn end(&self);
}

/// What is known of a connection without asking it.
pub(crate) struct Facts {
    pub(crate) cancel: CancelHandle,
    process: u32,
    pub(crate) is_modern: bool,
    pub(crate) read: ReadOptions,
    /// How the transactions of single statements begin.
    single: Mutex<TransactionOptions>,
    /// DDL that was executed here, counted: what was prepared before it may be outdated.
    definitions: AtomicU64,
}

impl Facts {
    pub(crate) fn new(cancel: CancelHandle, is_modern: bool, read: &ReadOptions) -> Self {
        let (single, definitions) = Default::default();
        Self { cancel, process: process::id(), is_modern, read: read.clone(), single, definitions }
    }

    /// How the transaction of a single statement begins.
    pub(crate) fn single(&self) -> TransactionOptions {
        *self.single.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_single(&self, options: TransactionOptions) {
        *self.single.lock().unwrap_or_else(PoisonError::into_inner) = options;
    }

    /// Changes with each DDL statement.
    pub(crate) fn definitions(&self) -> u64 {
        self.definitions.load(Ordering::SeqCst)
    }

    /// Notes what was executed.
    pub(crate) fn note(&self, kind: StatementKind) {
        if kind == StatementKind::Ddl {
            self.definitions.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Whether this is the process that opened it.
    pub(crate) fn is_here(&self) -> bool {
        self.process == process::id()
    }

    /// Refuses to use the socket of another process.
    pub(crate) fn check_process(&self, py: Python<'_>) -> PyResult<()> {
        match self.is_here() {
            true => Ok(()),
            false => Err(Failure::OtherProcess.into_exception(py)),
        }
    }

    /// Drops something of the connection, whose end may not go to the server from another process.
    pub(crate) fn discard<T>(&self, value: T) {
        match self.is_here() {
            true => drop(value),
            false => mem::forget(value),
        }
    }
}

/// What ends with a connection.
#[derive(Default)]
pub(crate) struct Dependents(Mutex<Vec<Weak<dyn Dependent>>>);

impl Dependents {
    /// Ends something together with the connection.
    pub(crate) fn adopt(&self, dependent: Weak<dyn Dependent>) {
        let mut dependents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if dependents.len() == dependents.capacity() {
            dependents.retain(|dependent| dependent.strong_count() > 0);
        }
        dependents.push(dependent);
    }

    pub(crate) fn end(&self) {
        let dependents = mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for dependent in dependents {
            if let Some(dependent) = dependent.upgrade() {
                dependent.end();
            }
        }
    }
}

/// A connection, which its transactions and cursors share.
pub(crate) struct Shared {
    connection: RwLock<Option<firearrow::Connection>>,
    pub(crate) calls: Calls,
    pub(crate) whole: Whole,
    pub(crate) dependents: Dependents,
    pub(crate) facts: Facts,
}

impl Shared {
    /// Runs a call, which may have several parts that wait: the connection does not end before it.
    pub(crate) fn call<T>(&self, py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        self.facts.check_process(py)?;
        let call = self.calls.enter().ok_or_else(|| closed(py))?;
        let done = work();
        drop(call);
        done.map_err(|failed| match self.calls.is_closing() && is_cancelled(py, &failed) {
            true => {
                let closed = closed_meanwhile(py);
                closed.set_cause(py, Some(failed));
                closed
            }
            false => failed,
        })
    }

    /// Runs `work` with the connection, while other Python threads run.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&firearrow::Connection) -> firearrow::Result<T> + Send,
    ) -> PyResult<T> {
        let wait = || {
            signal::wait(py, || {
                let connection = self.connection.read().unwrap_or_else(PoisonError::into_inner);
                connection.as_ref().map(work).transpose()
            })
        };
        self.call(py, wait)?.ok_or_else(|| closed(py))
    }

    /// The connection's read options with the declared precisions of these columns.
    pub(crate) fn declared(&self, columns: &[Descriptor]) -> firearrow::Result<ReadOptions> {
        let connection = self.connection.read().unwrap_or_else(PoisonError::into_inner);
        match &*connection {
            Some(connection) => connection.declared(columns, &self.facts.read),
            None => Ok(self.facts.read.clone()),
        }
    }

    /// Takes the connection away from everybody; its transactions are rolled back.
    fn take(&self) -> Option<firearrow::Connection> {
        let connection = self.connection.write().unwrap_or_else(PoisonError::into_inner).take();
        self.dependents.end();
        connection
    }

    /// Ends it by `work`, after the calls of other threads, which are cancelled. Otherwise it ends with those that are left.
    fn end(
        self: &Arc<Self>,
        work: impl FnOnce(firearrow::Connection) -> firearrow::Result<()>,
    ) -> firearrow::Result<Left> {
        if !self.calls.refuse() {
            return Ok(Left::Nothing);
        }
        let left = self.calls.wait(CLOSING, || self.facts.cancel.cancel());
        if left == Left::Nothing {
            return self.take().map_or(Ok(()), work).map(|()| left);
        }
        let shared = Arc::clone(self);
        let end_later = move || {
            while shared.calls.wait(CLOSING, || ()) != Left::Nothing {}
            drop(shared.take());
        };
        // Without a thread, it ends with the last of what is its.
        drop(thread::Builder::new().name("firearrow close".into()).spawn(end_later));
        Ok(left)
    }

    fn is_open(&self) -> bool {
        !self.calls.is_closing()
    }
}

impl Drop for Shared {
    /// Nobody closed it. Saying goodbye may take as long as the server likes, so that is not done here: the garbage collector has
    /// to go on.
    fn drop(&mut self) {
        let connection = mem::take(self.connection.get_mut().unwrap_or_else(PoisonError::into_inner));
        let Some(connection) = connection else { return };
        if !self.facts.is_here() {
            // Not a byte may go to the server from here.
            return mem::forget(connection);
        }
        // Without a thread, it is closed here.
        drop(thread::Builder::new().name("firearrow close".into()).spawn(move || drop(connection)));
    }
}

/// The error of a call that the end of its connection has cancelled.
pub(crate) fn closed_meanwhile(py: Python<'_>) -> PyErr {
    error::interface(py, "the connection was closed during this call")
}

fn is_cancelled(py: Python<'_>, failed: &PyErr) -> bool {
    let kind = failed.value(py).getattr(intern!(py, "kind"));
    kind.is_ok_and(|kind| kind.eq("Cancelled").unwrap_or(false))
}

/// The error of anything that needs an open connection.
pub(crate) fn closed(py: Python<'_>) -> PyErr {
    error::interface(py, "the connection is closed")
}

#[pyclass(frozen, module = "firearrow._core")]
pub(crate) struct Connection {
    pub(crate) shared: Arc<Shared>,
}

#[pymethods]
impl Connection {
    #[new]
    #[pyo3(signature = (database, options, create=false))]
    fn open(py: Python<'_>, database: &str, options: &Bound<'_, PyDict>, create: bool) -> PyResult<Self> {
        let config = config::read(py, database, options)?;
        let connection = signal::wait(py, || match create {
            true => firearrow::Connection::create(&config),
            false => firearrow::Connection::open(&config),
        })?;
        let shared = Shared {
            calls: Calls::default(),
            whole: Whole::default(),
            dependents: Dependents::default(),
            facts: Facts::new(
                connection.cancel_handle(),
                connection.has_firebird4(),
                connection.read_options(),
            ),
            connection: RwLock::new(Some(connection)),
        };
        Ok(Self { shared: Arc::new(shared) })
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
        let modern = self.shared.facts.is_modern;
        let options = options::transaction(py, isolation, read_only, lock_timeout, snapshot, modern)?;
        self.begin_with(py, options)
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
        facts.set_single(options::transaction(
            py,
            isolation,
            read_only,
            lock_timeout,
            None,
            facts.is_modern,
        )?);
        Ok(())
    }

    #[getter]
    fn is_open(&self) -> bool {
        self.shared.is_open()
    }

    /// Whether the server still answers as far as is known without asking.
    #[getter]
    fn is_alive(&self, py: Python<'_>) -> PyResult<bool> {
        self.shared.facts.check_process(py)?;
        let connection = self.shared.connection.read().unwrap_or_else(PoisonError::into_inner);
        Ok(connection.as_ref().is_some_and(|connection| connection.is_alive()))
    }

    fn ping(&self, py: Python<'_>) -> PyResult<()> {
        self.shared.run(py, |connection| connection.ping())
    }

    /// `ALTER SESSION RESET`.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.shared.run(py, |connection| connection.reset())
    }

    /// Cancels what other threads run on it.
    fn cancel(&self) {
        self.shared.whole.cancel();
        self.shared.facts.cancel.cancel();
    }

    /// Limits of the session in seconds: for each statement, and for being idle.
    #[pyo3(signature = (statement=None, idle=None))]
    fn limit(
        &self,
        py: Python<'_>,
        statement: Option<Bounded<f64>>,
        idle: Option<Bounded<f64>>,
    ) -> PyResult<()> {
        let time = |seconds: Option<Bounded<f64>>| seconds.map(|seconds| duration(py, seconds.0)).transpose();
        let (statement, idle) = (time(statement)?, time(idle)?);
        self.shared.run(py, move |connection| connection.limit_session(statement, idle))
    }

    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let info = self.shared.run(py, |connection| connection.info())?;
        described(py, info)
    }

    /// Round trips, packets and bytes so far.
    fn wire_stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = self.shared.run(py, |connection| Ok(connection.wire_stats()))?;
        statistics(py, &stats)
    }

    /// Warnings of connecting, and those of statements since the last call.
    fn warnings(&self, py: Python<'_>) -> PyResult<(Vec<String>, Vec<String>)> {
        self.shared
            .run(py, |connection| Ok(texts(connection.warnings(), &connection.take_statement_warnings())))
    }

    /// Rolls back and disconnects. What other threads run on it is cancelled.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.shared.facts.check_process(py)?;
        let left = signal::wait(py, || {
            self.shared.end(|connection| {
                // One that has failed is closed.
                if connection.is_failed() {
                    return Ok(());
                }
                match connection.close() {
                    // Something of it is being dropped elsewhere, and it ends with that.
                    Err(failed) if failed.kind() == Kind::Misuse => Ok(()),
                    closed => closed,
                }
            })
        })?;
        match left {
            Left::Nothing | Left::Own => Ok(()),
            Left::Others => Err(stuck(py, "the connection ends when that does")),
        }
    }

    fn drop_database(&self, py: Python<'_>) -> PyResult<()> {
        self.shared.facts.check_process(py)?;
        match signal::wait(py, || self.shared.end(firearrow::Connection::drop_database))? {
            Left::Nothing => Ok(()),
            Left::Own => {
                Err(error::programming(py, "a database cannot be dropped within a call of its connection"))
            }
            Left::Others => Err(stuck(py, "the database was not dropped")),
        }
    }
}

/// The error about calls of other threads that do not end.
fn stuck(py: Python<'_>, outcome: &str) -> PyErr {
    let seconds = CLOSING.as_secs();
    error::timeout(
        py,
        format!("a call of another thread has not ended {seconds} s after it was cancelled: {outcome}"),
    )
}

impl Connection {
    pub(crate) fn begin_with(&self, py: Python<'_>, options: TransactionOptions) -> PyResult<Transaction> {
        let begun = self.shared.run(py, |connection| connection.begin_lazy(options))?;
        Ok(Transaction::new(&self.shared, begun))
    }
}

/// The server and the database.
pub(crate) fn described(py: Python<'_>, info: firearrow::ServerInfo) -> PyResult<Bound<'_, PyDict>> {
    let to = PyDict::new(py);
    to.set_item("engine_version", info.engine_version)?;
    to.set_item("implementation", info.implementation)?;
    to.set_item("ods", info.ods)?;
    to.set_item("protocol", info.protocol)?;
    to.set_item("cipher", info.cipher)?;
    to.set_item("compressed", info.compressed)?;
    to.set_item("connection_charset", info.connection_charset)?;
    to.set_item("database_charset", info.database_charset)?;
    to.set_item("dialect", info.dialect)?;
    to.set_item("page_size", info.page_size)?;
    to.set_item("pages", info.pages)?;
    to.set_item("read_only", info.read_only)?;
    to.set_item("forced_writes", info.forced_writes)?;
    to.set_item("attachment", info.attachment)?;
    to.set_item("user", info.user)?;
    to.set_item("role", info.role)?;
    Ok(to)
}

/// Warnings of connecting, and those of statements.
pub(crate) fn texts(
    connecting: &[firearrow::Warning],
    statements: &[firearrow::Warning],
) -> (Vec<String>, Vec<String>) {
    let text = |warnings: &[firearrow::Warning]| warnings.iter().map(ToString::to_string).collect();
    (text(connecting), text(statements))
}

/// The counters of a connection, statement or result.
pub(crate) fn statistics<'py>(py: Python<'py>, stats: &firearrow::WireStats) -> PyResult<Bound<'py, PyDict>> {
    let to = PyDict::new(py);
    to.set_item("round_trips", stats.round_trips)?;
    to.set_item("packets_sent", stats.packets_sent)?;
    to.set_item("packets_received", stats.packets_received)?;
    to.set_item("bytes_sent", stats.bytes_sent)?;
    to.set_item("bytes_received", stats.bytes_received)?;
    to.set_item("sends", stats.sends)?;
    to.set_item("receives", stats.receives)?;
    to.set_item("wire_bytes_sent", stats.wire_bytes_sent)?;
    to.set_item("wire_bytes_received", stats.wire_bytes_received)?;
    to.set_item("encrypted", stats.encrypted)?;
    Ok(to)
}

/// Seconds of Python.
pub(crate) fn duration(py: Python<'_>, seconds: f64) -> PyResult<Duration> {
    let wrong = |_| error::programming(py, format!("{seconds} s is no time limit; None is no limit"));
    Duration::try_from_secs_f64(seconds).map_err(wrong)
}

/// Locks without holding up other Python threads.
pub(crate) fn lock<'a, T>(py: Python<'_>, mutex: &'a Mutex<T>) -> MutexGuard<'a, T> {
    mutex.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
}
