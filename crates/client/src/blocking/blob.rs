//! Single BLOBs: read through their ids, as a whole or as streams.

use super::shared::Shared;
use crate::backend::{BlobId, BlobStreams, TransactionId};
use crate::error::{Error, Kind, Result};
use std::fmt;
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::sync::Arc;

/// A BLOB that is read as a stream of bytes; text is UTF-8. It requests a few segments ahead, so that a long one
/// arrives at the speed of the link. Dropping it closes it; it ends with its transaction.
pub struct BlobReader {
    shared: Arc<Shared>,
    id: BlobId,
    length: u64,
    is_stream: bool,
    buffer: Vec<u8>,
    /// Bytes of the buffer that have been read.
    taken: usize,
    /// Offset of the buffer's end.
    position: u64,
    at_end: bool,
}

impl BlobReader {
    pub(super) fn open(shared: &Arc<Shared>, transaction: TransactionId, id: u64) -> Result<Self> {
        let (id, length, is_stream) = shared.run(async |session| session.open_blob(transaction, id).await)?;
        Ok(Self {
            shared: Arc::clone(shared),
            id,
            length,
            is_stream,
            buffer: Vec::new(),
            taken: 0,
            position: 0,
            at_end: false,
        })
    }

    /// Returns the stored length in bytes. Text that is converted to UTF-8 may be longer or shorter.
    pub fn stored_length(&self) -> u64 {
        self.length
    }

    /// Whether it can be positioned: it was written as a stream, not in segments.
    pub fn is_stream(&self) -> bool {
        self.is_stream
    }

    fn refill(&mut self) -> Result<()> {
        let (id, buffer) = (self.id, &mut self.buffer);
        buffer.clear();
        self.taken = 0;
        while !self.at_end && buffer.is_empty() {
            self.at_end = self.shared.run(async |session| session.backend.read_blob(id, buffer).await)?;
        }
        self.position += buffer.len() as u64;
        Ok(())
    }

    fn go_to(&mut self, offset: u64) -> Result<u64> {
        if !self.is_stream {
            let text = "a BLOB that was written in segments cannot be positioned: read it from its start";
            return Err(Error::new(Kind::Unsupported, text));
        }
        let start = self.position - self.buffer.len() as u64;
        if (start..=self.position).contains(&offset) {
            self.taken = (offset - start) as usize;
            return Ok(offset);
        }
        let id = self.id;
        self.position = self.shared.run(async |session| session.backend.seek_blob(id, offset).await)?;
        self.buffer.clear();
        (self.taken, self.at_end) = (0, false);
        Ok(self.position)
    }
}

impl Read for BlobReader {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(target)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for BlobReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken == self.buffer.len() && !self.at_end {
            self.refill().map_err(io::Error::other)?;
        }
        Ok(&self.buffer[self.taken..])
    }

    fn consume(&mut self, count: usize) {
        self.taken = (self.taken + count).min(self.buffer.len());
    }
}

impl Seek for BlobReader {
    /// Positions a stream BLOB; offsets count stored bytes. Positions after the end become the end.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let here = self.position - (self.buffer.len() - self.taken) as u64;
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(offset) => self.length.checked_add_signed(offset),
            SeekFrom::Current(offset) => here.checked_add_signed(offset),
        };
        let target = target.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        self.go_to(target.min(self.length)).map_err(io::Error::other)
    }
}

impl Drop for BlobReader {
    fn drop(&mut self) {
        let id = self.id;
        self.shared.discard("closing a BLOB", async |session| session.close_blob(id).await);
    }
}

impl fmt::Debug for BlobReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlobReader").field("length", &self.length).finish_non_exhaustive()
    }
}
