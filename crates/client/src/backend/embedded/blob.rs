//! One BLOB read as a stream, through the engine's own calls.

use super::{Embedded, no_transaction};
use crate::backend::blob_info::{ANSWER, ITEMS, closed, length_and_type, position};
use crate::backend::{BlobId, TransactionId};
use crate::error::Result;
use firearrow_fbapi::SEGMENT;

impl Embedded {
    pub(super) fn open_stream(&mut self, transaction: TransactionId, id: u64) -> Result<(BlobId, u64, bool)> {
        let transaction = self.transactions.get(&transaction).ok_or_else(no_transaction)?;
        let blob = self.attachment()?.open_blob(transaction, id, &[])?;
        let (length, is_stream) = length_and_type(&blob.info(&ITEMS, ANSWER.into())?);
        let id = self.next_id();
        self.blobs.insert(id, blob);
        Ok((BlobId(id), length, is_stream))
    }

    pub(super) fn read_stream(&mut self, id: BlobId, out: &mut Vec<u8>) -> Result<bool> {
        let blob = self.blobs.get_mut(&id.0).ok_or_else(closed)?;
        let start = out.len();
        out.resize(start + SEGMENT, 0);
        let read = blob.read(&mut out[start..]);
        out.truncate(start + read.as_ref().ok().copied().flatten().unwrap_or(0));
        Ok(read?.is_none())
    }

    pub(super) fn seek_stream(&mut self, id: BlobId, offset: u64) -> Result<u64> {
        let offset = position(offset)?;
        let blob = self.blobs.get_mut(&id.0).ok_or_else(closed)?;
        Ok(u64::from(blob.seek_from_start(offset)?.cast_unsigned()))
    }

    pub(super) fn close_stream(&mut self, id: BlobId) -> Result<()> {
        match self.blobs.remove(&id.0) {
            Some(blob) => Ok(blob.close()?),
            None => Ok(()),
        }
    }
}
