//! The state that a front end's connection, its statements and its results share. It lives as long as the last of them.
//!
//! ```text
//!  Session ─┬─ manual: the transaction of manual mode, and the results that belong to it
//!           ├─ definition: DDL, committed immediately, and results that must end for it
//!           └─ made: tables that go if their rows do not come, or with the session
//! ```

mod definition;
mod made;
mod manual;

pub(crate) use manual::Membership;

use crate::activity::{Activity, Task};
use crate::error::{Error, Result};
use crate::kept::{AllKept, Kept};
use crate::option::{Purpose, SessionOptions};
use crate::panic;
use firearrow::{
    Config, Connection, Descriptor, Dialect, ReadOptions, ServerInfo, Transaction, TransactionOptions,
    Warning,
};
use made::{Made, Temporary};
use manual::Manual;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;
use std::{fmt, mem, process};

/// Warnings that are kept.
const MOST_WARNINGS: usize = 100;

/// A connection with a transaction mode.
pub struct Session {
    /// `None` at the very end only.
    connection: Option<Connection>,
    process: u32,
    broken: AtomicBool,
    options: Mutex<SessionOptions>,
    /// The server's description of itself.
    info: Mutex<Option<Arc<ServerInfo>>>,
    /// The last warnings of statements.
    warnings: Mutex<Vec<Warning>>,
    /// The transaction of manual mode, from its first statement on.
    manual: Mutex<Option<Manual>>,
    /// Whether that can only be rolled back: it has changes that should have been undone.
    doomed: AtomicBool,
    /// The thread that works in it.
    worker: Mutex<Option<ThreadId>>,
    /// Counts the ends of such transactions: results of earlier ones are gone.
    epoch: AtomicU64,
    /// Held by the open results of such a transaction.
    open: Arc<()>,
    /// Whether the front end's connection is gone: nobody could commit any more.
    released: AtomicBool,
    activity: Arc<Activity>,
    /// Temporary tables made here.
    temporary: Mutex<Vec<Temporary>>,
    /// Tables made for rows in the transaction of manual mode.
    made: Mutex<Vec<Made>>,
    /// Statements that stay prepared.
    kept: AllKept,
}

impl Session {
    /// Connects, and sends the time limits of the options to the server.
    ///
    /// # Errors
    /// Those of connecting.
    pub fn open(config: &Config, options: SessionOptions) -> Result<Self> {
        let session = Self {
            connection: Some(Connection::open(config)?),
            process: process::id(),
            broken: AtomicBool::new(false),
            options: Mutex::new(options.clone()),
            info: Mutex::default(),
            warnings: Mutex::default(),
            manual: Mutex::default(),
            doomed: AtomicBool::new(false),
            worker: Mutex::default(),
            epoch: AtomicU64::new(0),
            open: Arc::default(),
            released: AtomicBool::new(false),
            activity: Arc::default(),
            temporary: Mutex::default(),
            made: Mutex::default(),
            kept: AllKept::default(),
        };
        session.limit(&SessionOptions::default(), &options)?;
        Ok(session)
    }

    /// Whether this process inherited it from the process that opened it: both would use one socket.
    pub(crate) fn is_foreign(&self) -> bool {
        process::id() != self.process
    }

    /// The connection.
    ///
    /// # Errors
    /// The connection belongs to another process, or cannot be used any more after a panic.
    pub fn connection(&self) -> Result<&Connection> {
        if self.is_foreign() {
            return Err(Error::state(
                "the connection belongs to the process that opened it: open another one",
            ));
        }
        if self.broken.load(Ordering::SeqCst) {
            return Err(Error::internal(
                "the connection cannot be used any more, because the driver panicked",
            ));
        }
        self.connection.as_ref().ok_or_else(|| Error::internal("the connection got lost"))
    }

    /// Marks it as unusable, because of a panic.
    pub fn break_down(&self) {
        self.broken.store(true, Ordering::SeqCst);
    }

    /// Runs `work`; a panic in it is the end of the connection.
    ///
    /// # Errors
    /// The panic. Whatever else `work` returns is in `T`.
    pub fn contain<T>(&self, work: impl FnOnce() -> T) -> Result<T> {
        panic::contain(|| self.break_down(), work)
    }

    /// Makes room for a statement that stays prepared.
    pub(crate) fn keep(&self) -> Arc<Kept> {
        self.kept.add()
    }

    /// Lets the server free the statements that stay prepared: they keep their tables in use. Returns whether there were any.
    pub(crate) fn release_kept(&self) -> bool {
        self.kept.release()
    }

