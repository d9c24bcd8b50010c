//! Answers of the batch API.

use super::response::decode_status;
use crate::api::status::StatusVector;
use crate::wire::error::{DecodeError, invalid};
use crate::wire::limits::Limits;
use crate::wire::xdr::Reader;

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
