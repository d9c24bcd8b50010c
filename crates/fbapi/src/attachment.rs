//! An open database.

use crate::Error;
use crate::abi::{IAttachment, IProvider, IStatus, Owned, Quad};
use crate::blob::{Blob, read_and_close};
use crate::event::{Callback, Events};
use crate::info::answer;
use crate::library::{Library, c_string};
use crate::platform::handlers;
use crate::statement::Statement;
use crate::status::{Status, WarningListener};
use crate::transaction::Transaction;
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::status::StatusVector;
use std::ffi::c_char;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The slot of [`IProvider`] that opens or creates a database.
pub(crate) type Open =
    unsafe fn(*mut IProvider, *mut IStatus, *const c_char, u32, *const u8) -> *mut IAttachment;

/// An open database. Dropping it detaches, once all its children are gone.
///
/// One thread at a time may use it. Other threads may use its statements, cursors and BLOBs meanwhile; the engine
/// serializes them.
pub struct Attachment {
    core: Arc<AttachmentCore>,
    status: Status,
}

/// The part that the children of an attachment keep alive.
pub(crate) struct AttachmentCore {
    interface: Owned<IAttachment>,
    ended: AtomicBool,
    /// Callbacks that the engine may still call.
    callbacks: Mutex<Vec<Callback>>,
    listener: WarningListener,
    pub(crate) library: Arc<Library>,
}

impl Attachment {
    pub(crate) fn open(
        library: &Arc<Library>,
        provider: NonNull<IProvider>,
        path: &str,
        dpb: &[u8],
        call: Open,
    ) -> Result<Self, Error> {
        let path = c_string(path.as_bytes())?;
        let length = length(dpb)?;
        let listener = WarningListener::default();
        let status = Status::with(library, &listener)?;
        handlers::keep(|| {
            // SAFETY: the provider and the path live forever, and the path ends with NUL; there is no buffer.
            let refused = status.call(|status| unsafe {
                IProvider::attach(provider.as_ptr(), status, c"".as_ptr(), 0, ptr::null())
            });
            debug_assert!(refused.is_err(), "a database without a name");
        });
        // SAFETY: the provider lives forever, the path ends with NUL and the buffer has the length given.
        let raw = status
            .call(|status| unsafe { call(provider.as_ptr(), status, path.as_ptr(), length, dpb.as_ptr()) })?;
        // SAFETY: the reference that the call returned is ours.
        let interface = unsafe { Owned::new(raw) }?;
        let (ended, callbacks) = (AtomicBool::new(false), Mutex::default());
        let library = Arc::clone(library);
        let core = Arc::new(AttachmentCore { interface, ended, callbacks, listener, library });
        Ok(Self { core, status })
    }

    /// The library that opened it.
    pub fn library(&self) -> &Arc<Library> {
        &self.core.library
    }

    /// Starts a transaction; an empty buffer means snapshot, wait, read and write.
    pub fn start_transaction(&self, tpb: &[u8]) -> Result<Transaction, Error> {
        let length = length(tpb)?;
        // SAFETY: the block has the length given.
        let raw = self.call(|this, status| unsafe {
            IAttachment::start_transaction(this, status, length, tpb.as_ptr())
        })?;
        // SAFETY: the reference that the call returned is ours.
        Transaction::new(&self.core, unsafe { Owned::new(raw) }?)
    }

    /// Takes over a transaction in limbo; `id` is as [`transaction_id`] encodes it. Like a
    /// [prepared](Transaction::prepare) one, it stays in limbo until it is committed or rolled back.
    ///
    /// [`transaction_id`]: firearrow_proto::api::transaction::transaction_id
    pub fn reconnect_transaction(&self, id: &[u8]) -> Result<Transaction, Error> {
        let length = length(id)?;
        // SAFETY: the id has the length given.
        let raw = self.call(|this, status| unsafe {
            IAttachment::reconnect_transaction(this, status, length, id.as_ptr())
        })?;
        // SAFETY: the reference that the call returned is ours.
        Transaction::prepared(&self.core, unsafe { Owned::new(raw) }?)
    }

    /// Waits for events; `block` is as in [`firearrow_proto::api::event`]. The engine calls `receive` once, in a thread
    /// of its own, perhaps before this returns. It must return quickly and must not use the attachment.
    pub fn queue_events(
        &self,
        block: &[u8],
        receive: impl Fn(&[u8]) + Send + Sync + 'static,
    ) -> Result<Events, Error> {
        let length = length(block)?;
        let callback = Callback::new(receive);
        let status = self.core.status()?;
        // SAFETY: the callback is alive, and the engine takes references of its own; the block has the length given.
        let raw = self.call(|this, status| unsafe {
            IAttachment::queue_events(this, status, callback.raw(), length, block.as_ptr())
        })?;
        // SAFETY: the reference that the call returned is ours.
        let interface = unsafe { Owned::new(raw) }?;
        Ok(Events::new(&self.core, interface, callback, status))
    }

