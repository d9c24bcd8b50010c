//! The send path: packets are encoded plain, then deflated, then encrypted.

use crate::wire::compress::Deflate;
use crate::wire::crypt::Cipher;
use crate::wire::error::ProtocolError;
use crate::wire::xdr::Writer;

/// Collects packets and turns them into wire bytes.
#[derive(Default)]
pub(super) struct Outgoing {
    plain: Vec<u8>,
    wire: Vec<u8>,
    /// Bytes of `wire` that the caller is writing.
    handed_out: usize,
    deflate: Option<Deflate>,
    cipher: Option<Box<dyn Cipher>>,
}

impl Outgoing {
    /// Where the next packet is encoded.
    pub(super) fn writer(&mut self) -> Writer<'_> {
        Writer::new(&mut self.plain)
    }

    /// Plain bytes that have been encoded but not yet transformed.
    pub(super) fn plain_length(&self) -> usize {
        self.plain.len()
    }

    /// Transforms the encoded bytes. On failure, discards them all: plain text must not be written.
    fn transform(&mut self) -> Result<(), ProtocolError> {
        if self.plain.is_empty() {
            return Ok(());
        }
        let start = self.wire.len();
        let result = self.append();
        if result.is_err() {
            self.wire.truncate(start);
        }
        self.plain.clear();
        result
    }

    fn append(&mut self) -> Result<(), ProtocolError> {
        let start = self.wire.len();
        match &mut self.deflate {
            Some(deflate) => deflate.append(&self.plain, &mut self.wire)?,
            None => self.wire.extend_from_slice(&self.plain),
        }
        if let Some(cipher) = &mut self.cipher {
            cipher.apply(&mut self.wire[start..])?;
        }
        Ok(())
    }

    /// Prepares everything encoded so far for writing; [`wire`](Self::wire) returns it.
    pub(super) fn finish(&mut self) -> Result<(), ProtocolError> {
        self.transform()?;
        self.handed_out = self.wire.len();
        Ok(())
    }

    /// Everything that waits to be written.
    pub(super) fn wire(&self) -> &[u8] {
        &self.wire[..self.handed_out]
    }

    /// Discards the bytes of [`wire`](Self::wire), which have been written. Returns their number.
    pub(super) fn clear(&mut self) -> usize {
        let written = std::mem::take(&mut self.handed_out);
        self.wire.drain(..written);
        // One large request should not pin its memory for the life of the connection.
        for buffer in [&mut self.wire, &mut self.plain] {
            if buffer.is_empty() && buffer.capacity() > 1 << 20 {
                *buffer = Vec::new();
            }
        }
        written
    }

    /// Starts compressing.
    pub(super) fn start_compression(&mut self) -> Result<(), ProtocolError> {
        self.transform()?;
        self.deflate = Some(Deflate::new());
        Ok(())
    }

    /// Starts encrypting.
    pub(super) fn start_encryption(&mut self, cipher: Box<dyn Cipher>) -> Result<(), ProtocolError> {
        self.transform()?;
        self.cipher = Some(cipher);
        Ok(())
    }
}
