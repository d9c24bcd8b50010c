//! Bulk operations: many executions of one statement in one call. Firebird calls them batches, and so do the names
//! here.

use crate::Error;
use crate::abi::{IBatch, IMessageMetadata, IStatus, Owned, Quad};
use crate::attachment::length;
use crate::blob_stream::BlobStream;
use crate::completion::{self, Completion};
use crate::message::Shape;
use crate::metadata::Metadata;
use crate::statement::StatementCore;
use crate::status::Status;
use crate::transaction::Transaction;
use firearrow_proto::api::gds;
use firearrow_proto::api::pb::{bulk, bulk_parameters};
use firearrow_proto::api::status::{StatusArg, StatusVector};
use std::sync::Arc;

/// The options of a bulk operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchOptions {
    /// Whether to continue after a message that failed; otherwise it is the last one.
    pub multi_error: bool,
    /// Whether to count the rows that each message changes.
    pub record_counts: bool,
    /// Most bytes of messages, and of BLOBs, per execution: 16 MiB by default; 0 means [`Batch::LIMIT`].
    pub buffer_size: Option<u32>,
    /// How many failures of one execution include their status: 64 by default, 256 at most.
    pub detailed_errors: Option<u32>,
    /// How to add BLOBs.
    pub blobs: BlobPolicy,
}

/// How to add BLOBs to a bulk operation. Messages refer to them by ids that are valid only within it. The first message
/// with an id uses it up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlobPolicy {
    /// By [`register_blob`](Batch::register_blob), which every policy allows.
    #[default]
    None = 0,
    /// By [`add_blob`](Batch::add_blob), which returns their ids.
    EngineIds = 1,
    /// By [`add_blob`](Batch::add_blob) under ids chosen by the caller.
    OwnIds = 2,
    /// By [`add_blob_stream`](Batch::add_blob_stream), under ids chosen by the caller.
    Stream = 3,
}

impl BatchOptions {
    /// The parameter buffer.
    pub(crate) fn parameters(&self) -> Vec<u8> {
        let values = [
            (bulk::MULTIERROR, self.multi_error.then_some(1)),
            (bulk::RECORD_COUNTS, self.record_counts.then_some(1)),
            (bulk::BUFFER_BYTES_SIZE, self.buffer_size),
            (bulk::BLOB_POLICY, (self.blobs != BlobPolicy::None).then_some(self.blobs as u32)),
            (bulk::DETAILED_ERRORS, self.detailed_errors),
        ];
        bulk_parameters(values.into_iter().filter_map(|(tag, value)| Some((tag, value?))))
    }
}

/// A bulk operation: collects messages and executes the statement for all of them in one call. Dropping it closes it.
///
/// ```text
///  create_batch ─► add_blob … ─► add … ─► execute ─► Completion
///                      ▲                     │
///                      └──── empty again ◄───┘
/// ```
///
/// While it is open, a server refuses any other execution of the statement.
pub struct Batch {
    interface: Owned<IBatch>,
    status: Status,
    shape: Shape,
    blobs: BlobPolicy,
    has_counts: bool,
    has_half_blob: bool,
    is_open: bool,
    // Fields are dropped in this order, after `Batch` itself.
    _format: Owned<IMessageMetadata>,
    statement: Arc<StatementCore>,
}

impl Batch {
    /// Upper limit on the bytes of messages, and of BLOBs. The library adds lengths in 32 bits, so this crate must not
    /// even offer it more.
    pub const LIMIT: usize = 256 << 20;

    pub(crate) fn new(
        statement: &Arc<StatementCore>,
        interface: Owned<IBatch>,
        format: &Metadata,
        options: &BatchOptions,
    ) -> Result<Self, Error> {
        let status = statement.attachment.status()?;
        Ok(Self {
            interface,
            status,
            shape: format.shape(),
            blobs: options.blobs,
            has_counts: options.record_counts,
            has_half_blob: false,
            is_open: true,
            _format: format.interface().clone(),
            statement: Arc::clone(statement),
        })
    }

    /// Distance between messages.
    pub fn stride(&self) -> usize {
        self.shape.stride()
    }