    /// Executes a statement without parameters or a result.
    ///
    /// COMMIT and ROLLBACK end `transaction`. SET TRANSACTION, with or without `transaction`, returns the one that it
    /// starts.
    pub fn execute_immediate(
        &self,
        transaction: Option<&mut Transaction>,
        sql: &str,
        dialect: Dialect,
    ) -> Result<Option<Transaction>, Error> {
        let (text, length) = sql_text(sql)?;
        let run = |before| {
            self.status.run(|status| {
                // SAFETY: the text has the length given; `before` is null or a live transaction, one
                // reference of which goes to the engine; no messages are passed.
                unsafe {
                    IAttachment::execute(
                        self.core.interface.raw(),
                        status,
                        before,
                        length,
                        text,
                        dialect.number().into(),
                        ptr::null_mut(),
                        ptr::null_mut(),
                        ptr::null_mut(),
                        ptr::null_mut(),
                    )
                }
            })
        };
        match transaction {
            Some(transaction) => transaction.lend(&self.core, run),
            None => {
                let (raw, result) = run(ptr::null_mut());
                // SAFETY: the reference that the call returned is ours.
                let started = unsafe { Transaction::started(&self.core, raw) }?;
                result.map(|()| started)
            }
        }
    }

    /// Prepares a statement.
    pub fn prepare(
        &self,
        transaction: &Transaction,
        sql: &str,
        dialect: Dialect,
    ) -> Result<Statement, Error> {
        /// Type, flags and both descriptions, so that reading them later needs no round trip to a server.
        const WITH_METADATA: u32 = 0x47;
        let (text, length) = sql_text(sql)?;
        let transaction = transaction.raw()?;
        // SAFETY: the transaction is alive and the text has the length given.
        let raw = self.call(|this, status| unsafe {
            let dialect = dialect.number().into();
            IAttachment::prepare(this, status, transaction, length, text, dialect, WITH_METADATA)
        })?;
        // SAFETY: the reference that the call returned is ours.
        Statement::new(&self.core, unsafe { Owned::new(raw) }?)
    }

    /// Requests information items; zeros may follow the answer. `size` is its expected length; a longer answer gets
    /// more space.
    pub fn info(&self, items: &[u8], size: usize) -> Result<Vec<u8>, Error> {
        let length = length(items)?;
        answer(size, |buffer, size| {
            // SAFETY: items and buffer have the lengths given.
            self.call(|this, status| unsafe {
                IAttachment::info(this, status, length, items.as_ptr(), size, buffer)
            })
        })
    }

    /// Opens a BLOB for reading; `id` is as [`ValueFormat::quad`](firearrow_proto::api::row::ValueFormat::quad) reads
    /// it.
    pub fn open_blob(&self, transaction: &Transaction, id: u64, bpb: &[u8]) -> Result<Blob, Error> {
        self.blob(transaction, id, bpb, false)
    }

    /// Appends the contents of a stored BLOB to `target` and returns their length. Fails as soon as that exceeds `limit`;
    /// `target` then ends with what came before. Costs less than opening a [`Blob`].
    pub fn read_blob(
        &self,
        transaction: &Transaction,
        id: u64,
        target: &mut Vec<u8>,
        limit: usize,
    ) -> Result<usize, Error> {
        let raw_transaction = transaction.raw()?;
        let mut id = Quad::from_id(id);
        // SAFETY: the transaction is alive, the id is writable, and there is no buffer.
        let raw = self.call(|this, status| unsafe {
            IAttachment::open_blob(this, status, raw_transaction, &mut id, 0, [].as_ptr())
        })?;
        // SAFETY: the reference that the call returned is ours.
        read_and_close(unsafe { Owned::new(raw) }?, &self.status, target, limit)
    }

    /// Creates a BLOB; its [`id`](Blob::id) stays temporary until a row refers to it.
    pub fn create_blob(&self, transaction: &Transaction, bpb: &[u8]) -> Result<Blob, Error> {
        self.blob(transaction, 0, bpb, true)
    }

    fn blob(&self, transaction: &Transaction, id: u64, bpb: &[u8], is_new: bool) -> Result<Blob, Error> {
        let length = length(bpb)?;
        let raw_transaction = transaction.raw()?;
        let mut id = Quad::from_id(id);
        let call = if is_new { IAttachment::create_blob } else { IAttachment::open_blob };
        // SAFETY: the transaction is alive, the id is writable, and the buffer has the length given.
        let raw = self.call(|this, status| unsafe {
            call(this, status, raw_transaction, &mut id, length, bpb.as_ptr())
        })?;
        // SAFETY: the reference that the call returned is ours.
        Blob::new(transaction.core(), unsafe { Owned::new(raw) }?, id.id(), is_new)
    }

