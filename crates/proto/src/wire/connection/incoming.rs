//! The receive path: wire bytes are decrypted, then inflated, then read as packets from one buffer.

use crate::wire::compress::Inflate;
use crate::wire::crypt::Cipher;
use crate::wire::error::ProtocolError;

/// Space offered for one read from the link. Servers send up to 32 KiB at a time; loopback delivers several at once.
const READ_SIZE: usize = 64 << 10;
/// Plain bytes produced per step of inflating, so that a decompression bomb hits the packet limits first.
const INFLATE_STEP: usize = 256 << 10;
/// The bytes that end every flush of a compressor (an empty stored block).
const FLUSH_MARKER: [u8; 4] = [0, 0, 0xff, 0xff];
/// Space offered as long as no read has filled the buffer: most connections never see more than short answers.
const SMALL_READ: usize = 8 << 10;
/// Size of the buffer at first.
const INITIAL: usize = 16 << 10;
/// And once a read has filled it: rows are flowing.
const FLOWING: usize = 256 << 10;

/// A buffer that receives bytes and provides packets.
pub(super) struct Incoming {
    plain: Buffer,
    /// Compressed bytes; used after inflating has started.
    wire: Buffer,
    inflate: Option<Inflate>,
    /// Whether the last step of inflating hit its bound. The stream may then produce more without more input.
    held_back: bool,
    cipher: Option<Box<dyn Cipher>>,
    /// The last compressed bytes received, decrypted.
    last: [u8; 4],
    limit: usize,
    /// Whether a read has filled the buffer.
    is_flowing: bool,
}

impl Incoming {
    /// Creates a buffer; `limit` bounds the bytes of one packet.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            plain: Buffer::default(),
            wire: Buffer::default(),
            inflate: None,
            held_back: false,
            cipher: None,
            last: [0; 4],
            limit: limit + READ_SIZE,
            is_flowing: false,
        }
    }

    /// Makes room for a read from the link.
    pub(super) fn reserve(&mut self) -> Result<(), ProtocolError> {
        let limit = self.limit;
        let (wanted, least) = if self.is_flowing { (READ_SIZE, FLOWING) } else { (SMALL_READ, INITIAL) };
        self.first().reserve(wanted, least, limit)
    }

    /// The space into which the link may write.
    pub(super) fn space(&mut self) -> &mut [u8] {
        self.first().space()
    }

    /// The buffer into which the link writes.
    fn first(&mut self) -> &mut Buffer {
        if self.inflate.is_some() { &mut self.wire } else { &mut self.plain }
    }

    /// Takes `count` bytes that were written to [`space`](Self::space). Returns how many plain bytes they have produced
    /// so far.
    pub(super) fn received(&mut self, count: usize) -> Result<usize, ProtocolError> {
        let is_compressed = self.inflate.is_some();
        let buffer = if is_compressed { &mut self.wire } else { &mut self.plain };
        self.is_flowing |= count == buffer.bytes.len() - buffer.end;
        let fresh = buffer.commit(count)?;
        if let Some(cipher) = &mut self.cipher {
            cipher.apply(fresh)?;
        }
        if !is_compressed {
            return Ok(count);
        }
        for byte in fresh.iter().rev().take(4).rev() {
            self.last.rotate_left(1);
            self.last[3] = *byte;
        }
        self.inflate()
    }

    /// Whether everything that belongs to the packets read so far has arrived. A compressed packet can be read before
    /// the marker of its flush arrives; a stage that starts then would take the marker for its own data.
    pub(super) fn is_flushed(&self) -> bool {
        self.inflate.is_none() || (self.wire.data().is_empty() && self.last == FLUSH_MARKER)
    }

    /// Whether there is certainly nothing to decode. With compression it is never certain: bytes may wait to be inflated.
    pub(super) fn has_nothing(&self) -> bool {
        self.plain.data().is_empty() && self.inflate.is_none()
    }

    /// Inflates one more bounded step. Returns how many plain bytes it produced (0 = more input is needed).
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

    /// Plain bytes not yet consumed.
    pub(super) fn data(&self) -> &[u8] {
        self.plain.data()
    }

    /// Marks `count` bytes as read. Returns their range for [`slice`](Self::slice).
    pub(super) fn consume(&mut self, count: usize) -> std::ops::Range<usize> {
        self.plain.consume(count)
    }

    /// Returns bytes consumed since the last call of [`space`](Self::space).
    pub(super) fn slice(&self, range: std::ops::Range<usize>) -> &[u8] {
        &self.plain.bytes[range]
    }

    /// Starts inflating.
    pub(super) fn start_compression(&mut self) -> Result<(), ProtocolError> {
        self.expect_empty("compression")?;
        self.inflate = Some(Inflate::new());
        Ok(())
    }

    /// Starts decrypting.
    pub(super) fn start_encryption(&mut self, cipher: Box<dyn Cipher>) -> Result<(), ProtocolError> {
        self.expect_empty("encryption")?;
        self.cipher = Some(cipher);
        Ok(())
    }

    /// Bytes that arrived before a stage started would go through it or around it; neither is right.
    fn expect_empty(&self, stage: &str) -> Result<(), ProtocolError> {
        if self.plain.data().is_empty() && self.wire.data().is_empty() {
            Ok(())
        } else {
            Err(ProtocolError::InvalidMessage(format!("bytes before {stage}")))
        }
    }
}

/// Bytes between `start` and `end` are filled and unread. The vector is always initialized to its full length.
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

    /// Makes room for at least `wanted` bytes after the filled ones, in a buffer of at least `least` when it grows.
    fn reserve(&mut self, wanted: usize, least: usize, limit: usize) -> Result<(), ProtocolError> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.bytes.len() - self.end < wanted {
            self.compact(limit)?;
        }
        if self.bytes.len() - self.end < wanted {
            let length = (self.bytes.len() * 2).max(least);
            self.bytes.resize(length, 0);
        }
        Ok(())
    }

    fn space(&mut self) -> &mut [u8] {
        &mut self.bytes[self.end..]
    }

    /// Moves unread bytes to the front. Too many of them mean that a packet never ends.
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

    /// Returns the vector, cut to its filled part, for appending. Call [`appended`](Self::appended) afterwards.
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
