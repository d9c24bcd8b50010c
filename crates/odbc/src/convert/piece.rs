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
    /// Whether pieces of text fill their buffers, even if that splits a character: pyodbc and others put pieces together
    /// by the size of the buffer.
    pub(super) fills: bool,
    /// Whether the first half of the surrogate pair at `position` was handed out.
    pub(super) is_within_pair: bool,
}

impl Piece {
    /// For a value that is handed out in pieces.
    pub(crate) fn filling() -> Self {
        Self { fills: true, ..Self::default() }
    }

    /// Bytes were handed out of a rest of so many bytes.
    #[inline]
    pub(super) fn advance(&mut self, bytes: usize, rest: usize) {
        self.position += bytes;
        self.is_done = bytes == rest;
    }
}
