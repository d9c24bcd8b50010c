//! The batch API (protocol 16 and later): many messages for one statement, executed together.
//!
//! A batch belongs to its statement, which must be named by its real handle. Answers to all requests but the
//! execution are held back by the server until something else is answered.

use super::response::decode_status;
use super::{Answer, Request};
use crate::api::pb::{bulk, bulk_parameters};
use crate::api::status::StatusVector;
use crate::wire::error::{DecodeError, invalid};
use crate::wire::limits::Limits;
use crate::wire::op::Op;
use crate::wire::version::ProtocolVersion;
use crate::wire::xdr::{Reader, Writer};

/// What a batch is asked to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchOptions {
    /// Go on behind a record that fails.
    pub multi_error: bool,
    /// Count affected rows per record.
    pub record_counts: bool,
    /// Status vectors that are kept; the engine has 64 by default and 256 at most.
    pub detailed_errors: Option<u32>,
    /// Bytes of messages that the server keeps; 16 MB by default, 256 MB at most.
    pub buffer_bytes: Option<u32>,
    /// Messages refer to BLOBs, which come by [`BatchBlobs`] or get known by [`RegisterBlob`].
    pub has_blobs: bool,
}

impl BatchOptions {
    /// The parameter block.
    pub fn block(&self) -> Vec<u8> {
        // Network servers take BLOBs as a stream only, whatever policy is asked for.
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

/// `op_batch_create`. Nothing of the batch may be sent before its success is known.
#[derive(Clone, Copy, Debug)]
pub struct CreateBatch<'a> {
    /// Handle of the statement.
    pub statement: u16,
    /// BLR of the messages.
    pub blr: &'a [u8],
    /// Length of a native message, without padding at its end.
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

/// `op_batch_msg`: packed messages, one behind the other. Servers are quickest with about 200 KB.
#[derive(Clone, Copy, Debug)]
pub struct BatchMessages<'a> {
    /// Handle of the statement.
    pub statement: u16,
    /// How many there are.
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

/// `op_batch_regblob`: a BLOB of the same transaction that a message refers to.
#[derive(Clone, Copy, Debug)]
pub struct RegisterBlob {
    /// Handle of the statement.
    pub statement: u16,
    /// Its id.
    pub id: u64,
    /// Its id in the messages; may be the same.
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

/// `op_batch_blob_stream`: BLOBs for messages of the same filling. Only for an open batch with
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
        // Gaps count in the length and do not travel, so that the packet may end anywhere.
        out.bytes(&self.portion.bytes);
    }
}

/// Some BLOBs as [`BatchBlobs`] sends them: stream BLOBs, each one whole.
#[derive(Clone, Debug, Default)]
pub struct BlobPortion {
    bytes: Vec<u8>,
    /// Bytes as the engine lays them out.
    length: u32,
}

impl BlobPortion {
    /// Appends a BLOB. `id` is for messages to refer to it: any but 0, and each once in a filling of the batch.
    ///
    /// # Panics
    /// When the portion would be longer than the format can say (4 GiB); servers take 256 MB at most.
    pub fn push(&mut self, id: u64, contents: &[u8]) {
        let length = u32::try_from(contents.len()).expect("portions are far below 4 GiB");
        let aligned = length.next_multiple_of(4) + 16;
        self.length = self.length.checked_add(aligned).expect("portions are far below 4 GiB");
        let mut out = Writer::new(&mut self.bytes);
        out.quad(id);
        out.word(length);
        out.word(0); // no BPB of its own: a stream
        out.bytes(contents);
    }

    /// Bytes that travel.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there is no BLOB in it.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Forgets all BLOBs; the memory is kept.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.length = 0;
    }
}

/// `op_batch_exec`: executes the messages that have come and empties the batch.
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

/// `op_batch_rls`: closes the batch; the statement can be executed by itself again.
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

/// `op_batch_sync` (protocol 17): makes the server send the answers that it holds back.
#[derive(Clone, Copy, Debug)]
pub struct SyncBatch;

impl Request for SyncBatch {
    const OP: Op = Op::BATCH_SYNC;

    fn encode(&self, _: ProtocolVersion, _: &mut Writer<'_>) {}
}

/// `op_batch_cs`: what became of the records of one batch execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Handle of the statement.
    pub statement: u16,
    /// Records processed, failed ones included.
    pub records: u32,
    /// Affected rows per record if they were asked for; −1 = failed, −2 = count unknown.
    pub updates: Vec<i32>,
    /// 0-based record number and what went wrong with it.
    pub errors: Vec<(u32, StatusVector)>,
    /// Further failed records, without details.
    pub bare_errors: Vec<u32>,
}

impl Completion {
    /// Reads everything behind the operation word.
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
        // No capacity is reserved from a peer's word: every element is paid for by bytes that arrived.
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
    fn gaps_between_blobs_count_and_do_not_travel() {
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
