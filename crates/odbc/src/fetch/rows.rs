//! `SQLFetch` and the like: the next row set, into the bound buffers.

use super::binding::{Outcome, report};
use super::bookmark;
use super::direction::Direction;
use super::get_data::{Buffer, Key};
use crate::abi::{self, Len, Return, SmallInt, ULen, USmallInt, c_type};
use crate::convert::{self, Got};
use crate::diagnostics::{Failure, Result, State};
use crate::handle::Statement;

/// Where a fetch tells what it did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report {
    pub(crate) rows_fetched: *mut ULen,
    pub(crate) statuses: *mut USmallInt,
}

impl Statement {
    /// `SQLFetch` and `SQLFetchScroll`
    pub(crate) fn fetch(&mut self, orientation: SmallInt, offset: Len) -> Result<Return> {
        let report = {
            let ird = self.ird.lock();
            Report { rows_fetched: ird.rows_processed_ptr, statuses: ird.array_status_ptr }
        };
        let direction = self.direction(orientation, offset)?;
        self.fetch_rows(direction, None, report)
    }

    /// `SQLExtendedFetch`, which has a row set size of its own.
    pub(crate) fn extended_fetch(
        &mut self,
        orientation: SmallInt,
        offset: Len,
        report: Report,
    ) -> Result<Return> {
        self.open_cursor()?;
        let direction = match u64::try_from(offset) {
            // Here the bookmark itself is what the others have as an offset.
            Ok(row @ 1..) if orientation == abi::FETCH_BOOKMARK && self.has_bookmarks() => {
                Direction::Bookmark { row, offset: 0 }
            }
            _ => self.direction(orientation, offset)?,
        };
        self.fetch_rows(direction, Some(self.attributes.rowset_size), report)
    }

    fn has_bookmarks(&self) -> bool {
        self.attributes.is_scrollable() && self.attributes.bookmarks != 0
    }

    fn direction(&mut self, orientation: SmallInt, offset: Len) -> Result<Direction> {
        self.open_cursor()?;
        let is_scrollable = self.attributes.is_scrollable();
        let out_of_range = |text: &str| Failure::new(State::FETCH_TYPE, text);
        if orientation == abi::FETCH_BOOKMARK && is_scrollable {
            if self.attributes.bookmarks == 0 {
                return Err(out_of_range("the statement has no bookmarks: set SQL_ATTR_USE_BOOKMARKS"));
            }
            let bookmark = self.attributes.fetch_bookmark;
            if bookmark.is_null() {
                return Err(Failure::new(State::BOOKMARK, "SQL_ATTR_FETCH_BOOKMARK_PTR is not set"));
            }
            // SAFETY: the application promises that a bookmark is there.
            let row = unsafe { bookmark::read(bookmark.cast(), self.attributes.bookmarks) };
            if row == 0 {
                return Err(Failure::new(State::BOOKMARK, "no row has this bookmark"));
            }
            return Ok(Direction::Bookmark { row, offset: offset as i64 });
        }
        let direction = Direction::new(orientation, offset)
            .ok_or_else(|| out_of_range(&format!("there is no fetch direction {orientation}")))?;
        match direction {
            Direction::Next => Ok(direction),
            _ if is_scrollable => Ok(direction),
            _ => Err(out_of_range(
                "a forward-only cursor fetches the next rows only: set SQL_ATTR_CURSOR_TYPE",
            )),
        }
    }

    /// Fetches a row set of this size, or else of the array size.
    fn fetch_rows(&mut self, direction: Direction, size: Option<ULen>, report_to: Report) -> Result<Return> {
        self.get_data.restart();
        self.position = 0;
        let Self { cursor: Some(cursor), ard, bound, diagnostics, attributes, .. } = self else {
            return Err(Failure::new(State::CURSOR_STATE, "no cursor is open"));
        };
        // Every row of an application that fetches one at a time pays for this lock.
        let ard = ard.lock();
        let size = size.unwrap_or(ard.array_size).max(1);
        bound.plan(&ard, cursor, attributes.max_length)?;
        let fetched = cursor.fetch(direction, size as u64)?;
        if fetched.rows.is_empty() {
            // SAFETY: the application promises room for its row set size.
            unsafe { report(&fetched, size, None, report_to.rows_fetched, report_to.statuses) };
            return Ok(abi::NO_DATA);
        }
        if fetched.is_moved {
            let text = "the row set would have begun before the first row; it begins with it";
            diagnostics.add(Failure::new(State::BEFORE_FIRST_ROWSET, text));
        }
        let mut outcome = Outcome::new(diagnostics);
        if attributes.retrieve_data {
            // SAFETY: as above.
            unsafe { bound.write(cursor, &fetched.rows, 0, ard.offset(), &mut outcome) }?;
        }
        // SAFETY: as above.
        unsafe { report(&fetched, size, Some(&outcome), report_to.rows_fetched, report_to.statuses) };
        Ok(outcome.code(fetched.rows.end - fetched.rows.start))
    }