    /// Adds the first `count` messages of a buffer, one [`stride`](Self::stride) apart. The gap after the last one must
    /// be in the buffer, too: the library copies it.
    ///
    /// `isc_batch_too_big` from an engine in this process means that none of them was added and that
    /// [`execute`](Self::execute) is still possible. A server may report it as late as `execute`; all messages are lost
    /// then.
    pub fn add(&mut self, messages: &[u8], count: usize) -> Result<(), Error> {
        let start = self.shape.messages(messages, count)?;
        limited(self.stride() * count)?;
        // SAFETY: the buffer was measured; the count fits because each message has at least one byte.
        self.call(|this, status| unsafe { IBatch::add(this, status, count as u32, start) })
    }

    /// Adds a BLOB and returns its id for messages. `id` is any number but 0, or `None` with [`BlobPolicy::EngineIds`].
    /// Without a parameter buffer, creates a stream BLOB.
    ///
    /// A failure leaves an incomplete BLOB; only [`cancel`](Self::cancel) is possible then.
    pub fn add_blob(&mut self, id: Option<u64>, bytes: &[u8], bpb: &[u8]) -> Result<u64, Error> {
        self.check_whole()?;
        let mut id = self.blob_id(id)?;
        limited(bytes.len().saturating_add(bpb.len()))?;
        let (bytes_length, bpb_length) = (length(bytes)?, length(bpb)?);
        // SAFETY: the id is writable, and both buffers have the lengths given.
        let result = self.call(|this, status| unsafe {
            IBatch::add_blob(this, status, bytes_length, bytes.as_ptr(), &mut id, bpb_length, bpb.as_ptr())
        });
        self.has_half_blob = result.is_err();
        result.map(|()| id.id())
    }

    /// Adds the BLOBs of a stream. Fails like [`add_blob`](Self::add_blob).
    pub fn add_blob_stream(&mut self, stream: &BlobStream) -> Result<(), Error> {
        self.check_whole()?;
        let bytes = stream.bytes();
        limited(bytes.len())?;
        let length = length(bytes)?;
        // SAFETY: the stream has the length given, and is aligned and well-formed, as the library assumes.
        let result = self
            .call(|this, status| unsafe { IBatch::add_blob_stream(this, status, length, bytes.as_ptr()) });
        self.has_half_blob = result.is_err();
        result
    }

    /// Registers an existing BLOB of the transaction that will execute the messages. `id` is as in
    /// [`add_blob`](Self::add_blob); the BLOB's own id will do.
    pub fn register_blob(&mut self, existing: u64, id: Option<u64>) -> Result<u64, Error> {
        let mut id = self.blob_id(id)?;
        let existing = Quad::from_id(existing);
        // SAFETY: both ids live during the call, and the second one is writable.
        self.call(|this, status| unsafe { IBatch::register_blob(this, status, &existing, &mut id) })?;
        Ok(id.id())
    }

    /// The alignment of BLOBs in a stream. It is [`BlobStream::ALIGNMENT`] in all engines so far.
    pub fn blob_alignment(&self) -> Result<u32, Error> {
        // SAFETY: the interface is alive.
        self.call(|this, status| unsafe { IBatch::blob_alignment(this, status) })
    }

    /// Executes the statement once for each message, and removes the messages.
    ///
    /// Success says nothing about the messages: see the [`Completion`]. Changes of successful messages remain in the
    /// transaction, whatever else failed. An error means that the execution as a whole failed or stopped. A value that
    /// cannot be converted and an unknown BLOB id stop it even with [`multi_error`](BatchOptions::multi_error).
    pub fn execute(&mut self, transaction: &Transaction) -> Result<Completion, Error> {
        self.check_whole()?;
        let raw_transaction = transaction.raw()?;
        // The library would dereference a null pointer.
        if !Arc::ptr_eq(&transaction.core().attachment, &self.statement.attachment) {
            return Err(Error::Argument { what: "the transaction belongs to another attachment".into() });
        }
        // SAFETY: interface and transaction are alive and belong to one attachment.
        match self.call(|this, status| unsafe { IBatch::execute(this, status, raw_transaction) }) {
            // SAFETY: the completion state that the call returned is ours.
            Ok(state) => unsafe {
                completion::read(&self.statement.attachment.library, state, self.has_counts)
            },
            Err(error) => {
                // Some failures leave messages that the next call would execute.
                let _ = self.cancel();
                Err(error)
            }
        }
    }

