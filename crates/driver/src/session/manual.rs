//! The transaction of manual mode: it begins with its first statement, and ends with commit or rollback; its open
//! results end with it.

use super::Session;
use crate::error::{Error, Result};
use crate::option::Purpose;
use crate::panic;
use firearrow::{CancelToken, Isolation, Transaction};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, ThreadId};

/// The transaction of manual mode.
pub(super) struct Manual {
    pub(super) transaction: Transaction,
    /// Its initial options: they may have changed since.
    pub(super) isolation: Isolation,
}

/// A result's part in the transaction of manual mode, as long as it is open.
#[derive(Clone, Debug)]
pub(crate) struct Membership {
    epoch: u64,
    _open: Arc<()>,
}

impl Session {
    fn running(&self) -> MutexGuard<'_, Option<Manual>> {
        self.manual.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` in the transaction of manual mode, which begins if there is none.
    ///
    /// # Errors
    /// Those of `work`; [`Class::State`](crate::Class::State) if the front end's connection is gone, or if this thread works in
    /// the transaction already.
    pub fn in_transaction<T>(&self, work: impl FnOnce(&mut Transaction) -> Result<T>) -> Result<T> {
        self.refuse_worker()?;
        let mut running = self.running();
        let is_new = running.is_none();
        if is_new {
            if self.released.load(Ordering::SeqCst) {
                return Err(Error::state(
                    "the connection was released: nobody could commit what is done now",
                ));
            }
            let options = self.transaction_options(Purpose::Manual)?;
            let transaction = self.connection()?.begin_lazy(options)?;
            *running = Some(Manual { transaction, isolation: options.isolation });
            self.doomed.store(false, Ordering::SeqCst);
        }
        let manual = running.as_mut().ok_or_else(|| Error::internal("a transaction got lost"))?;
        *self.worker() = Some(thread::current().id());
        let result = panic::contain(|| self.break_down(), || work(&mut manual.transaction)).flatten();
        *self.worker() = None;
        // It begins with its first statement; if it did not, the next one must have another chance.
        if is_new && result.is_err() && CancelToken::shield(|| manual.transaction.number()).is_err() {
            *running = None;
        }
        result
    }

    /// Forbids committing the transaction of manual mode: something in it failed half done and could not be undone. For
    /// whoever works [in it](Self::in_transaction).
    pub fn doom(&self) {
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
        Err(Error::state(text))
    }

    /// Asks the running transaction something; `None` if there is none.
    ///
    /// # Errors
    /// [`Class::State`](crate::Class::State) while a statement runs in it, which may take long.
    pub fn ask_transaction<T>(
        &self,
        question: impl FnOnce(&Transaction) -> firearrow::Result<T>,
    ) -> Result<Option<T>> {
        self.connection()?;
        let running = match self.manual.try_lock() {
            Ok(running) => running,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(Error::state("a statement is running in the transaction: ask later"));
            }
        };
        Ok(running.as_ref().map(|manual| question(&manual.transaction)).transpose()?)
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
    fn has_open_results(&self) -> bool {
        Arc::strong_count(&self.open) > 1
    }

    /// Ends the transaction of manual mode, if there is one, and its results.
    ///
    /// # Errors
    /// Those of the server; [`Class::State`](crate::Class::State) if it should be committed and could only be rolled back,
    /// which it is then.
    pub fn end(&self, commit: bool) -> Result<()> {
        self.connection()?;
        self.refuse_worker()?;
        let mut running = self.running();
        let ended = running.take().map_or(Ok(()), |manual| self.finish(manual, commit));
        drop(running);
        self.drop_made(commit && ended.is_ok());
        ended
    }

    /// Ends the former transaction of manual mode.
    fn finish(&self, Manual { transaction, .. }: Manual, commit: bool) -> Result<()> {
        self.epoch.fetch_add(1, Ordering::SeqCst);
        let doomed = self.doomed.swap(false, Ordering::SeqCst);
        if commit && !doomed { transaction.commit() } else { transaction.rollback() }?;
        match commit && doomed {
            true => Err(Error::state(
                "the transaction was rolled back: an ingestion in it had failed and could not be undone alone",
            )),
            false => Ok(()),
        }
    }

    /// Commits the transaction of manual mode if that is unobservable: it sees what is committed anyway, has changed
    /// nothing, and none of its results is open. Otherwise the tables that it has read stay in use, by this very
    /// session.
    pub(super) fn give_way(&self) -> Result<bool> {
        // It may be this thread that works in it.
        let Ok(mut running) = self.manual.try_lock() else { return Ok(false) };
        let Some(manual) = running.as_ref() else { return Ok(false) };
        let sees_committed =
            !matches!(manual.isolation, Isolation::Snapshot | Isolation::SnapshotTableStability);
        if !sees_committed || self.has_open_results() || manual.transaction.has_changes()? {
            return Ok(false);
        }
        match running.take() {
            Some(manual) => self.finish(manual, true).map(|()| true),
            None => Ok(false),
        }
    }

    /// Notes that the front end's connection is gone; statements and results may continue. What nobody can commit is
    /// rolled back, at the latest with the last result that reads it.
    pub fn release(&self) {
        self.released.store(true, Ordering::SeqCst);
        if !self.is_foreign() && !self.has_open_results() {
            // No caller is left to report this to.
            let _ = self.contain(|| self.end(false));
        }
    }
}
