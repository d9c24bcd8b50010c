//! What a connection, its statements and their streams have in common. It lives as long as the last of them.

use crate::activity::{Activity, Task};
use crate::ddl::{Made, Temporary};
use crate::error::{Result, internal, invalid_state, not_implemented, of};
use crate::option::{ConnectionOptions, Purpose};
use firearrow::{Config, Connection, Descriptor, Isolation, ReadOptions, Transaction, TransactionOptions};
use std::mem;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, ThreadId};

/// The transaction of manual mode.
pub(crate) struct Manual {
    pub(crate) transaction: Transaction,
    /// What it began with: the options may be others by now.
    pub(crate) isolation: Isolation,
}

/// A result's part in the transaction of manual mode, as long as it is open.
#[derive(Clone, Debug)]
pub(crate) struct Membership {
    epoch: u64,
    _open: Arc<()>,
}

/// An attachment to a database.
pub(crate) struct Attachment {
    /// `None` at the very end only.
    connection: Option<Connection>,
    process: u32,
    broken: AtomicBool,
    options: Mutex<ConnectionOptions>,
    /// From its first statement on.
    pub(crate) manual: Mutex<Option<Manual>>,
    /// Whether it can only be rolled back: it has changes that should have been undone.
    doomed: AtomicBool,
    /// The thread that works in it.
    worker: Mutex<Option<ThreadId>>,
    /// Counts the ends of such transactions: streams of earlier ones are gone.
    epoch: AtomicU64,
    /// Held by the open results of such a transaction.
    open: Arc<()>,
    /// Whether its connection has gone: nobody could commit any more.
    released: AtomicBool,
    pub(crate) activity: Arc<Activity>,
    /// Temporary tables made here.
    pub(crate) temporary: Mutex<Vec<Temporary>>,
    /// Tables made for rows in the transaction of manual mode.
    pub(crate) made: Mutex<Vec<Made>>,
}

