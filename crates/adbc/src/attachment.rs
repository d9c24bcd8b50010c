//! What a connection, its statements and their streams have in common. It lives as long as the last of them.

use crate::activity::{Activity, Canceller, Task};
use crate::error::{Result, internal, invalid_state, not_implemented, of};
use crate::option::{ConnectionOptions, Purpose};
use crate::sql::name;
use firearrow::{
    CancelHandle, Config, Connection, Descriptor, Dialect, Isolation, ReadOptions, Transaction,
    TransactionOptions, gds,
};
use std::mem;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// How long DDL is repeated when somebody still uses what it wants to change, and how often: streams of this process may
/// just be about to end.
const IN_USE: Duration = Duration::from_secs(1);
const IN_USE_PAUSE: Duration = Duration::from_millis(50);

/// An attachment to a database.
pub(crate) struct Attachment {
    /// `None` at the very end only.
    connection: Option<Connection>,
    handle: CancelHandle,
    process: u32,
    broken: AtomicBool,
    options: Mutex<ConnectionOptions>,
    /// The transaction of manual mode, from its first statement on.
    transaction: Mutex<Option<Transaction>>,
    /// The thread that works in it.
    worker: Mutex<Option<ThreadId>>,
    /// Counts the ends of such transactions: streams of earlier ones are gone.
    epoch: AtomicU64,
    pub(crate) activity: Arc<Activity>,
    /// Temporary tables made here.
    temporary: Mutex<Vec<String>>,
}

impl Attachment {
    pub(crate) fn open(config: &Config, options: ConnectionOptions) -> Result<Self> {
        let connection = Connection::open(config).map_err(of)?;
        Ok(Self {
            handle: connection.cancel_handle(),
            connection: Some(connection),
            process: process::id(),
            broken: AtomicBool::new(false),
            options: Mutex::new(options),
            transaction: Mutex::default(),
            worker: Mutex::default(),
            epoch: AtomicU64::new(0),
            activity: Arc::default(),
            temporary: Mutex::default(),
        })
    }

    /// Whether this process has got it from the one that opened it: both would speak on one socket.
    pub(crate) fn is_foreign(&self) -> bool {
        process::id() != self.process
    }

    /// The connection, unless it must not be used any more.
    pub(crate) fn connection(&self) -> Result<&Connection> {
        if self.is_foreign() {
            return Err(invalid_state(
                "the connection belongs to the process that opened it: open another one",
            ));
        }
        if self.broken.load(Ordering::SeqCst) {
            return Err(internal("the connection cannot be used any more, because the driver panicked"));
        }
        self.connection.as_ref().ok_or_else(|| internal("the connection got lost"))
    }

    /// Marks it as unusable.
    pub(crate) fn break_down(&self) {
        self.broken.store(true, Ordering::SeqCst);
    }

