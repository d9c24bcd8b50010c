//! The request of both backends for a BLOB that is opened as a stream.

use crate::error::{Error, Kind, Result};
use firearrow_proto::api::info::InfoReader;
use firearrow_proto::api::info::blob::{TOTAL_LENGTH, TYPE};

/// The items to ask for.
pub(super) const ITEMS: [u8; 2] = [TOTAL_LENGTH, TYPE];
/// Bytes for the answer.
pub(super) const ANSWER: u16 = 64;

/// The stored length in bytes, and whether the BLOB can be positioned: it was written as a stream.
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

/// An offset as engines take it.
pub(super) fn position(offset: u64) -> Result<i32> {
    i32::try_from(offset)
        .map_err(|_| Error::new(Kind::Unsupported, "BLOBs can be positioned within their first 2 GiB only"))
}

pub(super) fn closed() -> Error {
    Error::new(Kind::Misuse, "the BLOB is closed")
}