    /// Removes all messages and BLOBs.
    pub fn cancel(&mut self) -> Result<(), Error> {
        // SAFETY: the interface is alive.
        self.call(|this, status| unsafe { IBatch::cancel(this, status) })?;
        self.has_half_blob = false;
        Ok(())
    }

    /// Closes the bulk operation and discards messages that were not executed.
    pub fn close(mut self) -> Result<(), Error> {
        self.end()
    }

    /// Makes the closing call, which takes one reference if it succeeds.
    fn end(&mut self) -> Result<(), Error> {
        self.is_open = false;
        let reference = self.interface.clone();
        // SAFETY: the interface is alive, and one reference is the call's to take.
        self.status.call(|status| unsafe { IBatch::close(reference.raw(), status) })?;
        reference.was_taken();
        Ok(())
    }

    /// The initial id; the engine replaces it if it assigns ids itself.
    fn blob_id(&self, id: Option<u64>) -> Result<Quad, Error> {
        match (self.blobs, id) {
            (BlobPolicy::EngineIds, None) => Ok(Quad::default()),
            (BlobPolicy::EngineIds, Some(_)) => {
                Err(Error::Argument { what: "the engine assigns the BLOB ids of this bulk operation".into() })
            }
            (_, id) => own_id(id),
        }
    }

    fn check_whole(&self) -> Result<(), Error> {
        if self.has_half_blob {
            return Err(Error::Argument { what: "a BLOB is incomplete; cancel the bulk operation".into() });
        }
        Ok(())
    }

    fn call<T>(&self, call: impl FnOnce(*mut IBatch, *mut IStatus) -> T) -> Result<T, Error> {
        self.status.call(|status| call(self.interface.raw(), status))
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        if self.is_open {
            // No caller is left to report this to; releasing the interface closes the bulk operation in any case.
            let _ = self.end();
        }
    }
}

impl std::fmt::Debug for Batch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batch")
            .field("shape", &self.shape)
            .field("blobs", &self.blobs)
            .finish_non_exhaustive()
    }
}

/// Checks an id of the caller. 0 would continue the BLOB before it, and crash engines if there is none.
pub(crate) fn own_id(id: Option<u64>) -> Result<Quad, Error> {
    match id {
        Some(id) if id != 0 => Ok(Quad::from_id(id)),
        _ => Err(Error::Argument { what: "a BLOB of a bulk operation needs an id other than 0".into() }),
    }
}

/// Refuses lengths that would overflow the library's sums, with the engine's own error.
pub(crate) fn limited(length: usize) -> Result<(), Error> {
    if length <= Batch::LIMIT {
        return Ok(());
    }
    Err(Error::Status(StatusVector(vec![StatusArg::Gds(gds::ISC_BATCH_TOO_BIG)])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_contain_only_what_differs_from_the_defaults() {
        assert_eq!(BatchOptions::default().parameters(), [1]);
        let options = BatchOptions { multi_error: true, record_counts: true, ..BatchOptions::default() };
        assert_eq!(options.parameters(), [1, 1, 4, 0, 0, 0, 1, 0, 0, 0, 2, 4, 0, 0, 0, 1, 0, 0, 0]);
        let options = BatchOptions {
            buffer_size: Some(64 << 20),
            detailed_errors: Some(256),
            blobs: BlobPolicy::Stream,
            ..BatchOptions::default()
        };
        let expected =
            [[3, 4, 0, 0, 0, 0, 0, 0, 4], [4, 4, 0, 0, 0, 3, 0, 0, 0], [5, 4, 0, 0, 0, 0, 1, 0, 0]];
        assert_eq!(options.parameters()[1..], expected.concat());
    }

    #[test]
    fn lengths_that_would_overflow_are_refused() {
        assert!(limited(Batch::LIMIT).is_ok());
        let error = limited(Batch::LIMIT + 1).unwrap_err();
        assert!(error.status().is_some_and(|status| status.contains(gds::ISC_BATCH_TOO_BIG)));
    }
}
