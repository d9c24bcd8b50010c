//! BLOBs in the form in which a bulk operation takes many of them at once.

use crate::Error;
use crate::batch::{limited, own_id};
use crate::message::MessageBuffer;

/// Length of a header: id, length of what follows, length of the BPB within that.
const HEADER: usize = 16;

/// BLOBs for [`Batch::add_blob_stream`](crate::Batch::add_blob_stream): complete stream BLOBs.
///
/// Write a longer BLOB separately and [register](crate::Batch::register_blob) it.
#[derive(Clone, Debug, Default)]
pub struct BlobStream {
    buffer: MessageBuffer,
    length: usize,
}

impl BlobStream {
    /// The alignment of BLOBs.
    pub const ALIGNMENT: usize = 4;

    /// An empty stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a BLOB. Messages refer to it by `id`, which must be unique and not 0.
    pub fn push(&mut self, id: u64, content: &[u8]) -> Result<(), Error> {
        let id = own_id(Some(id))?;
        let start = self.length + HEADER;
        let end = start.saturating_add(content.len());
        let aligned = end.checked_next_multiple_of(Self::ALIGNMENT).unwrap_or(usize::MAX);
        limited(aligned)?;
        self.buffer.grow(aligned);
        let bytes = self.buffer.bytes_mut();
        let header = &mut bytes[self.length..start];
        header[..4].copy_from_slice(&id.high.to_ne_bytes());
        header[4..8].copy_from_slice(&id.low.to_ne_bytes());
        // Fits into 32 bits: the limit is lower.
        header[8..12].copy_from_slice(&(content.len() as u32).to_ne_bytes());
        header[12..].copy_from_slice(&0_u32.to_ne_bytes());
        bytes[start..end].copy_from_slice(content);
        bytes[end..aligned].fill(0);
        self.length = aligned;
        Ok(())
    }

    /// Removes all BLOBs; keeps the memory.
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Length of the stream in bytes, which counts towards the buffer size of the bulk operation.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it contains no BLOB.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer.bytes()[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs_begin_at_multiples_of_four() {
        let mut stream = BlobStream::new();
        stream.push(7, b"hello").unwrap();
        stream.push(1 << 32 | 8, b"").unwrap();
        assert_eq!(stream.len(), 16 + 8 + 16);
        let mut expected = Vec::new();
        for word in [0_u32, 7, 5, 0] {
            expected.extend_from_slice(&word.to_ne_bytes());
        }
        expected.extend_from_slice(b"hello\0\0\0");
        for word in [1_u32, 8, 0, 0] {
            expected.extend_from_slice(&word.to_ne_bytes());
        }
        assert_eq!(stream.bytes(), expected);
        assert!(stream.bytes().as_ptr().cast::<u64>().is_aligned());
        // Earlier contents do not show through.
        stream.clear();
        stream.push(9, b"a").unwrap();
        assert_eq!(stream.bytes()[16..], *b"a\0\0\0");
    }

    #[test]
    fn id_0_is_refused() {
        let mut stream = BlobStream::new();
        assert!(stream.push(0, b"x").is_err());
        assert!(stream.is_empty());
    }
}