    /// Ends what belongs to the connection. No panic leaves a destructor.
    pub(crate) fn discard<T>(&self, value: T, end: impl FnOnce(T)) {
        if self.is_foreign() {
            // Not a byte may go to the server from here.
            return mem::forget(value);
        }
        let _ = self.contain(|| end(value));
    }

    /// Returns the handle that cancels everything running in the session.
    pub fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }

    /// Begins something that can be cancelled through the session.
    pub fn begin_task(&self) -> Arc<Task> {
        Activity::begin(&[&self.activity])
    }

    fn set(&self) -> MutexGuard<'_, SessionOptions> {
        self.options.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the options.
    pub fn options(&self) -> SessionOptions {
        self.set().clone()
    }

    /// Changes the options: sends new time limits to the server, and commits if autocommit is switched on.
    ///
    /// # Errors
    /// Those of the server; [`Class::State`](crate::Class::State) if the transaction could not be committed;
    /// [`Class::Unsupported`](crate::Class::Unsupported) if the server is too old. The options stay as they were.
    pub fn configure(&self, options: SessionOptions) -> Result<()> {
        if options.snapshot_number.is_some() && !self.is_modern()? {
            return Err(no_snapshot_numbers());
        }
        let before = self.options();
        self.limit(&before, &options)?;
        if options.autocommit && !before.autocommit {
            self.end(true)?;
        }
        *self.set() = options;
        Ok(())
    }

    /// Sends changed time limits of the session to the server.
    fn limit(&self, before: &SessionOptions, now: &SessionOptions) -> Result<()> {
        let changed = |before: Option<Duration>, now: Option<Duration>| {
            (before != now).then_some(now.unwrap_or(Duration::ZERO))
        };
        let statement = changed(before.statement_timeout, now.statement_timeout);
        let idle = changed(before.idle_timeout, now.idle_timeout);
        Ok(self.connection()?.limit_session(statement, idle)?)
    }

    /// Whether every execution has a separate transaction.
    pub fn is_autocommit(&self) -> bool {
        self.set().autocommit
    }

    /// Whether the engine is of Firebird 4 or later.
    pub(crate) fn is_modern(&self) -> Result<bool> {
        Ok(self.connection()?.has_firebird4())
    }

    /// The dialect of DDL.
    pub(crate) fn dialect(&self) -> Result<Dialect> {
        Ok(self.connection()?.dialect())
    }

    /// Returns the server's description of itself; requested once.
    ///
    /// # Errors
    /// Those of the server.
    pub fn info(&self) -> Result<Arc<ServerInfo>> {
        let mut info = self.info.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(info) = &*info {
            return Ok(Arc::clone(info));
        }
        let read = Arc::new(self.connection()?.info()?);
        *info = Some(Arc::clone(&read));
        Ok(read)
    }

    /// Returns the last 100 warnings that statements of this session have caused, oldest first.
    ///
    /// # Errors
    /// As with [`connection`](Self::connection).
    pub fn statement_warnings(&self) -> Result<Vec<Warning>> {
        let mut kept = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(self.connection()?.take_statement_warnings());
        let surplus = kept.len().saturating_sub(MOST_WARNINGS);
        kept.drain(..surplus);
        Ok(kept.clone())
    }

    /// How a transaction for this purpose begins.
    pub(crate) fn transaction_options(&self, purpose: Purpose) -> Result<TransactionOptions> {
        let modern = self.is_modern()?;
        let options = self.set();
        if options.snapshot_number.is_some() && !modern {
            return Err(no_snapshot_numbers());
        }
        Ok(options.transaction(purpose, modern))
    }

    /// A transaction for one execution.
    pub(crate) fn begin(&self, purpose: Purpose) -> Result<Transaction> {
        let options = self.transaction_options(purpose)?;
        Ok(self.connection()?.begin_lazy(options)?)
    }

    /// The options with the declared precisions of these columns.
    pub(crate) fn declare(&self, columns: &[Descriptor], options: &ReadOptions) -> Result<ReadOptions> {
        Ok(self.connection()?.declared(columns, options)?)
    }
}

fn no_snapshot_numbers() -> Error {
    Error::unsupported("snapshot numbers need Firebird 4 or newer")
}

impl Drop for Session {
    fn drop(&mut self) {
        let running = self.manual.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if self.is_foreign() {
            // Not a byte may go to the server from here.
            mem::forget((running, self.connection.take()));
            return;
        }
        // A panic must not leave a destructor.
        let end = || {
            drop(running);
            let broken = self.broken.load(Ordering::SeqCst);
            if !broken && self.connection.as_ref().is_some_and(|connection| !connection.is_failed()) {
                self.drop_made(false);
                self.drop_temporary();
            }
            self.connection = None;
        };
        let _ = panic::contain(|| (), end);
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("options", &*self.set()).finish_non_exhaustive()
    }
}