impl Attachment {
    pub(crate) fn open(config: &Config, options: ConnectionOptions) -> Result<Self> {
        let connection = Connection::open(config).map_err(of)?;
        Ok(Self {
            connection: Some(connection),
            process: process::id(),
            broken: AtomicBool::new(false),
            options: Mutex::new(options),
            manual: Mutex::default(),
            doomed: AtomicBool::new(false),
            worker: Mutex::default(),
            epoch: AtomicU64::new(0),
            open: Arc::default(),
            released: AtomicBool::new(false),
            activity: Arc::default(),
            temporary: Mutex::default(),
            made: Mutex::default(),
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

    /// Ends what belongs to the connection. No panic leaves a destructor.
    pub(crate) fn discard<T>(&self, value: T, end: impl FnOnce(T)) {
        if self.is_foreign() {
            // Not a byte may go to the server from here.
            return mem::forget(value);
        }
        let _ = self.contain(|| {
            end(value);
            Ok(())
        });
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

    fn running(&self) -> MutexGuard<'_, Option<Manual>> {
        self.manual.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` in the transaction of manual mode, which begins if there is none.
    pub(crate) fn in_transaction<T>(&self, work: impl FnOnce(&mut Transaction) -> Result<T>) -> Result<T> {
        self.refuse_worker()?;
        let mut running = self.running();
        let is_new = running.is_none();
        if is_new {
            if self.released.load(Ordering::SeqCst) {
                return Err(invalid_state(
                    "the connection was released: nobody could commit what is done now",
                ));
            }
            let options = self.transaction_options(Purpose::Manual)?;
            let transaction = self.connection()?.begin_lazy(options).map_err(of)?;
            *running = Some(Manual { transaction, isolation: options.isolation });
            self.doomed.store(false, Ordering::SeqCst);
        }
        let manual = running.as_mut().ok_or_else(|| internal("a transaction got lost"))?;
        *self.worker() = Some(thread::current().id());
        let result = crate::panic::contain(|| self.break_down(), || work(&mut manual.transaction));
        *self.worker() = None;
        // It begins with its first statement; if it did not, the next one must have another chance.
        if is_new && result.is_err() && manual.transaction.number().is_err() {
            *running = None;
        }
        result
    }

    /// Something in the transaction of manual mode failed half done and could not be undone. For whoever works in it.
    pub(crate) fn doom(&self) {
        self.doomed.store(true, Ordering::SeqCst);
    }

    fn worker(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.worker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails in the thread that works in the transaction: it would wait for itself.
    fn refuse_worker(&self) -> Result<()> {
        if *self.worker() != Some(thread::current().id()) {
            return Ok(());
        }
        let text = "whoever supplies rows cannot use or end the transaction that they are written in";
        Err(invalid_state(text))
    }

    /// Asks the running transaction something; `None` if there is none.
    ///
    /// # Errors
    /// INVALID_STATE while a statement runs in it, which may take long.
    pub(crate) fn ask_transaction<T>(
        &self,
        question: impl FnOnce(&Transaction) -> firearrow::Result<T>,
    ) -> Result<Option<T>> {
        self.connection()?;
        let running = match self.manual.try_lock() {
            Ok(running) => running,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(invalid_state("a statement is running in the transaction: ask later"));
            }
        };
        running.as_ref().map(|manual| question(&manual.transaction)).transpose().map_err(of)
    }

    /// Makes a result a part of the transaction of manual mode.
    pub(crate) fn membership(&self) -> Membership {
        Membership { epoch: self.epoch.load(Ordering::SeqCst), _open: Arc::clone(&self.open) }
    }

    /// Whether the transaction of a result goes on.
    pub(crate) fn includes(&self, membership: &Membership) -> bool {
        membership.epoch == self.epoch.load(Ordering::SeqCst)
    }

    /// Whether a result of the transaction of manual mode is open.
    pub(crate) fn has_open_results(&self) -> bool {
        Arc::strong_count(&self.open) > 1
    }

    /// Ends the transaction of manual mode, if there is one.
    pub(crate) fn end(&self, commit: bool) -> Result<()> {
        self.connection()?;
        self.refuse_worker()?;
        let mut running = self.running();
        let ended = running.take().map_or(Ok(()), |manual| self.finish(manual, commit));
        drop(running);
        self.drop_made(commit && ended.is_ok());
        ended
    }

    /// Ends what was the transaction of manual mode, and with it its results.
    ///
    /// # Errors
    /// INVALID_STATE if it should be committed and could only be rolled back, which it is then.
    pub(crate) fn finish(&self, Manual { transaction, .. }: Manual, commit: bool) -> Result<()> {
        self.epoch.fetch_add(1, Ordering::SeqCst);
        let doomed = self.doomed.swap(false, Ordering::SeqCst);
        let ended = if commit && !doomed { transaction.commit() } else { transaction.rollback() };
        ended.map_err(of)?;
        match commit && doomed {
            true => Err(invalid_state(
                "the transaction was rolled back: an ingestion in it had failed and could not be undone alone",
            )),
            false => Ok(()),
        }
    }

    /// The connection has gone; statements and results may go on. What nobody can commit is rolled back, at the latest with
    /// the last result that reads it.
    pub(crate) fn release(&self) {
        self.released.store(true, Ordering::SeqCst);
        if !self.is_foreign() && !self.has_open_results() {
            // Nobody is left to be told.
            let _ = self.contain(|| self.end(false));
        }
    }

    /// The options with the declared precisions of these columns.
    pub(crate) fn declare(&self, columns: &[Descriptor], options: &ReadOptions) -> Result<ReadOptions> {
        self.connection()?.declared(columns, options).map_err(of)
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        let running = self.manual.get_mut().unwrap_or_else(PoisonError::into_inner).take();
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
                    self.drop_made(false);
                    self.drop_temporary();
                }
                self.connection = None;
                Ok(())
            },
        );
    }
}
