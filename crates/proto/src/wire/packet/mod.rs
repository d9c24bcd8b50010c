//! Packets, one file per family. A request encodes itself for a protocol version and knows the form of its answer. An
//! answer decodes itself.

pub mod attach;
pub mod batch;
pub mod blob;
pub mod connect;
pub mod event;
pub mod info;
pub mod response;
pub mod row;
pub mod scroll;
pub mod slice;
pub mod statement;
pub mod transaction;

use super::op::Op;
use super::packed::PackedFormat;
use super::version::ProtocolVersion;
use super::xdr::Writer;
use std::sync::Arc;

/// "The object created last on this connection", in place of a handle. Not allowed in the statement field of execute,
/// fetch and bulk packets: the server needs the statement's format to decode them.
pub const LAST_OBJECT: u16 = 0xffff;

/// What the server sends back for a request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// One `op_response`.
    Response,
    /// At most this many rows of a cursor, then a terminator; or one `op_response` with an error.
    Rows(Arc<PackedFormat>, u16),
    /// `op_sql_response` with at most one row, then `op_response`; or only the latter.
    Singleton(Arc<PackedFormat>),
    /// `op_batch_cs`, or `op_response` with an error.
    Completion,
    /// Nothing.
    None,
}

/// A packet that a client sends.
pub trait Request {
    /// Its operation word.
    const OP: Op;

    /// Appends everything after the operation word.
    fn encode(&self, version: ProtocolVersion, out: &mut Writer<'_>);

    /// The form of the answer.
    fn answer(&self) -> Answer {
        Answer::Response
    }

    /// The most bytes of data that an `op_response` to it may contain. Servers store that length in 16 bits.
    fn most_data(&self) -> usize {
        usize::from(u16::MAX)
    }
}
