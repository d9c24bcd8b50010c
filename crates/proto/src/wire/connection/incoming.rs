//! The receive path: wire bytes are decrypted, then inflated, then read as packets from one buffer.

use crate::wire::compress::Inflate;
use crate::wire::crypt::Cipher;
use crate::wire::error::ProtocolError;

/// Room offered for one read from the link. Servers send up to 32 KiB at a time; loopback delivers several at once.
const READ_SIZE: usize = 64 << 10;
/// Plain bytes made by one step of inflating, so that a decompression bomb meets the packet limits first.
const INFLATE_STEP: usize = 256 << 10;
/// What ends everything that a compressor was told to flush (an empty stored block).
const FLUSH_MARKER: [u8; 4] = [0, 0, 0xff, 0xff];
/// Size of the buffer while packets are small.
const INITIAL: usize = 256 << 10;

/// A buffer that bytes are read into and packets are read from.
pub(super) struct Incoming {
    plain: Buffer,
    /// Compressed bytes; used once inflating has started.
    wire: Buffer,
    inflate: Option<Inflate>,
    /// The last step of inflating was cut by its bound; the stream may have more without more input.
    held_back: bool,
    cipher: Option<Box<dyn Cipher>>,
    /// The last bytes received, decrypted.
    last: [u8; 4],
    limit: usize,
}

impl Incoming {
    /// `limit` bounds the bytes of one packet.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            plain: Buffer::default(),
            wire: Buffer::default(),
            inflate: None,
            held_back: false,
            cipher: None,
            last: [0; 4],
            limit: limit + READ_SIZE,
        }
    }

    /// Makes room for a read from the link.
    pub(super) fn reserve(&mut self) -> Result<(), ProtocolError> {
        let limit = self.limit;
        self.first().reserve(READ_SIZE, limit)
    }

    /// Where the link may write.
    pub(super) fn space(&mut self) -> &mut [u8] {
        self.first().space()
    }

    /// The buffer that the link writes to.
    fn first(&mut self) -> &mut Buffer {
        if self.inflate.is_some() { &mut self.wire } else { &mut self.plain }
    }

    /// `count` bytes were written to [`space`](Self::space). Returns how many plain bytes that made so far.
    pub(super) fn received(&mut self, count: usize) -> Result<usize, ProtocolError> {
        let buffer = if self.inflate.is_some() { &mut self.wire } else { &mut self.plain };
        let fresh = buffer.commit(count)?;
        if let Some(cipher) = &mut self.cipher {
            cipher.apply(fresh)?;
        }
        for byte in fresh.iter().rev().take(4).rev() {
            self.last.rotate_left(1);
            self.last[3] = *byte;
        }
        if self.inflate.is_some() { self.inflate() } else { Ok(count) }
    }

    /// Whether everything that belongs to the packets read so far has arrived. A compressed packet can be read before
    /// the marker that flushes the compressor has come; what joins then would take the marker for its own.
    pub(super) fn is_flushed(&self) -> bool {
        self.inflate.is_none() || (self.wire.data().is_empty() && self.last == FLUSH_MARKER)
    }

    /// Inflates a bounded step more; returns how many plain bytes that made (0 = more input is needed).
    pub(super) fn inflate(&mut self) -> Result<usize, ProtocolError> {
        let Some(inflate) = &mut self.inflate else { return Ok(0) };
        if self.wire.data().is_empty() && !self.held_back {
            return Ok(0);
        }
        let progress = inflate.append(self.wire.data(), self.plain.tail(self.limit)?, INFLATE_STEP)?;
        self.plain.appended();
        self.wire.consume(progress.used);
        self.held_back = progress.written == INFLATE_STEP;
        Ok(progress.written)
    }

    /// Plain bytes not consumed yet.
    pub(super) fn data(&self) -> &[u8] {
        self.plain.data()
    }

    /// Marks `count` bytes as read; returns their place for [`slice`](Self::slice).
    pub(super) fn consume(&mut self, count: usize) -> std::ops::Range<usize> {
        self.plain.consume(count)
    }

    /// Bytes that were consumed since the last call of [`space`](Self::space).
    pub(super) fn slice(&self, range: std::ops::Range<usize>) -> &[u8] {
        &self.plain.bytes[range]
    }

    /// Inflates everything from here on.
    pub(super) fn start_compression(&mut self) -> Result<(), ProtocolError> {
        self.expect_empty("compression")?;
        self.inflate = Some(Inflate::new());
        Ok(())
    }

    /// Decrypts everything from here on.
    pub(super) fn start_encryption(&mut self, cipher: Box<dyn Cipher>) -> Result<(), ProtocolError> {
        self.expect_empty("encryption")?;
        self.cipher = Some(cipher);
        Ok(())
    }

    /// Bytes that arrived before a stage joined would be read through it, or past it: neither is right.
    fn expect_empty(&self, stage: &str) -> Result<(), ProtocolError> {
        if self.plain.data().is_empty() && self.wire.data().is_empty() {
            Ok(())
        } else {
            Err(ProtocolError::InvalidMessage(format!("bytes in front of {stage}")))
        }
    }
}

/// Bytes between `start` and `end` are filled and unread; the vector is always initialised to its length.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Buffer {
    fn data(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Makes room for at least `wanted` bytes behind the filled ones.
    fn reserve(&mut self, wanted: usize, limit: usize) -> Result<(), ProtocolError> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.bytes.len() - self.end < wanted {
            self.compact(limit)?;
        }
        if self.bytes.len() - self.end < wanted {
            let length = (self.bytes.len() * 2).max(INITIAL);
            self.bytes.resize(length, 0);
        }
        Ok(())
    }

    fn space(&mut self) -> &mut [u8] {
        &mut self.bytes[self.end..]
    }

    /// Moves unread bytes to the front. Too many of them mean a packet that never ends.
    fn compact(&mut self, limit: usize) -> Result<(), ProtocolError> {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end > limit {
            let (length, limit) = (self.end as u64, limit as u64);
            return Err(ProtocolError::TooLong { what: "packet", length, limit });
        }
        Ok(())
    }

    /// The vector, cut to what is filled, to be appended to; [`appended`](Self::appended) must follow.
    fn tail(&mut self, limit: usize) -> Result<&mut Vec<u8>, ProtocolError> {
        self.compact(limit)?;
        self.bytes.truncate(self.end);
        Ok(&mut self.bytes)
    }

    fn appended(&mut self) {
        self.end = self.bytes.len();
    }

    fn commit(&mut self, count: usize) -> Result<&mut [u8], ProtocolError> {
        let fresh = self.end..self.end + count;
        let bytes = self.bytes.get_mut(fresh.clone());
        let bytes = bytes.ok_or(ProtocolError::Misuse("more bytes received than there was space for"))?;
        self.end = fresh.end;
        Ok(bytes)
    }

    fn consume(&mut self, count: usize) -> std::ops::Range<usize> {
        let range = self.start..self.start + count;
        debug_assert!(range.end <= self.end, "consumed bytes that never arrived");
        self.start = range.end.min(self.end);
        range
    }
}
