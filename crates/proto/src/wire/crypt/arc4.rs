//! `Arc4`: plain RC4 with the session key, without dropped bytes. The only cipher of servers before Firebird 4.

use super::{Cipher, CryptError};
use rc4::{KeyInit, Rc4, StreamCipher};

pub(super) struct Arc4(Rc4);

impl Arc4 {
    pub(super) fn new(session_key: &[u8]) -> Result<Self, CryptError> {
        Rc4::new_from_slice(session_key).map(Self).map_err(|_| CryptError::Key(session_key.len()))
    }
}

impl Cipher for Arc4 {
    fn apply(&mut self, data: &mut [u8]) -> Result<(), CryptError> {
        self.0.try_apply_keystream(data).map_err(|_| CryptError::Exhausted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        // RFC 6229, 40-bit key, offsets 0 and 240.
        let mut data = [0; 256];
        Arc4::new(&[1, 2, 3, 4, 5]).expect("key").apply(&mut data).expect("endless");
        assert_eq!(data[..4], [0xb2, 0x39, 0x63, 0x05]);
        assert_eq!(data[240..244], [0x28, 0xcb, 0x11, 0x32]);
    }

    #[test]
    fn key_lengths_are_checked() {
        assert_eq!(Arc4::new(&[]).map(drop), Err(CryptError::Key(0)));
        assert_eq!(Arc4::new(&[7; 257]).map(drop), Err(CryptError::Key(257)));
    }
}
