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
    deflate: Option<Deflate>,
    cipher: Option<Box<dyn Cipher>>,
}

impl Outgoing {
    /// Where the next packet is encoded.
    pub(super) fn writer(&mut self) -> Writer<'_> {
        Writer::new(&mut self.plain)
    }

    /// Plain bytes that have been encoded and not transformed yet.
    pub(super) fn plain_length(&self) -> usize {
        self.plain.len()
    }

    /// Transforms what has been encoded and returns everything that waits to be written.
    pub(super) fn wire(&mut self) -> Result<&[u8], ProtocolError> {
        if !self.plain.is_empty() {
            let start = self.wire.len();
            match &mut self.deflate {
                Some(deflate) => deflate.append(&self.plain, &mut self.wire)?,
                None => self.wire.extend_from_slice(&self.plain),
            }
            self.plain.clear();
            if let Some(cipher) = &mut self.cipher {
                cipher.apply(&mut self.wire[start..])?;
            }
        }
        Ok(&self.wire)
    }

    /// Forgets the bytes that [`wire`](Self::wire) returned: they have been written.
    pub(super) fn clear(&mut self) {
        self.wire.clear();
        // One large request should not pin its memory for the life of the connection.
        if self.wire.capacity() > 1 << 20 {
            self.wire = Vec::new();
            self.plain = Vec::new();
        }
    }

    /// Compresses everything encoded from here on.
    pub(super) fn start_compression(&mut self) -> Result<(), ProtocolError> {
        self.wire()?;
        self.deflate = Some(Deflate::new());
        Ok(())
    }

    /// Encrypts everything encoded from here on.
    pub(super) fn start_encryption(&mut self, cipher: Box<dyn Cipher>) -> Result<(), ProtocolError> {
        self.wire()?;
        self.cipher = Some(cipher);
        Ok(())
    }
}
