//! The batch API (protocol 16 and later): many messages for one statement, executed together.
//!
//! A batch belongs to its statement, which must be named by its real handle. Answers to all requests but the
//! execution are held back by the server until something else is answered.

use super::response::decode_status;
use super::{Answer, Request};
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
    /// Ids of BLOBs in the messages are known to the engine, or get known by [`RegisterBlob`].
    pub has_blobs: bool,
}

impl BatchOptions {
    /// The parameter block.
    pub fn block(&self) -> Vec<u8> {
        let mut block = vec![1];
        let mut put = |tag: u8, value: u32| {
            block.push(tag);
            block.extend_from_slice(&4u32.to_le_bytes());
            block.extend_from_slice(&value.to_le_bytes());
        };
        if self.multi_error {
            put(1, 1);
        }
        if self.record_counts {
            put(2, 1);
        }
        if let Some(bytes) = self.buffer_bytes {
            put(3, bytes);
        }
        if self.has_blobs {
            put(4, 3); // whatever is asked for, the network server makes it "stream"
        }
        if let Some(errors) = self.detailed_errors {
            put(5, errors);
        }
        block
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
