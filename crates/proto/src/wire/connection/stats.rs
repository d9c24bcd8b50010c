//! What a connection cost, counted as the client library counts it (info items 150 to 158).

/// Counters since the connection began, handshake included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireStats {
    /// Packets encoded.
    pub packets_sent: u64,
    /// Packets decoded; every row of a fetch is one.
    pub packets_received: u64,
    /// Bytes before compression and encryption.
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
    last_was_send: bool,
}

impl WireStats {
    pub(super) fn sent(&mut self, bytes: usize) {
        self.sends += 1;
        self.wire_bytes_sent += bytes as u64;
        self.last_was_send = true;
    }

    pub(super) fn received(&mut self, bytes: usize) {
        self.receives += 1;
        self.wire_bytes_received += bytes as u64;
        self.round_trips += u64::from(self.last_was_send);
        self.last_was_send = false;
    }

    /// The difference to an earlier reading.
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
            last_was_send: self.last_was_send,
        }
    }
}
