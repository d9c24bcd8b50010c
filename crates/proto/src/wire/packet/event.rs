//! Events: requested on the connection, delivered on the auxiliary connection.
//!
//! The auxiliary connection is a plain stream from the server, neither compressed nor encrypted. Nothing is sent on it.

use super::{Answer, Request};
use crate::api::event::MAX_BLOCK;
use crate::wire::error::{DecodeError, ProtocolError};
use crate::wire::op::Op;
use crate::wire::version::ProtocolVersion;
use crate::wire::xdr::{Reader, Writer};

/// `op_connect_request`: the server opens a port for the auxiliary connection; see [`auxiliary_port`] for the answer.
/// It does nothing else until the client connects there or sends [`AbortAuxiliary`].
#[derive(Clone, Copy, Debug)]
pub struct RequestAuxiliary;

impl Request for RequestAuxiliary {
    const OP: Op = Op::CONNECT_REQUEST;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(1); // asynchronous
        out.short(0);
        out.word(0);
    }
}

/// `op_abort_aux_connection`: the client will not connect. Servers notice it only if it arrives on its own; they send
/// no answer.
#[derive(Clone, Copy, Debug)]
pub struct AbortAuxiliary;

impl Request for AbortAuxiliary {
    const OP: Op = Op::ABORT_AUX_CONNECTION;

    fn encode(&self, _: ProtocolVersion, _: &mut Writer<'_>) {}

    fn answer(&self) -> Answer {
        Answer::None
    }
}

/// `op_que_events`: one [`Posted`] will arrive on the auxiliary connection.
#[derive(Clone, Copy, Debug)]
pub struct QueueEvents<'a> {
    /// Names and counts; see [`crate::api::event`].
    pub block: &'a [u8],
    /// Identifies the request; chosen by the client and best not reused.
    pub id: u32,
}

impl Request for QueueEvents<'_> {
    const OP: Op = Op::QUE_EVENTS;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(0);
        out.cstr(self.block);
        out.word(0); // addresses in the client, for its own use
        out.word(0);
        out.word(self.id);
    }
}

/// `op_cancel_events`. An event already in transit still arrives.
#[derive(Clone, Copy, Debug)]
pub struct CancelEvents {
    /// Identifies the request.
    pub id: u32,
}

impl Request for CancelEvents {
    const OP: Op = Op::CANCEL_EVENTS;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(0);
        out.word(self.id);
    }
}

/// Returns the port in the answer to [`RequestAuxiliary`]. The answer is a socket address in the form of the server's
/// system: family, port in network order, address. The address is useless: it may belong to another network.
pub fn auxiliary_port(data: &[u8]) -> Option<u16> {
    let port = data.get(2..4)?.first_chunk()?;
    Some(u16::from_be_bytes(*port)).filter(|port| *port != 0)
}

/// `op_event`: the answer to [`QueueEvents`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posted<'a> {
    /// Names and counts.
    pub block: &'a [u8],
    /// Identifies the request.
    pub id: u32,
}

/// Reads one packet of the auxiliary connection; `None` is a keep-alive. A packet may also mark the end of the stream.
pub fn decode_auxiliary<'a>(reader: &mut Reader<'a>) -> Result<Option<Posted<'a>>, DecodeError> {
    match reader.op()? {
        Op::EVENT => {
            reader.short()?;
            let block = reader.cstr("event block", MAX_BLOCK)?;
            reader.word()?;
            reader.word()?;
            Ok(Some(Posted { block, id: reader.word()? }))
        }
        Op::DUMMY => Ok(None),
        Op::EXIT | Op::DISCONNECT => Err(ProtocolError::Closed.into()),
        op => Err(ProtocolError::UnexpectedPacket { op, waiting_for: "op_event" }.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::event::event_block;

    fn packet(block: &[u8], id: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut out = Writer::new(&mut bytes);
        out.op(Op::EVENT);
        out.short(0);
        out.cstr(block);
        out.quad(0);
        out.word(id);
        bytes
    }

    #[test]
    fn packets_are_read_one_by_one() {
        let block = event_block([("new", 4)]);
        let bytes = [packet(&block, 7), vec![0, 0, 0, 71], packet(&[], 8)].concat();
        let mut reader = Reader::new(&bytes);
        assert_eq!(decode_auxiliary(&mut reader), Ok(Some(Posted { block: &block, id: 7 })));
        assert_eq!(decode_auxiliary(&mut reader), Ok(None));
        assert_eq!(decode_auxiliary(&mut reader), Ok(Some(Posted { block: &[], id: 8 })));
        assert_eq!(decode_auxiliary(&mut reader), Err(DecodeError::Incomplete));
        assert_eq!(reader.position(), bytes.len());
    }

    #[test]
    fn a_truncated_packet_is_incomplete() {
        let bytes = packet(&event_block([("new order", 4), ("x", 5)]), 7);
        for cut in 0..bytes.len() {
            assert_eq!(
                decode_auxiliary(&mut Reader::new(&bytes[..cut])),
                Err(DecodeError::Incomplete),
                "{cut}"
            );
        }
    }

    #[test]
    fn lengths_are_checked_before_the_bytes_arrive() {
        let mut bytes = packet(&[], 7);
        bytes[8..12].copy_from_slice(&0x0001_0000_u32.to_be_bytes());
        let error = decode_auxiliary(&mut Reader::new(&bytes));
        assert!(matches!(error, Err(DecodeError::Invalid(ProtocolError::TooLong { length: 65536, .. }))));
    }

    #[test]
    fn other_packets_are_refused() {
        for (op, closed) in
            [(Op::EXIT, true), (Op::DISCONNECT, true), (Op::RESPONSE, false), (Op(4711), false)]
        {
            let bytes = op.0.to_be_bytes();
            let error = decode_auxiliary(&mut Reader::new(&bytes));
            assert_eq!(error == Err(ProtocolError::Closed.into()), closed, "{op:?}: {error:?}");
            assert!(matches!(error, Err(DecodeError::Invalid(_))));
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused() {
        // A reproducible generator whose bytes look random, and often like an event.
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let whole = packet(&event_block([("new order", 4), ("x", 5)]), 7);
        for _ in 0..20_000 {
            let mut bytes = whole.clone();
            for _ in 0..=next() % 4 {
                let at = (next() % bytes.len() as u64) as usize;
                bytes[at] = next() as u8;
            }
            bytes.truncate((next() % (bytes.len() as u64 + 1)) as usize);
            let mut reader = Reader::new(&bytes);
            if let Ok(Some(posted)) = decode_auxiliary(&mut reader) {
                assert!(reader.position() <= bytes.len());
                for (name, _) in crate::api::event::events(posted.block).unwrap_or_default() {
                    assert!(name.len() < posted.block.len());
                }
            }
        }
    }

    #[test]
    fn ports_are_in_network_order() {
        assert_eq!(auxiliary_port(&[2, 0, 0x0b, 0xea, 127, 0, 0, 1]), Some(3050));
        assert_eq!(auxiliary_port(&[10, 0, 0x0b, 0xea]), Some(3050));
        assert_eq!(auxiliary_port(&[2, 0, 0, 0, 127, 0, 0, 1]), None);
        assert_eq!(auxiliary_port(&[2, 0, 1]), None);
        assert_eq!(auxiliary_port(&[]), None);
    }
}
