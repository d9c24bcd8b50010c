//! Connections.

mod calls;
mod garbage;
mod part;
mod whole;

use crate::dependent::Dependents;
use crate::facts::Facts;
use crate::info::{described, statistics, texts};
use crate::options::{Bounded, duration};
use crate::transaction::Transaction;
use crate::{config, error, signal};
use calls::{Calls, Left};
use firearrow::{CancelToken, Descriptor, Kind, ReadOptions};
use garbage::Garbage;
pub(crate) use garbage::Hurry;
pub(crate) use part::Part;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::mem;
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::Duration;
use whole::Whole;

/// How long closing waits for calls of other threads, which it cancels. The client gives up a server that does not listen sooner.
const CLOSING: Duration = Duration::from_secs(10);

/// A connection, which its transactions and cursors share.
pub(crate) struct Shared {
    connection: RwLock<Option<firearrow::Connection>>,
    pub(crate) calls: Calls,
    pub(crate) whole: Whole,
    pub(crate) dependents: Dependents,
    garbage: Arc<Garbage>,
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
            signal::wait_briefly(py, || {
                self.end_dropped()?;
                let connection = self.connection.read().unwrap_or_else(PoisonError::into_inner);
                connection.as_ref().map(work).transpose()
            })
        };
        self.call(py, wait)?.ok_or_else(|| closed(py))
    }

    /// These read options with the declared precisions of the columns.
    pub(crate) fn declared(
        &self,
        columns: &[Descriptor],
        read: &ReadOptions,
    ) -> firearrow::Result<ReadOptions> {
        let connection = self.connection.read().unwrap_or_else(PoisonError::into_inner);
        match &*connection {
            Some(connection) => connection.declared(columns, read),
            None => Ok(read.clone()),
        }
    }

    /// Whether the link is broken.
    pub(crate) fn has_failed(&self) -> bool {
        let connection = self.connection.read().unwrap_or_else(PoisonError::into_inner);
        connection.as_ref().is_none_or(firearrow::Connection::is_failed)
    }

    /// Takes the connection away from everybody; its transactions are rolled back. With `leaves`, the server has a few seconds.
    fn take(&self, leaves: bool) -> Option<firearrow::Connection> {
        let connection = self.connection.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(connection) = connection.as_ref().filter(|_| leaves) {
            connection.leave();
        }
        self.dependents.end();
        self.garbage.clear();
        connection
    }

    /// Ends it by `work`, after the calls of other threads, which are cancelled. Otherwise it ends with those that are left.
    fn end(
        self: &Arc<Self>,
        leaves: bool,
        work: impl FnOnce(firearrow::Connection) -> firearrow::Result<()>,
    ) -> firearrow::Result<Left> {
        if !self.calls.refuse() {
            return Ok(Left::Nothing);
        }
        let left = self.calls.wait(CLOSING, || self.facts.cancel.cancel());
        if left == Left::Nothing {
            return self.take(leaves).map_or(Ok(()), work).map(|()| left);
        }
        let shared = Arc::clone(self);
        let end_later = move || {
            while shared.calls.wait(CLOSING, || ()) != Left::Nothing {}
            drop(shared.take(true));
        };
        // Without a thread, it ends with the last of its parts.
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
        let connection = self.connection.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let Some(connection) = connection else { return };
        if !self.facts.is_owner_process() {
            // Not a byte may go to the server from here.
            return mem::forget((connection, Arc::clone(&self.garbage)));
        }
        let garbage = Arc::clone(&self.garbage);
        let close = move || {
            connection.leave();
            garbage.clear();
            drop(connection);
        };
        // Without a thread, it is closed here.
        drop(thread::Builder::new().name("firearrow close".into()).spawn(close));
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
            garbage: Arc::default(),
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
        let options = self.shared.facts.transaction(py, isolation, read_only, lock_timeout, snapshot)?;
        // One call, so that an end of the connection ends what has begun, too.
        self.shared.call(py, || {
            let begun = self.shared.run(py, |connection| connection.begin_lazy(options))?;
            Ok(Transaction::new(&self.shared, begun))
        })
    }

    /// Takes over a transaction in limbo.
    fn recover(&self, py: Python<'_>, number: Bounded<u64>) -> PyResult<Transaction> {
        self.shared.call(py, || {
            let taken = self.shared.run(py, |connection| connection.recover(number.0))?;
            Ok(Transaction::new(&self.shared, taken))
        })
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
        self.shared.is_open()
    }

    /// Whether the connection works, as far as is known without asking the server.
    #[getter]
    fn is_alive(&self, py: Python<'_>) -> PyResult<bool> {
        self.shared.facts.check_process(py)?;
        let connection = self.shared.connection.read().unwrap_or_else(PoisonError::into_inner);
        Ok(connection.as_ref().is_some_and(|connection| connection.is_alive()))
    }

    /// Asks the server for an answer, within so many seconds.
    #[pyo3(signature = (seconds=None))]
    fn ping(&self, py: Python<'_>, seconds: Option<Bounded<f64>>) -> PyResult<()> {
        let time = seconds.map(|seconds| duration(py, seconds.0)).transpose()?;
        let token = time.map_or_else(CancelToken::new, CancelToken::after);
        // Whatever it waits for first counts.
        token.run(|| self.shared.run(py, |connection| connection.ping()))
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
            self.shared.end(true, |connection| {
                // One that has failed is closed.
                if connection.is_failed() {
                    return Ok(());
                }
                match connection.close() {
                    // Part of it is being dropped elsewhere, and it ends with that part.
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
        match signal::wait(py, || self.shared.end(false, firearrow::Connection::drop_database))? {
            Left::Nothing => Ok(()),
            Left::Own => {
                Err(error::programming(py, "cannot drop the database from within a call on this connection"))
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
        format!("a call in another thread is still running {seconds} s after it was cancelled: {outcome}"),
    )
}
