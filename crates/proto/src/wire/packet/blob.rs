//! BLOBs, one operation at a time.

use super::Request;
use crate::wire::error::{DecodeError, ProtocolError, invalid};
use crate::wire::limits::Limits;
use crate::wire::op::Op;
use crate::wire::version::ProtocolVersion;
use crate::wire::xdr::{Reader, Writer};

/// Most bytes that one `op_get_segment` can return; also the most that one segment can hold.
pub const MAX_SEGMENT: u16 = 65535;

/// `op_open_blob2` or `op_create_blob2`.
#[derive(Clone, Copy, Debug)]
pub struct OpenBlob<'a> {
    /// Handle of the transaction.
    pub transaction: u16,
    /// Id of the BLOB.
    pub id: u64,
    /// BLOB parameter buffer; empty lets the engine convert text to the connection character set.
    pub bpb: &'a [u8],
}

impl Request for OpenBlob<'_> {
    const OP: Op = Op::OPEN_BLOB2;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.cstr(self.bpb);
        out.short(self.transaction);
        out.quad(self.id);
    }
}

/// `op_create_blob2`: the answer contains the handle and the new id.
#[derive(Clone, Copy, Debug)]
pub struct CreateBlob<'a> {
    /// Handle of the transaction.
    pub transaction: u16,
    /// BLOB parameter buffer.
    pub bpb: &'a [u8],
}

impl Request for CreateBlob<'_> {
    const OP: Op = Op::CREATE_BLOB2;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.cstr(self.bpb);
        out.short(self.transaction);
        out.quad(0);
    }
}

/// `op_get_segment`: the answer's object is 0 (more), 1 (last segment continues) or 2 (end).
#[derive(Clone, Copy, Debug)]
pub struct GetSegment {
    /// Handle of the BLOB.
    pub blob: u16,
}

impl Request for GetSegment {
    const OP: Op = Op::GET_SEGMENT;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(self.blob);
        out.short(MAX_SEGMENT);
        out.cstr(&[]);
    }
}

/// `op_put_segment`.
#[derive(Clone, Copy, Debug)]
pub struct PutSegment<'a> {
    /// Handle of the BLOB.
    pub blob: u16,
    /// At most 65535 bytes.
    pub bytes: &'a [u8],
}

impl Request for PutSegment<'_> {
    const OP: Op = Op::PUT_SEGMENT;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(self.blob);
        out.word(self.bytes.len() as u32);
        out.cstr(self.bytes);
    }
}

/// `op_close_blob`: frees the handle; completes a created BLOB.
#[derive(Clone, Copy, Debug)]
pub struct CloseBlob {
    /// Handle of the BLOB.
    pub blob: u16,
}

impl Request for CloseBlob {
    const OP: Op = Op::CLOSE_BLOB;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(self.blob);
    }
}

/// `op_cancel_blob`: frees the handle; discards a created BLOB.
#[derive(Clone, Copy, Debug)]
pub struct CancelBlob {
    /// Handle of the BLOB.
    pub blob: u16,
}

impl Request for CancelBlob {
    const OP: Op = Op::CANCEL_BLOB;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(self.blob);
    }
}

/// `op_seek_blob`: the answer's BLOB id holds the new position in its low half. Stream BLOBs only.
#[derive(Clone, Copy, Debug)]
pub struct SeekBlob {
    /// Handle of the BLOB.
    pub blob: u16,
    /// 0 = from the start, 1 = from the current position, 2 = from the end.
    pub mode: u16,
    /// Offset in bytes.
    pub offset: i32,
}

impl Request for SeekBlob {
    const OP: Op = Op::SEEK_BLOB;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(self.blob);
        out.short(self.mode);
        out.word(self.offset.cast_unsigned());
    }
}

/// The state after `op_get_segment` at the end of a BLOB.
pub const STATE_END: u16 = 2;

/// Appends the segments of an answer to `out`. Each has a 16-bit little-endian length prefix.
pub fn append_segments(mut data: &[u8], out: &mut Vec<u8>) -> Result<(), ProtocolError> {
    while !data.is_empty() {
        let segment = data.first_chunk::<2>().and_then(|length| {
            let length = usize::from(u16::from_le_bytes(*length));
            data.get(2..2 + length)
        });
        let segment = segment
            .ok_or_else(|| ProtocolError::InvalidMessage("a BLOB segment longer than its answer".into()))?;
        out.extend_from_slice(segment);
        data = &data[2 + segment.len()..];
    }
    Ok(())
}

/// `op_inline_blob`: contents of a BLOB that a following row refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineBlob<'a> {
    /// Handle of the transaction it belongs to.
    pub transaction: u16,
    /// Its id.
    pub id: u64,
    /// An info buffer with its sizes.
    pub info: &'a [u8],
    /// Its segments, as in the answer to `op_get_segment`.
    pub segments: &'a [u8],
}

impl<'a> InlineBlob<'a> {
    /// Reads everything after the operation word.
    pub fn decode(reader: &mut Reader<'a>, limits: &Limits) -> Result<Self, DecodeError> {
        let blob = Self {
            transaction: reader.short()?,
            id: reader.quad()?,
            info: reader.cstr("inline BLOB info", limits.inline_blob)?,
            segments: reader.cstr("inline BLOB", limits.inline_blob)?,
        };
        if blob.id == 0 { Err(invalid("an inline BLOB without an id")) } else { Ok(blob) }
    }
}
