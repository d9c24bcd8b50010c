//! Single BLOBs, read as streams.

use super::flow;
use super::shared::Shared;
use crate::backend::{BlobId, BlobStreams, TransactionId};
use crate::error::{Error, Kind, Result};
use std::fmt;
use std::sync::Arc;

/// A BLOB that is read in pieces; text is UTF-8. It requests a few segments ahead, so that a long one arrives at the
/// speed of the link. Dropping it closes it; it ends with its transaction.
pub struct BlobReader {
    shared: Arc<Shared>,
    id: BlobId,
    length: u64,
    is_stream: bool,
    at_end: bool,
}

impl BlobReader {
    pub(super) async fn open(shared: &Arc<Shared>, transaction: TransactionId, id: u64) -> Result<Self> {
        let owner = Arc::clone(shared);
        let open = flow!(session => {
            let (id, length, is_stream) = session.open_blob(transaction, id).await?;
            Ok(Self { shared: owner, id, length, is_stream, at_end: false })
        });
        shared.run(open).await
    }

    /// Returns the stored length in bytes. Text that is converted to UTF-8 may be longer or shorter.
    pub fn stored_length(&self) -> u64 {
        self.length
    }

    /// Whether it can be positioned: it was written as a stream, not in segments.
    pub fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// Returns the next bytes, at least one; `None` at the end. A dropped future may lose bytes.
    pub async fn next_piece(&mut self) -> Result<Option<Vec<u8>>> {
        while !self.at_end {
            let id = self.id;
            let read = flow!(session => {
                let mut piece = Vec::new();
                let at_end = session.backend.read_blob(id, &mut piece).await?;
                Ok((piece, at_end))
            });
            let (piece, at_end) = self.shared.run(read).await?;
            self.at_end = at_end;
            if !piece.is_empty() {
                return Ok(Some(piece));
            }
        }
        Ok(None)
    }

    /// Returns all bytes from here to the end.
    ///
    /// # Errors
    /// [`Kind::Memory`] for more than `most` bytes.
    pub async fn read_to_end(&mut self, most: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.next_piece().await? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > most {
                return Err(Error::new(Kind::Memory, format!("the BLOB has more than {most} bytes")));
            }
        }
        Ok(bytes)
    }

    /// Moves to an offset of a stream BLOB, in stored bytes from its start; returns the offset reached.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for a BLOB that was written in segments.
    pub async fn seek(&mut self, offset: u64) -> Result<u64> {
        if !self.is_stream {
            let text = "a BLOB that was written in segments cannot be positioned: read it from its start";
            return Err(Error::new(Kind::Unsupported, text));
        }
        let (id, offset) = (self.id, offset.min(self.length));
        let reached = self.shared.run(flow!(session => session.backend.seek_blob(id, offset).await)).await?;
        self.at_end = false;
        Ok(reached)
    }
}

impl Drop for BlobReader {
    fn drop(&mut self) {
        let id = self.id;
        self.shared.discard(flow!(session => session.close_blob(id).await));
    }
}

impl fmt::Debug for BlobReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlobReader").field("length", &self.length).finish_non_exhaustive()
    }
}
