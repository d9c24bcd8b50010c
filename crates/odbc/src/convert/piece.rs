//! The progress of `SQLGetData` within a cell.

/// How much of a cell has been handed out. A new one belongs to each cell, and to a cell that is read again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Bytes of the value, or of its text, that were handed out.
    pub(super) position: usize,
    /// UTF-16 code units of the rest. Counting them for every piece of long text would take quadratic time.
    pub(super) units: Option<usize>,
    /// Whether everything was handed out.
    pub(super) is_done: bool,
}

impl Piece {
    /// Bytes were handed out of a rest of so many bytes.
    #[inline]
    pub(super) fn advance(&mut self, bytes: usize, rest: usize) {
        self.position += bytes;
        self.is_done = bytes == rest;
    }
}
