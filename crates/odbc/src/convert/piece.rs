//! The progress of `SQLGetData` within a cell.

/// How much of a cell has been handed out. A new one belongs to each cell, and to a cell that is read again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Bytes of the value, or of its text, that were handed out.
    pub(super) position: usize,
    /// UTF-16 code units of the rest. Counting them for every piece of long text would take quadratic time.
    pub(super) units: Option<usize>,
    /// Bytes of the rest in a code page, for the same reason.
    pub(super) page_bytes: Option<usize>,
    /// Whether everything was handed out.
    pub(super) is_done: bool,
    /// Whether pieces of text fill their buffers, even if that splits a character: pyodbc and others put pieces together
    /// by the size of the buffer.
    pub(super) fills: bool,
    /// Whether the first half of the surrogate pair at `position` was handed out.
    pub(super) is_within_pair: bool,
    /// Whether the first byte of the character at `position` was handed out in a code page.
    pub(super) is_within_bytes: bool,
}

impl Piece {
    /// For a value that is handed out in pieces.
    pub(crate) fn filling() -> Self {
        Self { fills: true, ..Self::default() }
    }

    /// Narrow text in UTF-8, or bytes, follow: the progress within other encodings does not matter to them, nor they
    /// to it.
    #[inline]
    pub(super) fn forget_units(&mut self) {
        (self.units, self.is_within_pair) = (None, false);
        (self.page_bytes, self.is_within_bytes) = (None, false);
    }

    /// Bytes were handed out of a rest of so many bytes.
    #[inline]
    pub(super) fn advance(&mut self, bytes: usize, rest: usize) {
        self.position += bytes;
        self.is_done = bytes == rest;
    }
}
