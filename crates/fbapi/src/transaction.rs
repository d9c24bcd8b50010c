//! A transaction.

use crate::Error;
use crate::abi::{IStatus, ITransaction, Owned};
use crate::attachment::{AttachmentCore, length};
use crate::info::answer;
use crate::status::Status;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A transaction. Dropping it rolls back, once its cursors and BLOBs are gone; a prepared one stays in limbo instead.
pub struct Transaction {
    core: Arc<TransactionCore>,
    status: Status,
}

/// The part that cursors and BLOBs keep alive.
pub(crate) struct TransactionCore {
    interface: Owned<ITransaction>,
    active: AtomicBool,
    prepared: AtomicBool,
    pub(crate) attachment: Arc<AttachmentCore>,
}

impl Transaction {
    pub(crate) fn new(
        attachment: &Arc<AttachmentCore>,
        interface: Owned<ITransaction>,
    ) -> Result<Self, Error> {
        let status = attachment.status()?;
        let (active, prepared) = (AtomicBool::new(true), AtomicBool::new(false));
        let attachment = Arc::clone(attachment);
        let core = Arc::new(TransactionCore { interface, active, prepared, attachment });
        Ok(Self { core, status })
    }

    /// A transaction in limbo.
    pub(crate) fn prepared(
        attachment: &Arc<AttachmentCore>,
        interface: Owned<ITransaction>,
    ) -> Result<Self, Error> {
        let transaction = Self::new(attachment, interface)?;
        transaction.core.prepared.store(true, Ordering::Relaxed);
        Ok(transaction)
    }

    /// Whether the transaction is still active.
    pub fn is_active(&self) -> bool {
        self.core.active.load(Ordering::Relaxed)
    }

    /// Commits and ends the transaction. After a failure it is still active and can be rolled back.
    pub fn commit(&mut self) -> Result<(), Error> {
        self.raw()?;
        self.core.end(&self.status, ITransaction::commit)
    }

    /// Rolls back and ends the transaction.
    pub fn rollback(&mut self) -> Result<(), Error> {
        self.raw()?;
        self.core.end(&self.status, ITransaction::rollback)
    }

    /// Commits but keeps the transaction active; cursors stay open.
    pub fn commit_retaining(&mut self) -> Result<(), Error> {
        // SAFETY: the interface is alive.
        self.call(|this, status| unsafe { ITransaction::commit_retaining(this, status) })
    }

    /// Rolls back but keeps the transaction active.
    pub fn rollback_retaining(&mut self) -> Result<(), Error> {
        // SAFETY: the interface is alive.
        self.call(|this, status| unsafe { ITransaction::rollback_retaining(this, status) })
    }

    /// Performs the first phase of a two-phase commit; `message` describes the transaction for its recovery. After
    /// that, only a commit or a rollback ends it, in this process or in another one.
    pub fn prepare(&mut self, message: &[u8]) -> Result<(), Error> {
        let length = length(message)?;
        // SAFETY: the message has the length given.
        self.call(|this, status| unsafe { ITransaction::prepare(this, status, length, message.as_ptr()) })?;
        self.core.prepared.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Requests information items; see [`Attachment::info`](crate::Attachment::info).
    pub fn info(&self, items: &[u8], size: usize) -> Result<Vec<u8>, Error> {
        let length = length(items)?;
        answer(size, |buffer, size| {
            // SAFETY: items and buffer have the lengths given.
            self.call(|this, status| unsafe {
                ITransaction::info(this, status, length, items.as_ptr(), size, buffer)
            })
        })
    }

    pub(crate) fn core(&self) -> &Arc<TransactionCore> {
        &self.core
    }

    /// The interface; fails if the transaction has ended.
    pub(crate) fn raw(&self) -> Result<*mut ITransaction, Error> {
        if self.is_active() { Ok(self.core.interface.raw()) } else { Err(Error::NoTransaction) }
    }

    /// Lends the transaction to an execution, which may end it or replace it with another one.
    ///
    /// `run` gives one reference away and receives one for the transaction that it returns, even when it
    /// fails. If that is the same transaction, nothing has happened.
    pub(crate) fn lend(
        &mut self,
        attachment: &Arc<AttachmentCore>,
        run: impl FnOnce(*mut ITransaction) -> (*mut ITransaction, Result<(), Error>),
    ) -> Result<Option<Self>, Error> {
        let before = self.raw()?;
        let reference = self.core.interface.clone();
        let (after, result) = run(before);
        if after == before {
            return result.map(|()| None);
        }
        reference.was_taken();
        self.core.active.store(false, Ordering::Relaxed);
        // SAFETY: the reference that the call returned is ours.
        let started = unsafe { Self::started(attachment, after) }?;
        result.map(|()| started)
    }

    /// The transaction that an execution started, if it did.
    ///
    /// # Safety
    /// `raw` must be null or carry a reference that belongs to the caller.
    pub(crate) unsafe fn started(
        attachment: &Arc<AttachmentCore>,
        raw: *mut ITransaction,
    ) -> Result<Option<Self>, Error> {
        if raw.is_null() {
            return Ok(None);
        }
        // SAFETY: the caller vouches for the reference.
        Self::new(attachment, unsafe { Owned::new(raw) }?).map(Some)
    }

    fn call<T>(&self, call: impl FnOnce(*mut ITransaction, *mut IStatus) -> T) -> Result<T, Error> {
        let raw = self.raw()?;
        self.status.call(|status| call(raw, status))
    }
}

impl TransactionCore {
    /// Makes a closing call, which takes one reference if it succeeds.
    fn end(&self, status: &Status, call: unsafe fn(*mut ITransaction, *mut IStatus)) -> Result<(), Error> {
        let reference = self.interface.clone();
        // SAFETY: the interface is alive, and one reference is the call's to take.
        status.call(|status| unsafe { call(reference.raw(), status) })?;
        reference.was_taken();
        self.active.store(false, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for TransactionCore {
    fn drop(&mut self) {
        if self.active.load(Ordering::Relaxed) {
            let undecided = self.prepared.load(Ordering::Relaxed);
            let call = if undecided { ITransaction::disconnect } else { ITransaction::rollback };
            // No caller is left to report this to; releasing the interface has the same effect.
            let _ = Status::new(&self.attachment.library).and_then(|status| self.end(&status, call));
        }
    }
}

impl std::fmt::Debug for Transaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transaction").field("active", &self.core.active).finish_non_exhaustive()
    }
}
