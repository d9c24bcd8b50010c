//! One BLOB read as a stream: segments are asked for ahead, and it can be read from any place.

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

/// Segments that are asked for ahead once somebody reads on; each brings up to 64 KB.
const SEGMENTS_AHEAD: usize = 4;

/// The most bytes that a stored byte of text becomes in UTF-8; the length that a server reports counts stored bytes.
const GROWTH: u64 = 4;

/// The BLOBs that are open for reading.
#[derive(Debug, Default)]
pub(super) struct OpenBlobs(HashMap<u16, Reading>);

#[derive(Debug)]
struct Reading {
    gets: VecDeque<Ticket>,
    at_end: bool,
    /// How many segments to ask for: a reader of the first bytes should not pay for more.
    ahead: usize,
    /// Bytes that may come altogether.
    most: u64,
    /// Bytes that may still come.
    left: u64,
}

impl<L: Link> BlobStreams for Wire<L> {
    /// Opens a BLOB and asks for its length and type and its first segment in the same write.
    async fn open_blob(&mut self, transaction: TransactionId, id: u64) -> Result<(BlobId, u64, bool)> {
        let Handle(transaction) = self.transaction(transaction).await?;
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
        let blob = Reading { gets: VecDeque::from([get]), at_end: false, ahead: 1, most, left: most };
        self.open_blobs.0.insert(opened.object, blob);
        Ok((BlobId(opened.object.into()), length, is_stream))
    }

    /// Appends the next segments to `out`, some bytes at least; `true` at the end.
    async fn read_blob(&mut self, id: BlobId, out: &mut Vec<u8>) -> Result<bool> {
        let handle = id.0 as u16;
        let mut empty_since = None;
        loop {
            let blob = self.open_blobs.0.get_mut(&handle).ok_or_else(closed)?;
            if blob.at_end {
                return Ok(true);
            }
            let missing = blob.ahead.saturating_sub(blob.gets.len());
            blob.ahead = SEGMENTS_AHEAD;
            for _ in 0..missing {
                let ticket = self.connection.send(&GetSegment { blob: handle })?;
                if let Some(blob) = self.open_blobs.0.get_mut(&handle) {
                    blob.gets.push_back(ticket);
                }
            }
            let next = self.open_blobs.0.get_mut(&handle).and_then(|blob| blob.gets.pop_front());
            let got = self.success(next.ok_or_else(closed)?).await?;
            let length = out.len();
            append_segments(&got.data, out)?;
            self.count_in(handle, out.len() - length)?;
            if got.object == STATE_END {
                self.drop_ahead(handle);
                if let Some(blob) = self.open_blobs.0.get_mut(&handle) {
                    blob.at_end = true;
                }
                return Ok(true);
            }
            self.check_contents(out.len() > length, &mut empty_since)?;
            if out.len() > length {
                return Ok(false);
            }
        }
    }

    /// Goes to this offset from the start. What was read ahead is dropped.
    async fn seek_blob(&mut self, id: BlobId, offset: u64) -> Result<u64> {
        let blob = id.0 as u16;
        self.drop_ahead(blob);
        let offset = position(offset)?;
        let response = self.call(&SeekBlob { blob, mode: 0, offset }).await?;
        if let Some(blob) = self.open_blobs.0.get_mut(&blob) {
            (blob.at_end, blob.ahead, blob.left) = (false, 1, blob.most);
        }
        Ok(response.blob_id & 0xFFFF_FFFF)
    }

    async fn close_blob(&mut self, id: BlobId) -> Result<()> {
        let blob = id.0 as u16;
        self.drop_ahead(blob);
        if self.open_blobs.0.remove(&blob).is_some() { self.tell(&CloseBlob { blob }) } else { Ok(()) }
    }
}

impl<L: Link> Wire<L> {
    /// To be called before requests that name a BLOB "the object created last" and must not hit one that is open here:
    /// after this the name means a statement that is gone, until something is created.
    pub(super) fn guard_open_blobs(&mut self) -> Result<()> {
        if !self.open_blobs.0.is_empty() || !self.new_blobs.is_empty() {
            self.tell(&AllocateStatement)?;
            self.tell(&FreeStatement { statement: LAST_OBJECT, option: FreeOption::Drop })?;
        }
        Ok(())
    }

    /// Counts bytes that came against the length that the server named.
    fn count_in(&mut self, handle: u16, came: usize) -> Result<()> {
        let blob = self.open_blobs.0.get_mut(&handle).ok_or_else(closed)?;
        match blob.left.checked_sub(came as u64) {
            Some(left) => blob.left = left,
            None => {
                let text = "a BLOB came with more bytes than the server had said";
                return Err(self.connection.fail(ProtocolError::InvalidMessage(text.into())).into());
            }
        }
        Ok(())
    }

    fn drop_ahead(&mut self, handle: u16) {
        if let Some(blob) = self.open_blobs.0.get_mut(&handle) {
            for ticket in blob.gets.drain(..) {
                self.router.ignore(ticket);
            }
        }
    }
}
