//! Rows by the bookmarks in the bound column 0.

use super::binding::{Outcome, moved, slots};
use super::bookmark;
use crate::abi::{self, Return};
use crate::diagnostics::{Failure, Result, State};
use crate::handle::Statement;

impl Statement {
    /// The rows, counted from 0, whose bookmarks are in the first slots of column 0.
    pub(crate) fn bookmarks(&mut self, size: usize) -> Result<Vec<Result<u64>>> {
        let (slots, bytes, offset) = {
            let ard = self.ard.lock();
            let record = &ard.bookmark;
            if record.data.is_null() {
                return Err(Failure::new(State::BOOKMARK, "column 0 is not bound: it has the bookmarks"));
            }
            let slots = slots(&ard, record, record.concise);
            (slots, bookmark::size(record.concise, slots.capacity)?, ard.offset())
        };
        let cursor = self.open_cursor()?;
        let mut rows = Vec::with_capacity(size);
        for slot in 0..size {
            let place = moved(&slots, offset, slot);
            // SAFETY: the application promises that the bound buffer has bookmarks for the row set.
            let number = unsafe { bookmark::read_sized(place.data, bytes) };
            let row = match number.checked_sub(1) {
                Some(row) => cursor.has_row(row)?.then_some(row),
                None => None,
            };
            rows.push(
                row.ok_or_else(|| Failure::new(State::BOOKMARK, format!("no row has the bookmark {number}"))),
            );
        }
        Ok(rows)
    }

    /// Fetches the rows of bookmarks into the slots that have them. The row set stays where it is.
    pub(crate) fn fetch_by_bookmarks(&mut self, size: usize) -> Result<Return> {
        let (statuses, rows_fetched) = {
            let ird = self.ird.lock();
            (ird.array_status_ptr, ird.rows_processed_ptr)
        };
        let rows = self.bookmarks(size)?;
        let Self { cursor: Some(cursor), ard, bound, diagnostics, attributes, .. } = self else {
            return Err(Failure::new(State::CURSOR_STATE, "no cursor is open"));
        };
        let ard = ard.lock();
        bound.plan(&ard, cursor, attributes.max_length)?;
        let mut outcome = Outcome::new(diagnostics);
        for (slot, row) in rows.into_iter().enumerate() {
            match row {
                // SAFETY: the application promises that the bound buffers have room for the row set.
                Ok(row) => unsafe { bound.write(cursor, &(row..row + 1), slot, ard.offset(), &mut outcome) }?,
                Err(failure) => outcome.report(slot, failure),
            }
        }
        // SAFETY: the application promises room for the row set.
        unsafe {
            if !rows_fetched.is_null() {
                let fetched = (0..size).filter(|slot| outcome.status(*slot) != abi::ROW_ERROR);
                rows_fetched.write_unaligned(fetched.count());
            }
            if !statuses.is_null() {
                (0..size).for_each(|slot| statuses.add(slot).write_unaligned(outcome.status(slot)));
            }
        }
        Ok(outcome.code(size as u64))
    }
}