    /// Sets the longest BLOB that the server may send along with its row, in bytes; 0 disables this. Needs a client
    /// library and a server of Firebird 5.0.3.
    pub fn max_inline_blob_size(&self) -> Result<u32, Error> {
        if self.core.interface.version() < 6 {
            return Err(Error::Unsupported { what: "sending BLOBs with their rows", since: "5.0.3" });
        }
        // SAFETY: the interface is alive and, as just checked, new enough.
        self.call(|this, status| unsafe { IAttachment::max_inline_blob_size(this, status) })
    }

    /// Checks that the engine still answers.
    pub fn ping(&self) -> Result<(), Error> {
        // SAFETY: the interface is alive.
        self.call(|this, status| unsafe { IAttachment::ping(this, status) })
    }

    /// Returns a handle with which other threads can interrupt this attachment.
    pub fn canceller(&self) -> Canceller {
        Canceller { interface: self.core.interface.clone(), library: Arc::clone(&self.core.library) }
    }

    /// Warnings of the last successful call.
    pub fn warnings(&self) -> StatusVector {
        self.status.warnings()
    }

    /// From now on, calls `listener` with the warnings of each successful call of this attachment and its children, in
    /// the thread of that call. It must not use the attachment. Only the first listener counts.
    pub fn on_warning(&self, listener: impl Fn(StatusVector) + Send + Sync + 'static) {
        let _ = self.core.listener.set(Box::new(listener));
    }

    /// Closes the attachment. All transactions must have ended; otherwise, the engine refuses and shuts the attachment
    /// down, which is unusable then.
    pub fn detach(self) -> Result<(), Error> {
        self.core.end(&self.status, IAttachment::detach)
    }

    /// Deletes the database and closes the attachment.
    pub fn drop_database(self) -> Result<(), Error> {
        self.core.end(&self.status, IAttachment::drop_database)
    }

    pub(crate) fn call<T>(&self, call: impl FnOnce(*mut IAttachment, *mut IStatus) -> T) -> Result<T, Error> {
        self.status.call(|status| call(self.core.interface.raw(), status))
    }
}

impl AttachmentCore {
    /// A status for one more object.
    pub(crate) fn status(&self) -> Result<Status, Error> {
        Status::with(&self.library, &self.listener)
    }

    pub(crate) fn keep_callback(&self, callback: Callback) {
        self.callbacks.lock().unwrap_or_else(PoisonError::into_inner).push(callback);
    }

    /// Makes a closing call, which takes one reference if it succeeds.
    fn end(&self, status: &Status, call: unsafe fn(*mut IAttachment, *mut IStatus)) -> Result<(), Error> {
        let reference = self.interface.clone();
        // SAFETY: the interface is alive, and one reference is the call's to take.
        status.call(|status| unsafe { call(reference.raw(), status) })?;
        reference.was_taken();
        self.ended.store(true, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for AttachmentCore {
    fn drop(&mut self) {
        if !self.ended.load(Ordering::Relaxed) {
            // No caller is left to report this to; releasing the interface ends the attachment in any case.
            let _ = Status::new(&self.library).and_then(|status| self.end(&status, IAttachment::detach));
        }
    }
}

impl std::fmt::Debug for Attachment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attachment").field("ended", &self.core.ended).finish_non_exhaustive()
    }
}

/// What [`Canceller::cancel`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelKind {
    /// Forbid cancelling from now on.
    Disable = 1,
    /// Allow it again.
    Enable = 2,
    /// Interrupt what is running; it fails with `isc_cancelled`.
    Raise = 3,
    /// Abort the attachment.
    Abort = 4,
}

/// Interrupts an attachment from another thread. Does not keep the attachment open.
#[derive(Clone)]
pub struct Canceller {
    interface: Owned<IAttachment>,
    library: Arc<Library>,
}

impl Canceller {
    /// Interrupts the attachment, or forbids or allows that.
    pub fn cancel(&self, kind: CancelKind) -> Result<(), Error> {
        let status = Status::new(&self.library)?;
        // SAFETY: the interface is alive; after the attachment's end it answers with an error.
        status.call(|status| unsafe {
            IAttachment::cancel_operation(self.interface.raw(), status, kind as i32)
        })
    }
}

impl std::fmt::Debug for Canceller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Canceller").finish_non_exhaustive()
    }
}

/// Converts the length of a buffer for the interfaces.
pub(crate) fn length(block: &[u8]) -> Result<u32, Error> {
    u32::try_from(block.len())
        .map_err(|_| Error::Argument { what: format!("{} bytes are more than a call accepts", block.len()) })
}

/// Address and length of a statement's text. Length 0 would mean "up to NUL", so an empty text points at one.
fn sql_text(sql: &str) -> Result<(*const c_char, u32), Error> {
    let start = if sql.is_empty() { c"".as_ptr() } else { sql.as_ptr().cast() };
    Ok((start, length(sql.as_bytes())?))
}
