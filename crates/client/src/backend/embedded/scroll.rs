//! Moves of a scrollable cursor with engine calls.

use crate::error::Result;
use firearrow_fbapi::{MessageBuffer, ResultSet};
use firearrow_proto::api::scroll::Move;

/// A move in progress.
pub(super) struct Scroll {
    to: Move,
    /// Number of rows left to fetch.
    wanted: usize,
}

impl Default for Scroll {
    fn default() -> Self {
        Self { to: Move::Next, wanted: 0 }
    }
}

impl Scroll {
    /// Starts a move to a row, to fetch it and the rows after it.
    pub(super) fn new(to: Move, rows: usize) -> Self {
        Self { to, wanted: rows }
    }

    /// Fetches the wanted rows that fit the buffer; returns whether no more will come.
    pub(super) fn fetch(
        &mut self,
        rows: &mut ResultSet,
        buffer: &mut MessageBuffer,
        stride: usize,
    ) -> Result<(usize, bool)> {
        let wanted = if self.to.is_step() { self.wanted } else { self.wanted.min(1) };
        let (fetched, is_outside) = rows.scroll_block(self.to, buffer, stride, wanted)?;
        self.to = self.to.after();
        self.wanted -= fetched;
        Ok((fetched, is_outside || self.wanted == 0))
    }
}
