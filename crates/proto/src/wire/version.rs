//! Protocol versions and their features. Only packets ask for them.

use std::fmt;

/// A negotiated protocol version without its flag bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProtocolVersion(u16);

/// Bit 15 marks versions of Firebird (as opposed to InterBase) on the wire.
const FIREBIRD_FLAG: u16 = 0x8000;

impl ProtocolVersion {
    /// Firebird 3.0.0.
    pub const MIN: Self = Self(13);
    /// Firebird 5.0.3.
    pub const MAX: Self = Self(19);

    /// The version with this number, if this crate supports it.
    pub fn new(number: u16) -> Option<Self> {
        (Self::MIN.0..=Self::MAX.0).contains(&number).then_some(Self(number))
    }

    /// 13 … 19.
    pub fn number(self) -> u16 {
        self.0
    }

    /// The value in `op_connect` and `op_accept`.
    pub(crate) fn to_wire(self) -> u16 {
        self.0 | FIREBIRD_FLAG
    }

    /// Reads the value of `op_accept`; `None` for versions that this crate does not support.
    pub(crate) fn from_wire(word: u16) -> Option<Self> {
        if word & FIREBIRD_FLAG == 0 { None } else { Self::new(word & !FIREBIRD_FLAG) }
    }

    /// 14: `op_crypt_key_callback` states how long the reply may be.
    pub(crate) fn has_callback_size(self) -> bool {
        self.0 >= 14
    }

    /// 16: the key block contains initialization vectors, so ciphers other than Arc4 work.
    pub fn has_cipher_iv(self) -> bool {
        self.0 >= 16
    }

    /// 16: `op_execute` carries a statement timeout; the batch API exists.
    pub fn has_statement_timeout(self) -> bool {
        self.0 >= 16
    }

    /// 17: `op_batch_sync` and `op_info_batch`.
    pub fn has_batch_sync(self) -> bool {
        self.0 >= 17
    }

    /// 18: `op_execute` carries cursor flags; `op_fetch_scroll` exists.
    pub fn has_cursor_flags(self) -> bool {
        self.0 >= 18
    }

    /// 19: `op_execute` carries the inline BLOB limit; `op_inline_blob` exists.
    pub fn has_inline_blobs(self) -> bool {
        self.0 >= 19
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
