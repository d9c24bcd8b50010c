//! Moves of a scrollable cursor as calls.

use super::Embedded;
use crate::backend::StatementId;
use crate::error::{Error, Kind, Result};
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

impl Embedded {
    /// Sets out for a row and those behind it: the following fetches get them.
    pub(super) fn set_out(&mut self, id: StatementId, to: Move, rows: usize) -> Result<()> {
        let cursor = self.statement(id)?.cursor.as_mut();
        let cursor = cursor.ok_or_else(|| Error::new(Kind::Misuse, "the cursor is closed"))?;
        if cursor.scroll.is_none() {
            return Err(Error::new(Kind::Misuse, "the cursor was not opened to be scrolled"));
        }
        cursor.scroll = Some(Scroll { to, wanted: rows });
        (cursor.fetched, cursor.given, cursor.at_end) = (0, 0, rows == 0);
        Ok(())
    }
}
