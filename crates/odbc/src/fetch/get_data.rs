//! `SQLGetData`: one value of the current row, in pieces if it is long.

use super::binding::wanted;
use super::blobs::Single;
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
    current: Option<Current>,
}

/// A value, and what of it was handed out.
#[derive(Debug)]
struct Current {
    row: u64,
    column: usize,
    piece: Piece,
    /// The limit of its length: one that is set meanwhile is for other values.
    max_length: usize,
    /// A BLOB that is not among the others of its column.
    single: Option<Single>,
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

    /// Whether this value is being handed out.
    fn is_at(&self, row: u64, column: usize) -> bool {
        self.current.as_ref().is_some_and(|current| (current.row, current.column) == (row, column))
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
        if self.is_at(row, BOOKMARK) {
            return Ok(abi::NO_DATA);
        }
        let size = bookmark::size(c_type, buffer.capacity)?;
        // SAFETY: the caller's promise.
        unsafe { bookmark::write(&buffer.slots(), row, size) };
        self.current =
            Some(Current { row, column: BOOKMARK, piece: Piece::default(), max_length: 0, single: None });
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
        mut key: Key,
        buffer: Buffer,
    ) -> Result<Got> {
        if let Some(current) = self.current.as_ref().filter(|_| self.is_at(row, column)) {
            key.max_length = current.max_length;
        }
        let lost = || Failure::new(State::GENERAL, "internal error: a column is missing");
        if self.plans.len() < cursor.columns.len() {
            self.plans.resize(cursor.columns.len(), None);
        }
        let plan = self.plans.get_mut(column).ok_or_else(lost)?;
        let writer = match plan {
            Some((known, writer)) if *known == key => *writer,
            _ => {
                let source = cursor.data_type(column).ok_or_else(lost)?;
                let mut wanted = wanted(key.c_type, key.precision, key.scale, key.max_length);
                let described = &cursor.columns[column];
                wanted.is_guid = described.sql_type.concise == sql_type::GUID;
                wanted.narrow = described.narrow;
                let writer = convert::plan(source, &wanted)?;
                *plan = Some((key, writer));
                writer
            }
        };
        // Another value begins from the start.
        if !self.is_at(row, column) {
            self.current = None;
            let single = match cursor.has_blobs(column) {
                true => match cursor.chunk(column, row, 1)?.apart(row) {
                    Some(apart) => Some(cursor.open_blob(column, apart, key.max_length)?),
                    None => None,
                },
                false => None,
            };
            let (piece, max_length) = (Piece::filling(), key.max_length);
            self.current = Some(Current { row, column, piece, max_length, single });
        }
        let Some(Current { piece, single, .. }) = &mut self.current else { return Err(lost()) };
        let slots = buffer.slots();
        // SAFETY: the caller's promise.
        unsafe {
            if let Some(single) = single {
                return single.get(&writer, key.c_type, &slots, piece);
            }
            if cursor.has_blobs(column) {
                let chunk = cursor.chunk(column, row, 1)?;
                return writer.get(chunk.values.as_ref(), chunk.place(row), &slots, piece);
            }
            let (batch, at) = cursor.find(row).ok_or_else(lost)?;
            writer.get(batch.column(column).as_ref(), at, &slots, piece)
        }
    }
}
