//! Words and padded byte strings, the primitives of every packet.

use super::error::{DecodeError, ProtocolError, present};
use super::op::Op;

/// Appends the words of packets to a caller's buffer.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> Writer<'a> {
    /// Appends to `out`.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out }
    }

    /// The operation word.
    pub fn op(&mut self, op: Op) {
        self.word(op.0);
    }

    /// A 32-bit word.
    pub fn word(&mut self, value: u32) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    /// A 16-bit value, sent zero-extended.
    pub fn short(&mut self, value: u16) {
        self.word(u32::from(value));
    }

    /// An 8-byte id.
    pub fn quad(&mut self, value: u64) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    /// Bytes without a length, padded to a multiple of four.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
        self.pad(bytes.len());
    }

    /// Length-prefixed bytes, padded to a multiple of four.
    ///
    /// # Panics
    /// Panics if `bytes` is too long for the format (4 GiB minus 64 KiB). Requests are built from bounded parts.
    pub fn cstr(&mut self, bytes: &[u8]) {
        let length = u32::try_from(bytes.len()).expect("requests are far below 4 GiB");
        assert!(length < 0xffff_0000, "lengths above 0xffff0000 read as 16-bit numbers");
        self.word(length);
        self.raw(bytes);
    }

    /// Raw bytes, without length or padding.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// The zero bytes that follow an opaque of `length` bytes.
    pub(crate) fn pad(&mut self, length: usize) {
        self.out.extend_from_slice(&[0; 3][..length.wrapping_neg() & 3]);
    }
}

/// Reads words from the start of a packet. Running out of bytes is [`DecodeError::Incomplete`], not a failure.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Reads from the beginning of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes read so far.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Fails as incomplete unless this many bytes are left. Saves reading the start of a long packet each time more of
    /// it arrives.
    pub fn require(&self, bytes: u64) -> Result<(), DecodeError> {
        if bytes > (self.bytes.len() - self.at) as u64 { Err(DecodeError::Incomplete) } else { Ok(()) }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let chunk = present(self.bytes[self.at..].first_chunk::<N>())?;
        self.at += N;
        Ok(*chunk)
    }

    /// The operation word.
    pub fn op(&mut self) -> Result<Op, DecodeError> {
        self.word().map(Op)
    }

    /// A 32-bit word.
    pub fn word(&mut self) -> Result<u32, DecodeError> {
        self.take().map(u32::from_be_bytes)
    }

    /// A 16-bit value; the upper half is ignored because servers sign-extend.
    pub fn short(&mut self) -> Result<u16, DecodeError> {
        self.word().map(|word| word as u16)
    }

    /// An 8-byte id.
    pub fn quad(&mut self) -> Result<u64, DecodeError> {
        self.take().map(u64::from_be_bytes)
    }

    /// `length` bytes and their padding.
    pub fn raw(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        let padded = present(length.checked_add(3))? & !3;
        let rest = &self.bytes[self.at..];
        if rest.len() < padded {
            return Err(DecodeError::Incomplete);
        }
        self.at += padded;
        Ok(&rest[..length])
    }

    /// A length and that many bytes with their padding. A length above `limit` is an error before the bytes arrive.
    pub fn cstr(&mut self, what: &'static str, limit: usize) -> Result<&'a [u8], DecodeError> {
        let length = self.length(what, limit)?;
        self.raw(length)
    }

    /// A checked length word, with the protocol's rule for sign-extended 16-bit lengths applied.
    pub fn length(&mut self, what: &'static str, limit: usize) -> Result<usize, DecodeError> {
        let word = self.word()?;
        let length = if word >> 16 == 0xffff { word & 0xffff } else { word };
        if length as usize > limit {
            let error = ProtocolError::TooLong { what, length: length.into(), limit: limit as u64 };
            return Err(DecodeError::Invalid(error));
        }
        Ok(length as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_padded_to_words() {
        let mut out = Vec::new();
        Writer::new(&mut out).cstr(b"abcde");
        assert_eq!(out, [0, 0, 0, 5, b'a', b'b', b'c', b'd', b'e', 0, 0, 0]);
        let mut reader = Reader::new(&out);
        assert_eq!(reader.cstr("text", 10), Ok(&b"abcde"[..]));
        assert_eq!(reader.position(), out.len());
        for cut in 0..out.len() {
            assert_eq!(Reader::new(&out[..cut]).cstr("text", 10), Err(DecodeError::Incomplete));
        }
    }

    #[test]
    fn a_length_is_checked_before_its_bytes_arrive() {
        let mut reader = Reader::new(&[0x7f, 0xff, 0xff, 0xff]);
        assert!(matches!(
            reader.cstr("text", 100),
            Err(DecodeError::Invalid(ProtocolError::TooLong { length: 0x7fff_ffff, limit: 100, .. }))
        ));
    }

    #[test]
    fn sign_extended_lengths_are_16_bit() {
        assert_eq!(Reader::new(&[0xff, 0xff, 0xff, 0xfe]).length("text", 70000), Ok(65534));
    }
}
