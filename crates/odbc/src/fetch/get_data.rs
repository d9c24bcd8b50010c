//! `SQLGetData`: one value of the current row, in pieces if it is long.

use super::binding::wanted;
use super::bookmark;
use super::cursor::Cursor;
use crate::abi::{self, Len, Return, SmallInt, sql_type};
use crate::convert::{self, Got, Piece, Slots, Writer};
use crate::diagnostics::{Failure, Result, State};

/// The value that is being handed out, and the writers planned so far.
#[derive(Debug, Default)]
pub(crate) struct GetData {
    /// For each column, what was planned last.
    plans: Vec<Option<(Key, Writer)>>,
    /// The row and column, and what of it was handed out.
    current: Option<(u64, usize, Piece)>,
}

/// What a plan depends on besides the column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) c_type: SmallInt,
    pub(crate) precision: SmallInt,
    pub(crate) scale: SmallInt,
    pub(crate) max_length: usize,
}

/// In place of a column.
const BOOKMARK: usize = usize::MAX;

/// Where a value goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer {
    pub(crate) data: *mut u8,
    pub(crate) capacity: usize,
    pub(crate) indicator: *mut Len,
}

impl Buffer {
    fn slots(self) -> Slots {
        let Self { data, capacity, indicator } = self;
        Slots { data, data_step: 0, capacity, length: indicator, indicator, length_step: 0 }
    }
}

impl GetData {
    /// Another result was opened.
    pub(crate) fn forget(&mut self) {
        self.plans.clear();
        self.current = None;
    }

    /// The cursor has moved.
    pub(crate) fn restart(&mut self) {
        self.current = None;
    }

    /// Hands out the bookmark of a row.
    ///
    /// # Safety
    /// As for [`get`](Self::get).
    pub(crate) unsafe fn get_bookmark(
        &mut self,
        row: u64,
        c_type: SmallInt,
        buffer: Buffer,
    ) -> Result<Return> {
        if matches!(&self.current, Some((at, BOOKMARK, _)) if *at == row) {
            return Ok(abi::NO_DATA);
        }
        let size = bookmark::size(c_type, buffer.capacity)?;
        // SAFETY: the caller's promise.
        unsafe { bookmark::write(&buffer.slots(), row, size) };
        self.current = Some((row, BOOKMARK, Piece::default()));
        Ok(abi::SUCCESS)
    }

    /// Hands out the next piece of a value. `column` counts from 0.
    ///
    /// # Safety
    /// The buffer may be written up to its capacity, and as the C type needs.
    pub(crate) unsafe fn get(
        &mut self,
        cursor: &mut Cursor,
        row: u64,
        column: usize,
        key: Key,
        buffer: Buffer,
    ) -> Result<Got> {
        let lost = || Failure::new(State::GENERAL, "a column got lost");
        if self.plans.len() < cursor.columns.len() {
            self.plans.resize(cursor.columns.len(), None);
        }
        let plan = self.plans.get_mut(column).ok_or_else(lost)?;
        let writer = match plan {
            Some((known, writer)) if *known == key => *writer,
            _ => {
                let source = cursor.data_type(column).ok_or_else(lost)?;
                let mut wanted = wanted(key.c_type, key.precision, key.scale, key.max_length);
                wanted.is_guid = cursor.columns[column].sql_type.concise == sql_type::GUID;
                let writer = convert::plan(source, &wanted)?;
                *plan = Some((key, writer));
                writer
            }
        };
        // Another column, or the same in another type, begins from the start.
        if !matches!(&self.current, Some((at, of, _)) if (*at, *of) == (row, column)) {
            self.current = Some((row, column, Piece::filling()));
        }
        let Some((_, _, piece)) = &mut self.current else { return Err(lost()) };
        let (batch, at) = cursor.find(row).ok_or_else(lost)?;
        // SAFETY: the caller's promise.
        unsafe { writer.get(batch.column(column).as_ref(), at, &buffer.slots(), piece) }
    }
}
