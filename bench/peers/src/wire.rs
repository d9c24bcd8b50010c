//! What the client library says of its traffic.

use firearrow_fbapi::{Attachment, Error};
use firearrow_proto::api::info::InfoReader;

/// Traffic of a connection so far, as libraries from Firebird 5.0.2 on count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Bytes written to the socket.
    pub bytes_sent: u64,
    /// Bytes read from it.
    pub bytes_received: u64,
    /// Changes from sending to receiving.
    pub round_trips: u64,
}

impl Wire {
    /// Asks the library; `None` when it does not count.
    pub fn of(attachment: &Attachment) -> Result<Option<Self>, Error> {
        let items = [SENT, RECEIVED, ROUND_TRIPS];
        let answer = attachment.info(&items, 64)?;
        let value = |code| {
            let item = InfoReader::new(&answer).find(|item| item.code == code)?;
            item.integer().and_then(|value| u64::try_from(value).ok())
        };
        let [sent, received, round_trips] = items.map(value);
        Ok((|| Some(Self { bytes_sent: sent?, bytes_received: received?, round_trips: round_trips? }))())
    }
}

// fb_info_wire_snd_bytes, fb_info_wire_rcv_bytes, fb_info_wire_roundtrips: of the socket, not of the protocol.
const SENT: u8 = 156;
const RECEIVED: u8 = 157;
const ROUND_TRIPS: u8 = 158;
