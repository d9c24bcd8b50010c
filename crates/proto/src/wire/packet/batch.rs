//! Bulk operations (protocol 16 and later): many messages for one statement, executed together. Firebird calls them
//! batches, and so do the names here.
//!
//! A bulk operation belongs to its statement, named by its real handle. The server defers the answers to all requests
//! but the execution until it answers something else.

use super::response::decode_status;
use super::{Answer, Request};
use crate::api::pb::{bulk, bulk_parameters};
use crate::api::status::StatusVector;
use crate::wire::error::{DecodeError, invalid};
use crate::wire::limits::Limits;
use crate::wire::op::Op;
use crate::wire::version::ProtocolVersion;
use crate::wire::xdr::{Reader, Writer};

/// The options of a bulk operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchOptions {
    /// Whether to continue after a record that fails.
    pub multi_error: bool,
    /// Whether to count affected rows per record.
    pub record_counts: bool,
    /// How many status vectors the engine keeps: 64 by default, 256 at most.
    pub detailed_errors: Option<u32>,
    /// How many bytes of messages the server keeps: 16 MB by default, 256 MB at most.
    pub buffer_bytes: Option<u32>,
    /// Whether messages refer to BLOBs, sent by [`BatchBlobs`] or named by [`RegisterBlob`].
    pub has_blobs: bool,
}

impl BatchOptions {
    /// The parameter buffer.
    pub fn block(&self) -> Vec<u8> {
        // Network servers use the stream policy, whichever one the client requests.
        let values = [
            (bulk::MULTIERROR, self.multi_error.then_some(1)),
            (bulk::RECORD_COUNTS, self.record_counts.then_some(1)),
            (bulk::BUFFER_BYTES_SIZE, self.buffer_bytes),
            (bulk::BLOB_POLICY, self.has_blobs.then_some(bulk::BLOB_STREAM)),
            (bulk::DETAILED_ERRORS, self.detailed_errors),
        ];
        bulk_parameters(values.into_iter().filter_map(|(tag, value)| Some((tag, value?))))
    }
}

/// `op_batch_create`: begins a bulk operation. Send nothing else for it until the server has confirmed it.
#[derive(Clone, Copy, Debug)]
pub struct CreateBatch<'a> {
    /// Handle of the statement.
    pub statement: u16,
    /// BLR of the messages.
    pub blr: &'a [u8],
    /// Length of a native message, without trailing padding.
    pub message_length: u32,
    /// [`BatchOptions::block`].
    pub options: &'a [u8],
}

impl Request for CreateBatch<'_> {
    const OP: Op = Op::BATCH_CREATE;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(self.statement);
        out.cstr(self.blr);
        out.word(self.message_length);
        out.cstr(self.options);
    }
}

/// `op_batch_msg`: packed messages, one after the other. Servers are fastest with about 200 KB.
#[derive(Clone, Copy, Debug)]
pub struct BatchMessages<'a> {
    /// Handle of the statement.
    pub statement: u16,
    /// The number of messages.
    pub count: u32,
    /// The messages.
    pub messages: &'a [u8],
}

impl Request for BatchMessages<'_> {
    const OP: Op = Op::BATCH_MSG;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(self.statement);
        out.word(self.count);
        out.bytes(self.messages);
    }
}

/// `op_batch_regblob`: names an existing BLOB of the same transaction for messages to refer to.
#[derive(Clone, Copy, Debug)]
pub struct RegisterBlob {
    /// Handle of the statement.
    pub statement: u16,
    /// Its id.
    pub id: u64,
    /// Its id in the messages, possibly the same.
    pub batch_id: u64,
}

impl Request for RegisterBlob {
    const OP: Op = Op::BATCH_REGBLOB;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(self.statement);
        out.quad(self.id);
        out.quad(self.batch_id);
    }
}

/// `op_batch_blob_stream`: BLOBs for messages of the same execution. Requires an open bulk operation with
/// [`has_blobs`](BatchOptions::has_blobs): servers crash otherwise.
#[derive(Clone, Copy, Debug)]
pub struct BatchBlobs<'a> {
    /// Handle of the statement.
    pub statement: u16,
    /// The BLOBs.
    pub portion: &'a BlobPortion,
}

impl Request for BatchBlobs<'_> {
    const OP: Op = Op::BATCH_BLOB_STREAM;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(self.statement);
        out.word(self.portion.length);
        // Gaps count in the length but are not sent, so the packet may end anywhere.
        out.bytes(&self.portion.bytes);
    }
}

