//! Servers that never finish an answer.

use std::time::Duration;

/// How a server seems to behave, seen through a [`Proxy`](crate::Proxy) that has [turned](crate::Proxy::turn_to) to it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Mischief {
    /// Sends nothing more.
    Silence,
    /// Sends its answers byte by byte, with this pause after each byte.
    Trickle(Duration),
    /// Sends its answers in pieces of so many bytes, with this pause after each piece.
    Slow(usize, Duration),
    /// Sends these bytes again and again, with this pause after each time, whatever the client asks.
    Repeat(Vec<u8>, Duration),
}

impl Mischief {
    /// Repeats `op_dummy`, the keep-alive packet of a server.
    pub fn dummies(pause: Duration) -> Self {
        Self::Repeat(words(&[71]), pause)
    }

    /// Repeats `op_response` without data and without an error. In answer to `op_get_segment` it is an empty segment.
    pub fn empty_answers(pause: Duration) -> Self {
        // Object, BLOB id, length of the data, status vector (success, end).
        Self::Repeat(words(&[9, 0, 0, 0, 0, 1, 0, 0]), pause)
    }
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}
