//! Bounds on everything that a peer could make grow.
//!
//! A request itself bounds what a server may send in answer: data by the length of the buffer, rows by the number of
//! rows. A server that sends more violates the protocol. The limits here bound everything else.

/// Upper bounds on what is accepted from a server. The defaults suit every regular server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of info buffers, BLOB segments and other data of one `op_response`, and of all texts in it.
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
    /// Rows delivered in one event.
    pub rows_per_event: usize,
    /// Bytes of rows and answers that arrived while the client waited for something else, including the overhead of
    /// storing them. Firebird ends an answer to `op_fetch` after about 128 KB and an answer about a BLOB after 64 KB.
    pub held: usize,
    /// Bytes of rows that answer one of the client's own queries, such as those of the catalog.
    pub answer: usize,
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
            held: 128 << 20,
            answer: 256 << 20,
        }
    }
}