    /// `SQLSetPos`
    pub(crate) fn set_position(
        &mut self,
        row: usize,
        operation: USmallInt,
        lock: USmallInt,
    ) -> Result<Return> {
        const POSITION: USmallInt = 0;
        const REFRESH: USmallInt = 1;
        const UPDATE: USmallInt = 2;
        const ADD: USmallInt = 4;
        match lock {
            0 => {}
            1 | 2 => {
                let text = "rows are not locked through a cursor: use SELECT … WITH LOCK";
                return Err(Failure::new(State::NOT_IMPLEMENTED, text));
            }
            _ => return Err(Failure::new(State::ATTRIBUTE, format!("there is no lock type {lock}"))),
        }
        self.open_cursor()?;
        match operation {
            POSITION | REFRESH => {}
            UPDATE..=ADD => return self.change_rows(row, operation),
            _ => {
                return Err(Failure::new(
                    State::ATTRIBUTE,
                    format!("SQLSetPos has no operation {operation}"),
                ));
            }
        }
        let max_length = self.attributes.max_length;
        let ard = self.ard.clone();
        let statuses = self.ird.lock().array_status_ptr;
        self.open_cursor()?;
        let Self { cursor: Some(cursor), bound, diagnostics, .. } = self else {
            return Err(Failure::new(State::CURSOR_STATE, "no cursor is open"));
        };
        let Some(rows) = cursor.rowset() else {
            return Err(Failure::new(State::CURSOR_STATE, "the cursor is on no row: fetch one"));
        };
        let size = rows.end - rows.start;
        if row as u64 > size {
            let text = format!("the row set has {size} rows; there is no row {row}");
            return Err(Failure::new(State::ROW, text));
        }
        match operation {
            POSITION if row == 0 => Err(Failure::new(State::POSITION, "row 0 is not a valid position")),
            POSITION => {
                self.position = row as u64 - 1;
                self.get_data.restart();
                Ok(abi::SUCCESS)
            }
            _ => {
                let ard = ard.lock();
                bound.plan(&ard, cursor, max_length)?;
                let (rows, slot) = match row {
                    0 => (rows, 0),
                    row => (rows.start + row as u64 - 1..rows.start + row as u64, row - 1),
                };
                let mut outcome = Outcome::new(diagnostics);
                // SAFETY: the buffers have room for the row set.
                unsafe { bound.write(cursor, &rows, slot, ard.offset(), &mut outcome) }?;
                let count = rows.end - rows.start;
                if !statuses.is_null() {
                    for at in slot..slot + count as usize {
                        // SAFETY: as above.
                        unsafe { statuses.add(at).write_unaligned(outcome.status(at)) };
                    }
                }
                Ok(outcome.code(count))
            }
        }
    }

    /// `SQLGetData`
    ///
    /// # Safety
    /// The buffer may be written up to its capacity, and as the C type needs.
    pub(crate) unsafe fn get_data(
        &mut self,
        number: usize,
        c_type: SmallInt,
        data: *mut u8,
        capacity: Len,
        indicator: *mut Len,
    ) -> Result<Return> {
        let capacity = usize::try_from(capacity)
            .map_err(|_| Failure::new(State::BUFFER_LENGTH, "a buffer length is negative"))?;
        if data.is_null() && indicator.is_null() {
            return Err(Failure::new(State::NULL_POINTER, "neither a buffer nor an indicator was given"));
        }
        let max_length = self.attributes.max_length;
        let position = self.position;
        self.open_cursor()?;
        let Self { cursor: Some(cursor), get_data, ard, attributes, .. } = self else {
            return Err(Failure::new(State::CURSOR_STATE, "no cursor is open"));
        };
        let Some(rows) = cursor.rowset() else {
            let text = "the cursor is on no row: fetch one";
            let state = if cursor.is_before_start() { State::CURSOR_STATE } else { State::POSITION };
            return Err(Failure::new(state, text));
        };
        let row = rows.start + position;
        if number == 0 {
            if attributes.bookmarks == 0 {
                return Err(Failure::new(State::BAD_INDEX, "the statement has no bookmarks"));
            }
            // SAFETY: the caller's promise.
            return unsafe { get_data.get_bookmark(row, c_type, Buffer { data, capacity, indicator }) };
        }
        let Some(column) = cursor.columns.get(number - 1) else {
            let text = format!("there is no column {number}: the result has {}", cursor.columns.len());
            return Err(Failure::new(State::BAD_INDEX, text));
        };
        let concise = column.sql_type.concise;
        let mut key = Key { c_type, precision: 0, scale: -1, max_length };
        if c_type == c_type::ARD_TYPE || c_type == c_type::NUMERIC {
            let ard = ard.lock();
            let record = ard.record(number);
            if c_type == c_type::ARD_TYPE {
                key.c_type = record.map_or(c_type::DEFAULT, |record| record.concise);
            }
            if let Some(record) = record.filter(|record| record.concise == c_type::NUMERIC) {
                (key.precision, key.scale) = (record.precision, record.scale);
            }
        }
        if key.c_type == c_type::DEFAULT {
            key.c_type = convert::default_c_type(concise);
        }
        let buffer = Buffer { data, capacity, indicator };
        // SAFETY: the caller's promise.
        let got = unsafe { get_data.get(cursor, row, number - 1, key, buffer) };
        match got.map_err(|failure| failure.in_row(position as usize + 1).in_column(number))? {
            Got::Done => Ok(abi::SUCCESS),
            Got::NoData => Ok(abi::NO_DATA),
            Got::Warned(failure) => {
                self.diagnostics.add(failure.in_row(position as usize + 1).in_column(number));
                Ok(abi::SUCCESS)
            }
        }
    }
}
