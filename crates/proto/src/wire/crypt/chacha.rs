//! `ChaCha` and `ChaCha64`: twenty rounds, keyed with the SHA-256 of the session key.
//!
//! | plugin     | counter | initialization vector                                             |
//! |------------|---------|-------------------------------------------------------------------|
//! | `ChaCha`   | 32 bits | 12 bytes of nonce, then optionally the first counter (big-endian) |
//! | `ChaCha64` | 64 bits | 8 bytes of nonce; the counter starts at 0                         |
//!
//! The last block of either counter is never used: LibTomCrypt in the server reports overflow instead of
//! producing it, and so does the `chacha20` crate.

use super::{Cipher, CryptError};
use chacha20::cipher::{StreamCipher, StreamCipherSeek};
use chacha20::{ChaCha20, ChaCha20Legacy, KeyIvInit};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// The length of a ChaCha block.
const BLOCK: u64 = 64;

pub(super) struct ChaCha(ChaCha20);

impl ChaCha {
    /// Returns `None` unless the vector has 12 or 16 bytes.
    pub(super) fn new(session_key: &[u8], iv: &[u8]) -> Option<Self> {
        let (nonce, rest) = iv.split_first_chunk::<12>()?;
        let counter = if rest.is_empty() { 0 } else { u32::from_be_bytes(rest.try_into().ok()?) };
        let mut cipher = ChaCha20::new((&*stretch(session_key)).into(), nonce.into());
        cipher.try_seek(u64::from(counter) * BLOCK).ok()?;
        Some(Self(cipher))
    }
}

impl Cipher for ChaCha {
    fn apply(&mut self, data: &mut [u8]) -> Result<(), CryptError> {
        self.0.try_apply_keystream(data).map_err(|_| CryptError::Exhausted)
    }
}

pub(super) struct ChaCha64(ChaCha20Legacy);

impl ChaCha64 {
    /// Returns `None` unless the vector has 8 bytes.
    pub(super) fn new(session_key: &[u8], iv: &[u8]) -> Option<Self> {
        let nonce: &[u8; 8] = iv.try_into().ok()?;
        Some(Self(ChaCha20Legacy::new((&*stretch(session_key)).into(), nonce.into())))
    }
}

impl Cipher for ChaCha64 {
    fn apply(&mut self, data: &mut [u8]) -> Result<(), CryptError> {
        self.0.try_apply_keystream(data).map_err(|_| CryptError::Exhausted)
    }
}

