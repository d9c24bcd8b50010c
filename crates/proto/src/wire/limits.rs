//! Bounds on everything that a peer can make grow.

/// Upper bounds for what is accepted from a server. The defaults fit every regular server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of info buffers, BLOB segments and other data of one `op_response`.
    pub response_data: usize,
    /// Bytes of one text in a status vector (servers refuse to send more than 65535).
    pub status_text: usize,
    /// Arguments of one status vector.
    pub status_args: usize,
    /// Bytes of authentication data and key blocks.
    pub auth_data: usize,
    /// Bytes of one packed row.
    pub row: usize,
    /// Bytes of one inline BLOB.
    pub inline_blob: usize,
    /// Steps of one authentication exchange (servers stop at 100).
    pub auth_steps: u32,
    /// Rows handed out in one event.
    pub rows_per_event: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            response_data: 1 << 20,
            status_text: 65535,
            status_args: 4096,
            auth_data: 65536,
            row: 64 << 20,
            inline_blob: 80 << 10,
            auth_steps: 100,
            rows_per_event: 8192,
        }
    }
}
