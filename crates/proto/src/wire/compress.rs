//! Wire compression: one zlib stream per direction, for as long as the connection lives.
//!
//! ```text
//!  plain ─► Deflate ─► cipher ─► socket          each send ends in a sync flush, so the peer can read it
//!  plain ◄─ Inflate ◄─ cipher ◄─ socket          output is bounded per call; the caller pulls
//! ```

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// Compresses the bytes to send.
#[derive(Debug)]
pub struct Deflate {
    stream: Compress,
}

impl Default for Deflate {
    fn default() -> Self {
        Self::new()
    }
}

impl Deflate {
    /// Starts a stream.
    pub fn new() -> Self {
        Self { stream: Compress::new(Compression::default(), true) }
    }

    /// Appends `plain` to `out`, compressed and flushed: the receiver can decompress all of it.
    pub fn append(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), CompressError> {
        let start = self.stream.total_in();
        let mut rest = plain;
        loop {
            // Room for input that does not compress, and for the flush; a second round is rare.
            out.reserve(rest.len() + rest.len() / 64 + 64);
            let result = self.stream.compress_vec(rest, out, FlushCompress::Sync);
            rest = &plain[(self.stream.total_in() - start) as usize..];
            match result {
                // The flush is complete if it left room.
                Ok(Status::Ok) if !rest.is_empty() || out.len() == out.capacity() => {}
                // No progress means nothing to do: `plain` is empty, or the flush ended exactly at the end of the room.
                Ok(Status::Ok | Status::BufError) => return Ok(()),
                Ok(Status::StreamEnd) | Err(_) => return Err(CompressError::Internal),
            }
        }
    }
}

/// Decompresses the bytes received.
#[derive(Debug)]
pub struct Inflate {
    stream: Decompress,
    failed: Option<CompressError>,
}

/// The progress of one call of [`Inflate::append`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Progress {
    /// Compressed bytes consumed.
    pub used: usize,
    /// Plain bytes appended.
    pub written: usize,
}

impl Default for Inflate {
    fn default() -> Self {
        Self::new()
    }
}

impl Inflate {
    /// Plain bytes produced per step: enough for speed, and few enough to stay in the CPU cache until used.
    const STEP: usize = 32 * 1024;

    /// Starts a stream.
    pub fn new() -> Self {
        Self { stream: Decompress::new(true), failed: None }
    }

    /// Decompresses from the front of `compressed`, appending at most `limit` bytes to `out`.
    ///
    /// After `limit` bytes, call again even without more input: the stream may hold back output. Fewer bytes mean that
    /// all input was consumed. After an error, every call returns the same error.
    pub fn append(
        &mut self,
        compressed: &[u8],
        out: &mut Vec<u8>,
        limit: usize,
    ) -> Result<Progress, CompressError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let mut progress = Progress { used: 0, written: 0 };
        while progress.written < limit {
            let step = Self::STEP.min(limit - progress.written);
            let length = out.len();
            out.resize(length + step, 0);
            let (total_in, total_out) = (self.stream.total_in(), self.stream.total_out());
            let result = self.stream.decompress(
                &compressed[progress.used..],
                &mut out[length..],
                FlushDecompress::None,
            );
            let written = (self.stream.total_out() - total_out) as usize;
            out.truncate(length + written);
            progress.used += (self.stream.total_in() - total_in) as usize;
            progress.written += written;
            match result {
                Ok(Status::Ok | Status::BufError) if written < step => break,
                Ok(Status::Ok | Status::BufError) => {}
                // A server ends its stream by closing the connection.
                Ok(Status::StreamEnd) => return Err(self.fail(CompressError::Ended)),
                Err(_) => return Err(self.fail(CompressError::Corrupt)),
            }
        }
        Ok(progress)
    }

    fn fail(&mut self, error: CompressError) -> CompressError {
        *self.failed.insert(error)
    }
}

