//! The info request that both backends send when they open a BLOB as a stream.

use crate::error::{Error, Kind, Result};
use firearrow_proto::api::info::InfoReader;
use firearrow_proto::api::info::blob::{TOTAL_LENGTH, TYPE};

/// The requested info items.
pub(super) const ITEMS: [u8; 2] = [TOTAL_LENGTH, TYPE];
/// Buffer size for the answer, in bytes.
pub(super) const ANSWER: u16 = 64;

/// Returns the stored length in bytes, and whether the BLOB supports seeking: only stream BLOBs do.
pub(super) fn length_and_type(answer: &[u8]) -> (u64, bool) {
    let (mut length, mut is_stream) = (0, false);
    for item in InfoReader::new(answer) {
        match (item.code, item.integer()) {
            (TOTAL_LENGTH, Some(value)) => length = value as u64,
            (TYPE, Some(value)) => is_stream = value == 1,
            _ => {}
        }
    }
    (length, is_stream)
}

/// Converts an offset to the engine's type.
pub(super) fn position(offset: u64) -> Result<i32> {
    i32::try_from(offset)
        .map_err(|_| Error::new(Kind::Unsupported, "BLOBs support seeking only within their first 2 GiB"))
}

pub(super) fn closed() -> Error {
    Error::new(Kind::Misuse, "the BLOB is closed")
}
