//! BLOBs through the engine's own calls.

use super::{Embedded, no_transaction};
use crate::backend::blob_info::{ANSWER, ITEMS, closed, length_and_type, position};
use crate::backend::{BlobId, BlobStreams, Blobs, NewBlobs, Take, TransactionId, Wanted};
use crate::error::Result;
use firearrow_fbapi as fbapi;
use firearrow_fbapi::SEGMENT;
use firearrow_proto::api::pb::STREAM_BPB;

impl Blobs for Embedded {
    async fn read_blobs(
        &mut self,
        transaction: TransactionId,
        blobs: &[Wanted],
        take: &mut Take<'_>,
    ) -> Result<()> {
        let transaction = self.transactions.get(&transaction).ok_or_else(no_transaction)?;
        let attachment = self.attachment()?;
        let mut contents = Vec::new();
        for (index, wanted) in blobs.iter().enumerate() {
            contents.clear();
            let most = usize::try_from(wanted.most).unwrap_or(usize::MAX);
            match attachment.read_blob(transaction, wanted.id, &mut contents, most) {
                Err(fbapi::Error::BlobTooLong { .. }) if wanted.may_be_left_out => continue,
                Err(fbapi::Error::BlobTooLong { .. }) => return Err(wanted.too_long()),
                read => read?,
            };
            if !take(index, &contents)? {
                break;
            }
        }
        Ok(())
    }

    async fn write_blobs(&mut self, transaction: TransactionId, blobs: &[&[u8]]) -> Result<Vec<u64>> {
        let transaction = self.transactions.get(&transaction).ok_or_else(no_transaction)?;
        let attachment = self.attachment()?;
        let write = |bytes: &&[u8]| -> Result<u64> {
            let mut blob = attachment.create_blob(transaction, &STREAM_BPB)?;
            blob.write_all(bytes)?;
            let id = blob.id();
            blob.close()?;
            Ok(id)
        };
        blobs.iter().map(write).collect()
    }
}

impl BlobStreams for Embedded {
    async fn open_blob(&mut self, transaction: TransactionId, id: u64) -> Result<(BlobId, u64, bool)> {
        let transaction = self.transactions.get(&transaction).ok_or_else(no_transaction)?;
        let blob = self.attachment()?.open_blob(transaction, id, &[])?;
        let (length, is_stream) = length_and_type(&blob.info(&ITEMS, ANSWER.into())?);
        let id = self.next_id();
        self.blobs.insert(id, blob);
        Ok((BlobId(id), length, is_stream))
    }

    async fn read_blob(&mut self, id: BlobId, out: &mut Vec<u8>) -> Result<bool> {
        let blob = self.blobs.get_mut(&id.0).ok_or_else(closed)?;
        let start = out.len();
        out.resize(start + SEGMENT, 0);
        let read = blob.read(&mut out[start..]);
        out.truncate(start + read.as_ref().ok().copied().flatten().unwrap_or(0));
        Ok(read?.is_none())
    }

    async fn seek_blob(&mut self, id: BlobId, offset: u64) -> Result<u64> {
        let offset = position(offset)?;
        let blob = self.blobs.get_mut(&id.0).ok_or_else(closed)?;
        Ok(u64::from(blob.seek_from_start(offset)?.cast_unsigned()))
    }

    async fn close_blob(&mut self, id: BlobId) -> Result<()> {
        match self.blobs.remove(&id.0) {
            Some(blob) => Ok(blob.close()?),
            None => Ok(()),
        }
    }
}

impl NewBlobs for Embedded {
    async fn create_blob(&mut self, transaction: TransactionId) -> Result<BlobId> {
        let transaction = self.transactions.get(&transaction).ok_or_else(no_transaction)?;
        let blob = self.attachment()?.create_blob(transaction, &STREAM_BPB)?;
        let id = self.next_id();
        self.blobs.insert(id, blob);
        Ok(BlobId(id))
    }

    async fn write_blob(&mut self, id: BlobId, bytes: &[u8]) -> Result<()> {
        self.check_interruption()?;
        Ok(self.blobs.get_mut(&id.0).ok_or_else(closed)?.write_all(bytes)?)
    }

    async fn finish_blob(&mut self, id: BlobId) -> Result<u64> {
        let blob = self.blobs.remove(&id.0).ok_or_else(closed)?;
        let id = blob.id();
        blob.close()?;
        Ok(id)
    }

    async fn cancel_blob(&mut self, id: BlobId) -> Result<()> {
        match self.blobs.remove(&id.0) {
            Some(blob) => Ok(blob.cancel()?),
            None => Ok(()),
        }
    }
}