/// Why a stream failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompressError {
    /// The bytes received are not a zlib stream.
    #[error("the compressed data received is corrupt")]
    Corrupt,
    /// The stream received has an end. A connection's stream never ends.
    #[error("the server ended the compressed stream")]
    Ended,
    /// The compressor failed. No input should cause that.
    #[error("the compressor failed")]
    Internal,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FLUSHED: [u8; 4] = [0, 0, 0xff, 0xff];

    fn inflate(stream: &mut Inflate, mut compressed: &[u8], limit: usize) -> Result<Vec<u8>, CompressError> {
        let mut plain = Vec::new();
        loop {
            let Progress { used, written } = stream.append(compressed, &mut plain, limit)?;
            assert!(written <= limit);
            compressed = &compressed[used..];
            if written < limit {
                assert!(compressed.is_empty());
                return Ok(plain);
            }
        }
    }

    fn deflate(stream: &mut Deflate, plain: &[u8]) -> Vec<u8> {
        let mut compressed = Vec::new();
        stream.append(plain, &mut compressed).expect("the compressor takes anything");
        compressed
    }

    /// Incompressible bytes.
    fn noise(length: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        std::iter::repeat_with(next).take(length).collect()
    }

    /// Two sync-flushed sends as zlib 1.2.13 makes them.
    #[test]
    fn reads_a_stream_of_c_zlib() {
        let mut stream = Inflate::new();
        let first = b"\x78\x9c\xca\x2f\x88\x2f\xc8\xcc\x4b\x57\xc8\x47\xa5\x01\x00\x00\x00\xff\xff";
        assert_eq!(inflate(&mut stream, first, 100).as_deref(), Ok(&b"op_ping op_ping op_ping"[..]));
        let second = b"\x82\x52\x00\x00\x00\x00\xff\xff";
        assert_eq!(inflate(&mut stream, second, 100).as_deref(), Ok(&b"op_ping"[..]));
    }

    #[test]
    fn every_send_can_be_read_at_once() {
        let (mut sender, mut receiver) = (Deflate::new(), Inflate::new());
        for length in [1, 7, 64, 1000, 32 * 1024, 32 * 1024 + 1, 1_000_000] {
            for plain in [noise(length), vec![b'x'; length]] {
                let compressed = deflate(&mut sender, &plain);
                assert!(compressed.ends_with(&FLUSHED), "{length}");
                assert_eq!(inflate(&mut receiver, &compressed, 50_000), Ok(plain), "{length}");
            }
        }
    }

    #[test]
    fn an_empty_send_sends_nothing_after_the_first() {
        let mut sender = Deflate::new();
        let mut sent = deflate(&mut sender, b"");
        sent.extend(deflate(&mut sender, b"op_ping"));
        assert_eq!(deflate(&mut sender, b""), b"");
        assert_eq!(inflate(&mut Inflate::new(), &sent, 100).as_deref(), Ok(&b"op_ping"[..]));
        assert_eq!(inflate(&mut Inflate::new(), b"", 100), Ok(vec![]));
    }

    #[test]
    fn appends_to_existing_bytes() {
        let mut compressed = b"before".to_vec();
        Deflate::new().append(b"plain", &mut compressed).expect("the compressor takes anything");
        let mut plain = b"before".to_vec();
        let progress = Inflate::new().append(&compressed[6..], &mut plain, 1000);
        assert_eq!(progress, Ok(Progress { used: compressed.len() - 6, written: 5 }));
        assert_eq!((&compressed[..6], plain.as_slice()), (&b"before"[..], &b"beforeplain"[..]));
    }

    #[test]
    fn a_bomb_goes_off_in_small_pieces() {
        let bomb = deflate(&mut Deflate::new(), &vec![0; 10_000_000]);
        assert!(bomb.len() < 20_000);
        let (mut stream, mut out) = (Inflate::new(), Vec::new());
        let Progress { used, written } = stream.append(&bomb, &mut out, 5000).expect("well-formed");
        assert_eq!((written, out.len()), (5000, 5000));
        assert!(used < 100 && out.capacity() < 100_000);
        assert_eq!(inflate(&mut stream, &bomb[used..], 70_000).map(|rest| rest.len()), Ok(9_995_000));
    }

    #[test]
    fn anything_but_an_endless_stream_fails_for_good() {
        let ended = b"\x78\x9c\xcb\x2f\x88\x2f\xc8\xcc\x4b\x07\x00\x0b\xc9\x02\xed";
        let with_dictionary = b"\x78\xbb\x0b\xc9\x02\xed\xca\x87\x50\x00\x00\x00\x00\xff\xff";
        let mut damaged = deflate(&mut Deflate::new(), &noise(500));
        damaged[2] |= 7;
        for (bytes, error) in [
            (&ended[..], CompressError::Ended),
            (&with_dictionary[..], CompressError::Corrupt),
            (&damaged, CompressError::Corrupt),
            (&b"\0\0\0\x09"[..], CompressError::Corrupt),
        ] {
            let mut stream = Inflate::new();
            assert_eq!(inflate(&mut stream, bytes, 100), Err(error));
            let good = deflate(&mut Deflate::new(), b"good");
            assert_eq!(inflate(&mut stream, &good, 100), Err(error));
        }
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_bytes(
            sends in prop::collection::vec(prop::collection::vec(0..4_u8, 0..2000), 0..6),
            piece in 1..300_usize,
            limit in 1..300_usize,
        ) {
            let mut sender = Deflate::new();
            let compressed: Vec<u8> = sends.iter().flat_map(|plain| deflate(&mut sender, plain)).collect();
            let (mut receiver, mut plain) = (Inflate::new(), Vec::new());
            for piece in compressed.chunks(piece) {
                plain.extend(inflate(&mut receiver, piece, limit).expect("well-formed"));
            }
            prop_assert_eq!(plain, sends.concat());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), valid: bool) {
            let header: &[u8] = if valid { &[0x78, 0x9c] } else { &[] };
            let mut plain = Vec::new();
            let _ = Inflate::new().append(&[header, &bytes].concat(), &mut plain, 1000);
            prop_assert!(plain.len() <= 1000);
        }
    }
}
