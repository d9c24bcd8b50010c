//! Writing one BLOB in pieces, without waiting for each answer.

use super::Wire;
use super::blob::{PUT_AHEAD, PUT_SIZE};
use super::transaction::Handle;
use crate::backend::blob_info::closed;
use crate::backend::link::Link;
use crate::backend::{BlobId, NewBlobs, TransactionId, Transactions};
use crate::error::{Error, Kind, Result};
use firearrow_proto::api::pb::STREAM_BPB;
use firearrow_proto::wire::Ticket;
use firearrow_proto::wire::packet::blob::{CancelBlob, CloseBlob, CreateBlob, PutSegment};
use std::collections::{HashMap, VecDeque};

/// The BLOBs being written.
#[derive(Debug, Default)]
pub(super) struct NewBlobStreams {
    open: HashMap<BlobId, NewBlob>,
    last_id: u32,
}

#[derive(Debug)]
struct NewBlob {
    /// The server's handle, valid until the transaction ends; the server may then reuse it.
    handle: u16,
    owner: TransactionId,
    /// The BLOB's id, for a row.
    id: u64,
    puts: VecDeque<(Ticket, usize)>,
    bytes_ahead: usize,
    /// Why a piece is missing.
    failed: Option<Error>,
}

impl NewBlobStreams {
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    fn get(&mut self, id: BlobId) -> Result<&mut NewBlob> {
        self.open.get_mut(&id).ok_or_else(closed)
    }
}

impl<L: Link> NewBlobs for Wire<L> {
    async fn create_blob(&mut self, owner: TransactionId) -> Result<BlobId> {
        let Handle(transaction) = self.transaction(owner).await?;
        let created = self.call(&CreateBlob { transaction, bpb: &STREAM_BPB }).await?;
        self.new_blobs.last_id += 1;
        let id = BlobId(self.new_blobs.last_id);
        let blob = NewBlob {
            handle: created.object,
            owner,
            id: created.blob_id,
            puts: VecDeque::new(),
            bytes_ahead: 0,
            failed: None,
        };
        self.new_blobs.open.insert(id, blob);
        Ok(id)
    }

    async fn write_blob(&mut self, id: BlobId, bytes: &[u8]) -> Result<()> {
        self.expect_writable(id)?;
        for bytes in bytes.chunks(PUT_SIZE) {
            self.check_interruption()?;
            if self.new_blobs.get(id)?.bytes_ahead > PUT_AHEAD {
                // Pieces are settled in halves, so that requests share writes.
                self.settle_puts(id, PUT_AHEAD / 2).await?;
            }
            let blob = self.new_blobs.get(id)?.handle;
            let ticket = self.ask(&PutSegment { blob, bytes })?;
            let blob = self.new_blobs.get(id)?;
            blob.puts.push_back((ticket, bytes.len()));
            blob.bytes_ahead += bytes.len();
        }
        // The server can start while the caller makes the next piece.
        self.flush().await
    }

    async fn finish_blob(&mut self, id: BlobId) -> Result<u64> {
        self.expect_writable(id)?;
        let NewBlob { handle, id: name, .. } = *self.new_blobs.get(id)?;
        let close = self.ask(&CloseBlob { blob: handle })?;
        let settled = self.settle_puts(id, 0).await;
        self.forget_new_blob(id);
        let closed = self.success(close).await;
        settled.and(closed)?;
        Ok(name)
    }

    async fn cancel_blob(&mut self, id: BlobId) -> Result<()> {
        let Some(blob) = self.forget_new_blob(id) else { return Ok(()) };
        if !self.is_open(blob.owner) {
            // The BLOB ended with its transaction.
            return Ok(());
        }
        self.tell(&CancelBlob { blob: blob.handle })?;
        self.flush().await
    }
}

impl<L: Link> Wire<L> {
    /// Fails if the BLOB is no longer writable.
    fn expect_writable(&mut self, id: BlobId) -> Result<()> {
        let blob = self.new_blobs.get(id)?;
        let (owner, failed) = (blob.owner, blob.failed.clone());
        if !self.is_open(owner) {
            return Err(Error::new(Kind::Misuse, "the transaction of the BLOB has ended"));
        }
        failed.map_or(Ok(()), Err)
    }

    /// Takes the oldest answers until at most `bytes` are in flight.
    async fn settle_puts(&mut self, id: BlobId, bytes: usize) -> Result<()> {
        loop {
            let blob = self.new_blobs.get(id)?;
            if blob.bytes_ahead <= bytes {
                return Ok(());
            }
            let Some((ticket, length)) = blob.puts.pop_front() else { return Ok(()) };
            blob.bytes_ahead -= length;
            if let Err(error) = self.success(ticket).await {
                self.new_blobs.get(id)?.failed = Some(error.clone());
                return Err(error);
            }
        }
    }

    fn forget_new_blob(&mut self, id: BlobId) -> Option<NewBlob> {
        let mut blob = self.new_blobs.open.remove(&id)?;
        for (ticket, _) in blob.puts.drain(..) {
            self.router.ignore(ticket);
        }
        Some(blob)
    }
}
