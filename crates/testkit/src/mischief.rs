//! Servers that never come to an end.

use std::time::Duration;

/// What a server seems to do from some moment on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Mischief {
    /// It says nothing more.
    Silence,
    /// It says what it has to say in single bytes, with this pause after each.
    Trickle(Duration),
    /// It says this again and again, with this pause after each, whatever it is asked.
    Repeat(Vec<u8>, Duration),
}

impl Mischief {
    /// Repeats `op_dummy`, which says that the server is alive.
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
