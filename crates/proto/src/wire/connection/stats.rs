//! Traffic counters of a connection, as the client library counts them (info items 150 to 158).

use std::ops::AddAssign;

/// Counters of a connection since its start, including the handshake, or of a part of its life.
///
/// | | logical: the protocol's | physical: the socket's |
/// |---|---|---|
/// | what is counted | packets | writes and reads |
/// | there | `packets_sent`, `bytes_sent` | `sends`, `wire_bytes_sent` |
/// | back | `packets_received`, `bytes_received` | `receives`, `wire_bytes_received` |
/// | both | | `round_trips` |
///
/// Logical bytes are those before compression and encryption. The same packets give the same logical counts and round
/// trips as in the client library; its `sends` differ, because it writes at most one buffer at a time, and `receives`
/// depend on TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WireStats {
    /// Packets encoded, including those not yet written.
    pub packets_sent: u64,
    /// Packets decoded; every row of a fetch is one.
    pub packets_received: u64,
    /// Bytes of these packets, before compression and encryption.
    pub bytes_sent: u64,
    /// Bytes after decryption and decompression.
    pub bytes_received: u64,
    /// Writes to the link.
    pub sends: u64,
    /// Reads from the link.
    pub receives: u64,
    /// Bytes written to the link.
    pub wire_bytes_sent: u64,
    /// Bytes read from the link.
    pub wire_bytes_received: u64,
    /// Changes of direction from sending to receiving.
    pub round_trips: u64,
    /// Whether the connection is encrypted now. In a sum: whether all parts that reached the link were.
    pub encrypted: bool,
}

impl WireStats {
    pub(super) fn sent(&mut self, bytes: usize) {
        self.sends += 1;
        self.wire_bytes_sent += bytes as u64;
    }

    /// `answers` is whether the last operation on the link was a write.
    pub(super) fn received(&mut self, bytes: usize, answers: bool) {
        self.receives += 1;
        self.wire_bytes_received += bytes as u64;
        self.round_trips += u64::from(answers);
    }

    /// The difference from an earlier reading.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            packets_sent: self.packets_sent - earlier.packets_sent,
            packets_received: self.packets_received - earlier.packets_received,
            bytes_sent: self.bytes_sent - earlier.bytes_sent,
            bytes_received: self.bytes_received - earlier.bytes_received,
            sends: self.sends - earlier.sends,
            receives: self.receives - earlier.receives,
            wire_bytes_sent: self.wire_bytes_sent - earlier.wire_bytes_sent,
            wire_bytes_received: self.wire_bytes_received - earlier.wire_bytes_received,
            round_trips: self.round_trips - earlier.round_trips,
            encrypted: self.encrypted,
        }
    }
}

impl AddAssign for WireStats {
    fn add_assign(&mut self, other: Self) {
        self.encrypted = match (self.wire_bytes_sent, other.wire_bytes_sent) {
            (_, 0) => self.encrypted,
            (0, _) => other.encrypted,
            _ => self.encrypted && other.encrypted,
        };
        self.packets_sent += other.packets_sent;
        self.packets_received += other.packets_received;
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.sends += other.sends;
        self.receives += other.receives;
        self.wire_bytes_sent += other.wire_bytes_sent;
        self.wire_bytes_received += other.wire_bytes_received;
        self.round_trips += other.round_trips;
    }
}
