//! Reading one BLOB as a stream, with segments requested ahead and seeking.

use super::Wire;
use super::transaction::Handle;
use crate::backend::blob_info::{ANSWER, ITEMS, closed, length_and_type, position};
use crate::backend::link::Link;
use crate::backend::{BlobId, BlobStreams, TransactionId};
use crate::error::Result;
use firearrow_proto::wire::packet::LAST_OBJECT;
use firearrow_proto::wire::packet::blob::{
    CloseBlob, GetSegment, OpenBlob, STATE_END, SeekBlob, append_segments,
};
use firearrow_proto::wire::packet::info::InfoBlob;
use firearrow_proto::wire::packet::statement::{AllocateStatement, FreeOption, FreeStatement};
use firearrow_proto::wire::{ProtocolError, Ticket};
use std::collections::{HashMap, VecDeque};

/// Segments to request ahead when reading continues; each brings up to 64 KB.
const SEGMENTS_AHEAD: usize = 4;

/// Maximum UTF-8 bytes per stored byte of text; the length that a server reports counts stored bytes.
const GROWTH: u64 = 4;

/// The BLOBs open for reading.
#[derive(Debug, Default)]
pub(super) struct OpenBlobs {
    open: HashMap<BlobId, Reading>,
    last_id: u32,
}

impl OpenBlobs {
    fn get(&mut self, id: BlobId) -> Result<&mut Reading> {
        self.open.get_mut(&id).ok_or_else(closed)
    }
}

#[derive(Debug)]
struct Reading {
    /// The server's handle, valid until the transaction ends; the server may then reuse it.
    handle: u16,
    owner: TransactionId,
    gets: VecDeque<Ticket>,
    at_end: bool,
    /// How many segments to request: a reader of the first bytes should not pay for more.
    ahead: usize,
    /// Total bytes that may arrive.
    most: u64,
    /// Bytes that may still arrive.
    left: u64,
}

impl<L: Link> BlobStreams for Wire<L> {
    /// Opens a BLOB; requests its length, type and first segment in the same write.
    async fn open_blob(&mut self, owner: TransactionId, id: u64) -> Result<(BlobId, u64, bool)> {
        let Handle(transaction) = self.transaction(owner).await?;
        self.guard_open_blobs()?;
        let open = self.ask(&OpenBlob { transaction, id, bpb: &[] })?;
        let info =
            self.ask(&InfoBlob { object: LAST_OBJECT, items: &ITEMS, buffer_length: ANSWER.into() })?;
        let get = self.ask(&GetSegment { blob: LAST_OBJECT })?;
        let opened = self.success(open).await;
        let info = self.success(info).await;
        let opened = match opened {
            Ok(opened) => opened,
            Err(error) => {
                self.router.ignore(get);
                return Err(error);
            }
        };
        let (length, is_stream) = length_and_type(&info?.data);
        let most = length.saturating_mul(GROWTH);
        let (handle, gets) = (opened.object, VecDeque::from([get]));
        let blob = Reading { handle, owner, gets, at_end: false, ahead: 1, most, left: most };
        self.open_blobs.last_id = self.open_blobs.last_id.wrapping_add(1);
        let id = BlobId(self.open_blobs.last_id);
        self.open_blobs.open.insert(id, blob);
        Ok((id, length, is_stream))
    }

    /// Appends the next segments to `out`, at least one byte; `true` at the end.
    async fn read_blob(&mut self, id: BlobId, out: &mut Vec<u8>) -> Result<bool> {
        let mut empty_since = None;
        let handle = self.open_blob_handle(id)?;
        loop {
            let blob = self.open_blobs.get(id)?;
            if blob.at_end {
                return Ok(true);
            }
            let missing = blob.ahead.saturating_sub(blob.gets.len());
            blob.ahead = SEGMENTS_AHEAD;
            for _ in 0..missing {
                let ticket = self.connection.send(&GetSegment { blob: handle })?;
                self.open_blobs.get(id)?.gets.push_back(ticket);
            }
            let next = self.open_blobs.get(id)?.gets.pop_front();
            let got = self.success(next.ok_or_else(closed)?).await?;
            let length = out.len();
            append_segments(&got.data, out)?;
            self.count_in(id, out.len() - length)?;
            if got.object == STATE_END {
                self.drop_ahead(id);
                self.open_blobs.get(id)?.at_end = true;
                return Ok(true);
            }
            self.check_contents(out.len() > length, &mut empty_since)?;
            if out.len() > length {
                return Ok(false);
            }
        }
    }

    /// Moves to this offset from the start. Drops the segments read ahead.
    async fn seek_blob(&mut self, id: BlobId, offset: u64) -> Result<u64> {
        let handle = self.open_blob_handle(id)?;
        self.drop_ahead(id);
        let offset = position(offset)?;
        let response = self.call(&SeekBlob { blob: handle, mode: 0, offset }).await?;
        let blob = self.open_blobs.get(id)?;
        (blob.at_end, blob.ahead, blob.left) = (false, 1, blob.most);
        Ok(response.blob_id & 0xFFFF_FFFF)
    }

    async fn close_blob(&mut self, id: BlobId) -> Result<()> {
        self.drop_ahead(id);
        match self.open_blobs.open.remove(&id) {
            Some(blob) if self.transactions.has(blob.owner) => self.tell(&CloseBlob { blob: blob.handle }),
            // The end of the transaction has closed the BLOB.
            _ => Ok(()),
        }
    }
}

impl<L: Link> Wire<L> {
    /// Must be called before requests that name a BLOB as "the object created last" and must not hit one that is open
    /// here. Until something is created, that name then stands for a freed statement.
    pub(super) fn guard_open_blobs(&mut self) -> Result<()> {
        if !self.open_blobs.open.is_empty() || !self.new_blobs.is_empty() {
            self.tell(&AllocateStatement)?;
            self.tell(&FreeStatement { statement: LAST_OBJECT, option: FreeOption::Drop })?;
        }
        Ok(())
    }

    /// Counts received bytes against the length that the server reported.
    fn count_in(&mut self, id: BlobId, came: usize) -> Result<()> {
        let blob = self.open_blobs.get(id)?;
        match blob.left.checked_sub(came as u64) {
            Some(left) => blob.left = left,
            None => {
                let text = "the server sent more bytes of a BLOB than it had announced";
                return Err(self.connection.fail(ProtocolError::InvalidMessage(text.into())).into());
            }
        }
        Ok(())
    }

    /// Returns the handle of a BLOB whose transaction is still open.
    fn open_blob_handle(&mut self, id: BlobId) -> Result<u16> {
        let (handle, owner) = self.open_blobs.get(id).map(|blob| (blob.handle, blob.owner))?;
        if self.transactions.has(owner) { Ok(handle) } else { Err(closed()) }
    }

    fn drop_ahead(&mut self, id: BlobId) {
        if let Some(blob) = self.open_blobs.open.get_mut(&id) {
            for ticket in blob.gets.drain(..) {
                self.router.ignore(ticket);
            }
        }
    }
}
