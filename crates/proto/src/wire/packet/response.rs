//! `op_response`, the answer to nearly everything.

use crate::api::status::{StatusArg, StatusVector};
use crate::wire::error::{DecodeError, ProtocolError, invalid};
use crate::wire::limits::Limits;
use crate::wire::xdr::Reader;

/// The fields of `op_response`. The request determines which of them have a meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// Handle or state.
    pub object: u16,
    /// New BLOB id or position; stale in answers to requests that create nothing.
    pub blob_id: u64,
    /// Info buffer, BLOB segments, keys.
    pub data: Vec<u8>,
    /// Error and warnings.
    pub status: StatusVector,
}

impl Response {
    /// Reads everything after the operation word.
    pub fn decode(reader: &mut Reader<'_>, limits: &Limits) -> Result<Self, DecodeError> {
        Self::decode_within(reader, limits.response_data, limits)
    }

    /// Reads the answer to a request with a buffer of `most` bytes.
    pub(crate) fn decode_within(
        reader: &mut Reader<'_>,
        most: usize,
        limits: &Limits,
    ) -> Result<Self, DecodeError> {
        Ok(Self {
            object: reader.short()?,
            blob_id: reader.quad()?,
            data: reader.cstr("response data", limits.response_data.min(most))?.to_vec(),
            status: decode_status(reader, limits)?,
        })
    }
}

/// Reads a status vector up to its end marker.
pub fn decode_status(reader: &mut Reader<'_>, limits: &Limits) -> Result<StatusVector, DecodeError> {
    let mut args = Vec::new();
    let mut text_length = 0;
    // Counts every argument: "success" is not stored, but must not repeat forever either.
    for _ in 0..=limits.status_args {
        let kind = reader.word()?;
        if kind == 0 {
            return Ok(StatusVector(args));
        }
        let mut text = |reader: &mut Reader<'_>| {
            let bytes = reader.cstr("status text", limits.status_text)?;
            text_length += bytes.len();
            if text_length > limits.response_data {
                return Err(too_long("status texts", text_length, limits.response_data));
            }
            Ok(String::from_utf8_lossy(bytes).into_owned())
        };
        match kind {
            1 => match reader.word()? as i32 {
                0 => {} // success; warnings may follow
                code => args.push(StatusArg::Gds(code)),
            },
            2 => args.push(StatusArg::Text(text(reader)?)),
            4 => args.push(StatusArg::Number(reader.word()? as i32)),
            5 => args.push(StatusArg::Interpreted(text(reader)?)),
            7 => args.push(StatusArg::System("unix", reader.word()? as i32)),
            15 => args.push(StatusArg::System("next_mach", reader.word()? as i32)),
            17 => args.push(StatusArg::System("win32", reader.word()? as i32)),
            18 => args.push(StatusArg::Warning(reader.word()? as i32)),
            19 => args.push(StatusArg::SqlState(text(reader)?)),
            other => return Err(invalid(format!("status argument of kind {other}"))),
        }
    }
    Err(too_long("status vector", limits.status_args + 1, limits.status_args))
}

fn too_long(what: &'static str, length: usize, limit: usize) -> DecodeError {
    DecodeError::Invalid(ProtocolError::TooLong { what, length: length as u64, limit: limit as u64 })
}