/// BLOBs as [`BatchBlobs`] sends them: complete stream BLOBs.
#[derive(Clone, Debug, Default)]
pub struct BlobPortion {
    bytes: Vec<u8>,
    /// Length in bytes in the engine's layout.
    length: u32,
}

impl BlobPortion {
    /// Appends a BLOB. Messages refer to it by `id`, which must not be 0 and must be unique until the next execution.
    ///
    /// # Panics
    /// Panics if the portion would be too long for the format (4 GiB). Servers accept 256 MB at most.
    pub fn push(&mut self, id: u64, contents: &[u8]) {
        let length = u32::try_from(contents.len()).expect("portions are far below 4 GiB");
        let aligned = length.next_multiple_of(4) + 16;
        self.length = self.length.checked_add(aligned).expect("portions are far below 4 GiB");
        let mut out = Writer::new(&mut self.bytes);
        out.quad(id);
        out.word(length);
        out.word(0); // no BPB: a stream
        out.bytes(contents);
    }

    /// The bytes to send.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether it contains no BLOB.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Removes all BLOBs; keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.length = 0;
    }
}

/// `op_batch_exec`: executes the messages received and forgets them.
#[derive(Clone, Copy, Debug)]
pub struct ExecuteBatch {
    /// Handle of the statement.
    pub statement: u16,
    /// Handle of the transaction.
    pub transaction: u16,
}

impl Request for ExecuteBatch {
    const OP: Op = Op::BATCH_EXEC;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(self.statement);
        out.short(self.transaction);
    }

    fn answer(&self) -> Answer {
        Answer::Completion
    }
}

/// `op_batch_rls`: ends the bulk operation, so that the statement can be executed normally again.
#[derive(Clone, Copy, Debug)]
pub struct ReleaseBatch {
    /// Handle of the statement.
    pub statement: u16,
}

impl Request for ReleaseBatch {
    const OP: Op = Op::BATCH_RLS;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(self.statement);
    }
}

/// `op_batch_sync` (protocol 17): makes the server send the answers that it has deferred.
#[derive(Clone, Copy, Debug)]
pub struct SyncBatch;

impl Request for SyncBatch {
    const OP: Op = Op::BATCH_SYNC;

    fn encode(&self, _: ProtocolVersion, _: &mut Writer<'_>) {}
}

/// `op_batch_cs`: the outcome of each record of one execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Handle of the statement.
    pub statement: u16,
    /// Records processed, including those that failed.
    pub records: u32,
    /// Affected rows per record, if requested; −1 = failed, −2 = count unknown.
    pub updates: Vec<i32>,
    /// The 0-based number of each failed record, and its error.
    pub errors: Vec<(u32, StatusVector)>,
    /// The numbers of further failed records, without details.
    pub bare_errors: Vec<u32>,
}

impl Completion {
    /// Reads everything after the operation word.
    pub fn decode(reader: &mut Reader<'_>, limits: &Limits) -> Result<Self, DecodeError> {
        let statement = reader.short()?;
        let records = reader.word()?;
        let (updates, vectors, bare) = (reader.word()?, reader.word()?, reader.word()?);
        if updates != 0 && updates != records {
            return Err(invalid(format!("{updates} update counts for {records} records")));
        }
        if u64::from(vectors) + u64::from(bare) > u64::from(records) {
            return Err(invalid(format!("{vectors} + {bare} errors for {records} records")));
        }
        // Reserves no capacity from a peer's claim: bytes that have arrived pay for every element.
        reader.require(4 * u64::from(updates))?;
        let mut completion = Self { statement, records, ..Self::default() };
        for _ in 0..updates {
            completion.updates.push(reader.word()? as i32);
        }
        for _ in 0..vectors {
            completion.errors.push((reader.word()?, decode_status(reader, limits)?));
        }
        for _ in 0..bare {
            completion.bare_errors.push(reader.word()?);
        }
        Ok(completion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_between_blobs_count_but_are_not_sent() {
        let mut portion = BlobPortion::default();
        portion.push(1, b"abcde");
        portion.push(2, b"");
        let mut out = Vec::new();
        let request = BatchBlobs { statement: 7, portion: &portion };
        request.encode(ProtocolVersion::MAX, &mut Writer::new(&mut out));
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
        let expected = [words(&[7, 24 + 16, 0, 1, 5, 0]), b"abcde".to_vec(), words(&[0, 2, 0, 0])].concat();
        assert_eq!(out, expected);
        assert_eq!(portion.len(), 16 + 5 + 16);
        portion.clear();
        assert!(portion.is_empty());
    }
}