/// Derives a key of 32 bytes from a session key of 20.
fn stretch(session_key: &[u8]) -> Zeroizing<[u8; 32]> {
    Zeroizing::new(Sha256::digest(session_key).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: &[u8] = b"twenty bytes of key.";
    const NONCE: [u8; 12] = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 255, 254];

    /// Computes one block as in RFC 8439, with words 12 to 15 from the caller. The tests check the crate's vector code
    /// against this near the limits of its counters.
    fn block(tail: [u32; 4]) -> [u8; 64] {
        let key = stretch(KEY);
        let mut state =
            [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        for (word, bytes) in state[4..12].iter_mut().zip(key.chunks_exact(4)) {
            *word = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        }
        state[12..].copy_from_slice(&tail);
        let mut mixed = state;
        for _ in 0..10 {
            for [a, b, c, d] in [
                [0, 4, 8, 12],
                [1, 5, 9, 13],
                [2, 6, 10, 14],
                [3, 7, 11, 15],
                [0, 5, 10, 15],
                [1, 6, 11, 12],
                [2, 7, 8, 13],
                [3, 4, 9, 14],
            ] {
                for (x, y, z, by) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
                    mixed[x] = u32::wrapping_add(mixed[x], mixed[y]);
                    mixed[z] = u32::rotate_left(mixed[z] ^ mixed[x], by);
                }
            }
        }
        let mut bytes = [0; 64];
        for ((out, mixed), start) in bytes.chunks_exact_mut(4).zip(mixed).zip(state) {
            out.copy_from_slice(&mixed.wrapping_add(start).to_le_bytes());
        }
        bytes
    }

    fn word(bytes: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
    }

    fn keystream32(counters: impl Iterator<Item = u32>) -> Vec<u8> {
        let [a, b, c] = [0, 4, 8].map(|at| word(&NONCE, at));
        counters.flat_map(|counter| block([counter, a, b, c])).collect()
    }

    fn keystream64(counters: impl Iterator<Item = u64>) -> Vec<u8> {
        let [a, b] = [0, 4].map(|at| word(&NONCE, at));
        counters.flat_map(|counter| block([counter as u32, (counter >> 32) as u32, a, b])).collect()
    }

    fn chacha(counter: u32) -> ChaCha {
        ChaCha::new(KEY, &[NONCE.as_slice(), &counter.to_be_bytes()].concat()).expect("16 bytes")
    }

    fn keystream(cipher: &mut impl Cipher, length: usize) -> Result<Vec<u8>, CryptError> {
        let mut data = vec![0; length];
        cipher.apply(&mut data).map(|()| data)
    }

    #[test]
    fn the_counter_of_the_vector_is_big_endian_and_optional() {
        assert_eq!(keystream(&mut chacha(0x0102_0304), 640), Ok(keystream32(0x0102_0304..0x0102_030e)));
        let mut short = ChaCha::new(KEY, &NONCE).expect("12 bytes");
        assert_eq!(keystream(&mut short, 640), Ok(keystream32(0..10)));
    }

    #[test]
    fn chacha_ends_before_its_counter_wraps() {
        let mut cipher = chacha(u32::MAX - 5);
        assert_eq!(keystream(&mut cipher, 6 * 64), Err(CryptError::Exhausted));
        // The failure consumed nothing; the stream works up to its end.
        assert_eq!(keystream(&mut cipher, 5 * 64), Ok(keystream32(u32::MAX - 5..u32::MAX)));
        assert_eq!(keystream(&mut cipher, 0), Ok(vec![]));
        assert_eq!(keystream(&mut cipher, 1), Err(CryptError::Exhausted));
        assert_eq!(keystream(&mut cipher, 1), Err(CryptError::Exhausted));

        // The rest of a started block is still available.
        let mut cipher = chacha(u32::MAX - 1);
        assert_eq!(keystream(&mut cipher, 60).map(|bytes| bytes.len()), Ok(60));
        assert_eq!(keystream(&mut cipher, 5), Err(CryptError::Exhausted));
        assert_eq!(keystream(&mut cipher, 4).as_deref(), Ok(&block_end(u32::MAX - 1)[..]));
        assert_eq!(keystream(&mut chacha(u32::MAX), 1), Err(CryptError::Exhausted));
    }

    fn block_end(counter: u32) -> Vec<u8> {
        keystream32(counter..=counter)[60..].to_vec()
    }

    #[test]
    fn chacha64_carries_past_256_gigabytes() {
        for ahead in 0..9 {
            let start = (1_u64 << 32) - ahead;
            let mut cipher = ChaCha64::new(KEY, &NONCE[..8]).expect("8 bytes");
            cipher.0.try_seek(start * BLOCK).expect("a 64-bit counter");
            assert_eq!(keystream(&mut cipher, 16 * 64), Ok(keystream64(start..start + 16)), "{ahead}");
        }
        // Whole blocks, partial blocks and single bytes take different paths.
        let start = (1_u64 << 32) - 3;
        let mut cipher = ChaCha64::new(KEY, &NONCE[..8]).expect("8 bytes");
        cipher.0.try_seek(start * BLOCK).expect("a 64-bit counter");
        let mut bytes = Vec::new();
        for length in [1, 63, 65, 127, 100, 28] {
            bytes.extend(keystream(&mut cipher, length).expect("far from the end"));
        }
        assert_eq!(bytes, keystream64(start..start + 6));
    }

    #[test]
    fn vectors_of_other_lengths_are_refused() {
        for length in (0..40).filter(|length| ![12, 16].contains(length)) {
            assert!(ChaCha::new(KEY, &vec![0; length]).is_none(), "{length}");
        }
        for length in (0..40).filter(|length| *length != 8) {
            assert!(ChaCha64::new(KEY, &vec![0; length]).is_none(), "{length}");
        }
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(lengths in prop::collection::vec(0..700_usize, 0..12), counter: u32) {
            let counter = counter.min(u32::MAX - 200);
            let (mut pieces, mut cipher) = (Vec::new(), chacha(counter));
            for length in &lengths {
                pieces.extend(keystream(&mut cipher, *length).expect("far from the end"));
            }
            prop_assert_eq!(keystream(&mut chacha(counter), pieces.len()), Ok(pieces));
        }
    }
}
