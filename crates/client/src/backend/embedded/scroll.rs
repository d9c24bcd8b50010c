//! Moves of a scrollable cursor as calls.

use crate::error::Result;
use firearrow_fbapi::{MessageBuffer, ResultSet};
use firearrow_proto::api::scroll::Move;

/// A move under way.
pub(super) struct Scroll {
    to: Move,
    /// Rows that are still to be fetched.
    wanted: usize,
}

impl Default for Scroll {
    fn default() -> Self {
        Self { to: Move::Next, wanted: 0 }
    }
}

impl Scroll {
    /// Sets out for a row and those after it.
    pub(super) fn new(to: Move, rows: usize) -> Self {
        Self { to, wanted: rows }
    }

    /// Fetches as many of the wanted rows as the buffer holds; says whether there are no more.
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