    /// Runs `work`; a panic in it is the end of the connection.
    pub(crate) fn contain<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        crate::panic::contain(|| self.break_down(), work)
    }

    /// Drops what belongs to the connection. No panic leaves a destructor.
    pub(crate) fn discard<T>(&self, value: T) {
        if self.is_foreign() {
            // Not a byte may go to the server from here.
            return mem::forget(value);
        }
        let _ = self.contain(|| {
            drop(value);
            Ok(())
        });
    }

    pub(crate) fn canceller(&self, activity: &Arc<Activity>) -> Canceller {
        Canceller { activity: Arc::clone(activity), handle: self.handle.clone() }
    }

    /// Interrupts a task of this attachment until it reacts, or for some tenths of a second.
    pub(crate) fn interrupt(&self, task: &Task) -> Result<()> {
        task.stop(&self.handle)
    }

    /// Begins something that can be cancelled through the connection.
    pub(crate) fn begin_task(&self) -> Arc<Task> {
        Activity::begin(&[&self.activity])
    }

    pub(crate) fn options(&self) -> MutexGuard<'_, ConnectionOptions> {
        self.options.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_autocommit(&self) -> bool {
        self.options().autocommit
    }

    /// Whether the engine is of Firebird 4 or later.
    pub(crate) fn is_modern(&self) -> Result<bool> {
        Ok(self.connection()?.has_firebird4())
    }

    /// How a transaction for this purpose begins.
    pub(crate) fn transaction_options(&self, purpose: Purpose) -> Result<TransactionOptions> {
        let modern = self.is_modern()?;
        let options = self.options();
        if options.snapshot_number > 0 && !modern {
            return Err(not_implemented("snapshot numbers need Firebird 4 or newer"));
        }
        Ok(options.transaction(purpose, modern))
    }

    /// A transaction for one execution.
    pub(crate) fn begin(&self, purpose: Purpose) -> Result<Transaction> {
        let options = self.transaction_options(purpose)?;
        self.connection()?.begin_lazy(options).map_err(of)
    }

    fn running(&self) -> MutexGuard<'_, Option<Transaction>> {
        self.transaction.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` in the transaction of manual mode, which begins if there is none.
    pub(crate) fn in_transaction<T>(&self, work: impl FnOnce(&mut Transaction) -> Result<T>) -> Result<T> {
        let this = thread::current().id();
        if *self.worker() == Some(this) {
            // The lock would wait for itself.
            let text =
                "rows that are being written come from a query with parameters in the same transaction";
            return Err(invalid_state(text));
        }
        let mut running = self.running();
        let is_new = running.is_none();
        if is_new {
            *running = Some(self.begin(Purpose::Manual)?);
        }
        let transaction = running.as_mut().ok_or_else(|| internal("a transaction got lost"))?;
        *self.worker() = Some(this);
        let result = crate::panic::contain(|| self.break_down(), || work(transaction));
        *self.worker() = None;
        // It begins with its first statement; if it did not, the next one must have another chance.
        if is_new && result.is_err() && transaction.number().is_err() {
            *running = None;
        }
        result
    }

    fn worker(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.worker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the running transaction something; `None` if there is none.
    pub(crate) fn ask_transaction<T>(
        &self,
        question: impl FnOnce(&Transaction) -> firearrow::Result<T>,
    ) -> Result<Option<T>> {
        self.connection()?;
        self.running().as_ref().map(question).transpose().map_err(of)
    }

    /// Which transaction of manual mode this is.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    /// Ends the transaction of manual mode, if there is one.
    pub(crate) fn end(&self, commit: bool) -> Result<()> {
        self.connection()?;
        let mut running = self.running();
        let Some(transaction) = running.take() else { return Ok(()) };
        self.epoch.fetch_add(1, Ordering::SeqCst);
        let ended = if commit { transaction.commit() } else { transaction.rollback() };
        ended.map_err(of)
    }

    /// What DDL is written in.
    pub(crate) fn dialect(&self) -> Result<Dialect> {
        Ok(self.connection()?.dialect())
    }

    /// Runs DDL in a transaction of its own, and commits. While others are about to leave it alone it is repeated.
    pub(crate) fn define(&self, sql: &str) -> Result<()> {
        self.define_with(self.transaction_options(Purpose::Ddl)?, sql)
    }

    fn define_with(&self, options: TransactionOptions, sql: &str) -> Result<()> {
        let connection = self.connection()?;
        let deadline = Instant::now() + IN_USE;
        let mut may_give_way = true;
        loop {
            let work = || {
                let transaction = connection.begin_lazy(options)?;
                transaction.prepare(sql)?.execute_last(transaction, ())
            };
            match work() {
                Err(error)
                    if error.gds_codes().contains(&gds::ISC_OBJ_IN_USE) && Instant::now() < deadline =>
                {
                    if !mem::take(&mut may_give_way) || !self.give_way()? {
                        thread::sleep(IN_USE_PAUSE);
                    }
                }
                result => return result.map(drop).map_err(of),
            }
        }
    }

    /// Ends the transaction of manual mode if nobody could tell: it sees what is committed anyway, and has changed
    /// nothing. What it has read is in use otherwise, by ourselves.
    fn give_way(&self) -> Result<bool> {
        // It may be this thread that works in it.
        let Ok(mut running) = self.transaction.try_lock() else { return Ok(false) };
        let Some(transaction) = running.as_ref() else { return Ok(false) };
        let isolation = self.transaction_options(Purpose::Manual)?.isolation;
        let sees_committed = !matches!(isolation, Isolation::Snapshot | Isolation::SnapshotTableStability);
        if !sees_committed || transaction.has_changes().map_err(of)? {
            return Ok(false);
        }
        let transaction = running.take().ok_or_else(|| internal("a transaction got lost"))?;
        self.epoch.fetch_add(1, Ordering::SeqCst);
        transaction.commit().map_err(of)?;
        Ok(true)
    }

    pub(crate) fn drop_table(&self, options: TransactionOptions, table: &str) -> Result<()> {
        self.define_with(options, &format!("DROP TABLE {}", name(self.dialect()?, table)?))
    }

    /// The options with the declared precisions of these columns.
    pub(crate) fn declare(&self, columns: &[Descriptor], options: &ReadOptions) -> Result<ReadOptions> {
        self.connection()?.declared(columns, options).map_err(of)
    }

    /// A temporary table was made that shall be gone with the attachment.
    pub(crate) fn remember_temporary(&self, table: &str) {
        let mut temporary = self.temporary.lock().unwrap_or_else(PoisonError::into_inner);
        if !temporary.iter().any(|known| known == table) {
            temporary.push(table.to_owned());
        }
    }

    fn drop_temporary(&self) {
        let tables = mem::take(&mut *self.temporary.lock().unwrap_or_else(PoisonError::into_inner));
        for table in tables {
            // It may have been dropped by others, or be in use by them; nobody is left to be told.
            let _ =
                self.transaction_options(Purpose::Ddl).and_then(|options| self.drop_table(options, &table));
        }
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        let running = self.transaction.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if self.is_foreign() {
            // Not a byte may go to the server from here.
            mem::forget((running, self.connection.take()));
            return;
        }
        // A panic must not leave a destructor.
        let _ = crate::panic::contain(
            || (),
            || {
                drop(running);
                let broken = self.broken.load(Ordering::SeqCst);
                if !broken && self.connection.as_ref().is_some_and(|connection| !connection.is_failed()) {
                    self.drop_temporary();
                }
                self.connection = None;
                Ok(())
            },
        );
    }
}
