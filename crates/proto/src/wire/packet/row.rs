//! The packets that carry rows.

use crate::wire::error::{DecodeError, invalid};
use crate::wire::op::Op;
use crate::wire::xdr::Reader;

/// The header of an `op_fetch_response`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchStep {
    /// A row follows.
    Row,
    /// The request is complete; there may be more rows.
    BatchEnd,
    /// There are no more rows.
    CursorEnd,
}

/// What nearly every row follows, as [`decode_fetch_step`] would read it: the operation, status 0, one message.
pub const ROW_HEADER: [u8; 12] = [0, 0, 0, Op::FETCH_RESPONSE.0 as u8, 0, 0, 0, 0, 0, 0, 0, 1];

/// Status word of the last `op_fetch_response` of a cursor.
const END_OF_CURSOR: u32 = 100;

/// Reads everything of `op_fetch_response` between the operation word and the row.
pub fn decode_fetch_step(reader: &mut Reader<'_>) -> Result<FetchStep, DecodeError> {
    match (reader.word()?, reader.short()?) {
        (0, 1) => Ok(FetchStep::Row),
        (0, 0) => Ok(FetchStep::BatchEnd),
        (END_OF_CURSOR, 0) => Ok(FetchStep::CursorEnd),
        (status, messages) => Err(invalid(format!("fetch status {status} with {messages} messages"))),
    }
}

/// Reads everything of `op_sql_response` after the operation word: whether a row follows.
pub fn decode_sql_response(reader: &mut Reader<'_>) -> Result<bool, DecodeError> {
    match reader.short()? {
        0 => Ok(false),
        1 => Ok(true),
        count => Err(invalid(format!("op_sql_response with {count} messages"))),
    }
}
