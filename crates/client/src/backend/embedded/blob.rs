//! One BLOB read as a stream, through the engine's own calls.

use super::{Embedded, no_transaction};
use crate::backend::{BlobId, TransactionId};
use crate::error::{Error, Kind, Result};
use firearrow_fbapi::SEGMENT;
use firearrow_proto::api::info::InfoReader;

/// Info items of a BLOB: its length and its type.
const LENGTH: u8 = 6;
const TYPE: u8 = 7;

impl Embedded {
    pub(super) fn open_stream(&mut self, transaction: TransactionId, id: u64) -> Result<(BlobId, u64, bool)> {
        let transaction = self.transactions.get(&transaction.0).ok_or_else(no_transaction)?;
        let blob = self.attachment()?.open_blob(transaction, id, &[])?;
        let (mut length, mut is_stream) = (0, false);
        for item in InfoReader::new(&blob.info(&[LENGTH, TYPE], 64)?) {
            match (item.code, item.integer()) {
                (LENGTH, Some(value)) => length = value as u64,
                (TYPE, Some(value)) => is_stream = value == 1,
                _ => {}
            }
        }
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
        let offset = i32::try_from(offset).map_err(|_| {
            Error::new(Kind::Unsupported, "BLOBs can be positioned within their first 2 GiB only")
        })?;
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

fn closed() -> Error {
    Error::new(Kind::Misuse, "the BLOB is closed")
}
