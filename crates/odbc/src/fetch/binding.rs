//! Bound columns: the plan of a row set, made when it is first fetched and kept until something changes.

use super::bookmark;
use super::cursor::{Cursor, Fetched};
use crate::abi::{self, Len, Return, USmallInt, c_type, sql_type};
use crate::convert::{self, Slots, Wanted, Writer};
use crate::diagnostics::{Diagnostics, Failure, Result, State};
use crate::handle::Descriptor;
use std::ops::Range;

/// The bound columns of a result.
#[derive(Debug, Default)]
pub(crate) struct Bound {
    /// The version of the descriptor that it was made for.
    version: Option<u64>,
    max_length: usize,
    columns: Vec<BoundColumn>,
    /// Where bookmarks go, and their size.
    bookmark: Option<(Slots, usize)>,
}

#[derive(Debug)]
struct BoundColumn {
    /// Counted from 0.
    column: usize,
    writer: Writer,
    slots: Slots,
}

impl Bound {
    /// Makes the plan anew if the bindings have changed.
    pub(crate) fn plan(&mut self, ard: &Descriptor, cursor: &Cursor, max_length: usize) -> Result<()> {
        if self.version == Some(ard.version) && self.max_length == max_length {
            return Ok(());
        }
        self.version = None;
        self.columns.clear();
        for (column, record) in ard.records.iter().enumerate().filter(|(_, record)| record.is_bound()) {
            let number = column + 1;
            let Some(described) = cursor.columns.get(column) else {
                let text =
                    format!("column {number} is bound, but the result has {} columns", cursor.columns.len());
                return Err(Failure::new(State::BAD_INDEX, text).in_column(number));
            };
            let c_type = match record.concise {
                c_type::DEFAULT => convert::default_c_type(described.sql_type.concise),
                concise => concise,
            };
            let mut wanted = wanted(c_type, record.precision, record.scale, max_length);
            wanted.is_guid = described.sql_type.concise == sql_type::GUID;
            let source =
                cursor.data_type(column).ok_or_else(|| Failure::new(State::GENERAL, "a column got lost"))?;
            let writer = convert::plan(source, &wanted).map_err(|failure| failure.in_column(number))?;
            self.columns.push(BoundColumn { column, writer, slots: slots(ard, record, c_type) });
        }
        let record = &ard.bookmark;
        self.bookmark = match record.is_bound() {
            true => {
                let slots = slots(ard, record, record.concise);
                Some((slots, bookmark::size(record.concise, slots.capacity)?))
            }
            false => None,
        };
        (self.version, self.max_length) = (Some(ard.version), max_length);
        Ok(())
    }

    /// The plan no longer fits: another result was opened.
    pub(crate) fn forget(&mut self) {
        self.version = None;
    }

    /// Writes rows into the application's buffers, the first into the slots with number `slot`. Notes in `outcome` what
    /// became of each row.
    ///
    /// # Safety
    /// The bound buffers and the row status array have room for these rows.
    pub(crate) unsafe fn write(
        &self,
        cursor: &Cursor,
        rows: &Range<u64>,
        slot: usize,
        offset: isize,
        outcome: &mut Outcome<'_>,
    ) {
        if let Some((slots, size)) = &self.bookmark {
            for (at, row) in rows.clone().enumerate() {
                // SAFETY: the caller's promise.
                unsafe { bookmark::write(&moved(slots, offset, slot + at), row, *size) };
            }
        }
        let mut done = slot;
        for (batch, part) in cursor.pieces(rows.clone()) {
            let count = part.len();
            for bound in &self.columns {
                let slots = moved(&bound.slots, offset, done);
                let mut report = |row: usize, failure: Failure| {
                    outcome.report(done + row, failure.in_column(bound.column + 1));
                };
                let array = batch.column(bound.column);
                // SAFETY: the caller's promise.
                unsafe { bound.writer.write(array.as_ref(), part.clone(), &slots, &mut report) };
            }
            done += count;
        }
    }
}

// SAFETY: the pointers are the application's, which says with each call that they may be used in it.
unsafe impl Send for Bound {}

/// The slots of a later row, with the offset that the application wants added to all its addresses.
pub(crate) fn moved(slots: &Slots, offset: isize, row: usize) -> Slots {
    let lengths = offset.wrapping_add_unsigned(row.wrapping_mul(slots.length_step));
    let moved = |pointer: *mut Len| match pointer.is_null() {
        true => pointer,
        false => pointer.wrapping_byte_offset(lengths),
    };
    let data = match slots.data.is_null() {
        true => slots.data,
        false => slots.data.wrapping_offset(offset.wrapping_add_unsigned(row.wrapping_mul(slots.data_step))),
    };
    Slots { data, length: moved(slots.length), indicator: moved(slots.indicator), ..*slots }
}

/// What became of the rows of a row set.
pub(crate) struct Outcome<'a> {
    pub(crate) diagnostics: &'a mut Diagnostics,
    /// The status of each row up to the last with a warning or an error.
    statuses: Vec<USmallInt>,
    /// The number of rows with an error.
    failed: usize,
}

impl<'a> Outcome<'a> {
    pub(crate) fn new(diagnostics: &'a mut Diagnostics) -> Self {
        Self { diagnostics, statuses: Vec::new(), failed: 0 }
    }

    fn report(&mut self, row: usize, failure: Failure) {
        if self.statuses.len() <= row {
            self.statuses.resize(row + 1, abi::ROW_SUCCESS);
        }
        let status = &mut self.statuses[row];
        if !failure.state.is_warning() {
            self.failed += usize::from(*status != abi::ROW_ERROR);
            *status = abi::ROW_ERROR;
        } else if *status != abi::ROW_ERROR {
            *status = abi::ROW_SUCCESS_WITH_INFO;
        }
        self.diagnostics.add(failure.in_row(row + 1));
    }

    /// The code of a call for so many rows: it has failed only if all of them have.
    pub(crate) fn code(&self, rows: u64) -> Return {
        match self.failed as u64 == rows {
            true => abi::ERROR,
            false => abi::SUCCESS,
        }
    }

    /// The status of a row.
    pub(crate) fn status(&self, row: usize) -> USmallInt {
        self.statuses.get(row).copied().unwrap_or(abi::ROW_SUCCESS)
    }
}

/// What is wanted of a column, from the fields of a record.
pub(crate) fn wanted(c_type: i16, precision: i16, scale: i16, max_length: usize) -> Wanted {
    let is_numeric = c_type == c_type::NUMERIC;
    Wanted {
        c_type,
        precision: if is_numeric { u8::try_from(precision).unwrap_or(0) } else { 0 },
        // -1 is the scale of the column.
        scale: i8::try_from(scale).ok().filter(|scale| is_numeric && *scale >= 0),
        max_length,
        is_guid: false,
    }
}

/// Where the values of a record go.
pub(crate) fn slots(ard: &Descriptor, record: &crate::handle::Record, c_type: i16) -> Slots {
    let capacity = usize::try_from(record.octet_length).unwrap_or(0);
    let (data_step, length_step) = match ard.bind_type {
        0 => (convert::fixed_size(c_type).unwrap_or(capacity), size_of::<Len>()),
        row => (row, row),
    };
    Slots {
        data: record.data,
        data_step,
        capacity,
        length: record.octet_length_ptr,
        indicator: record.indicator_ptr,
        length_step,
    }
}

/// Tells the application how a fetch ended: the number of rows, and the status of each.
///
/// # Safety
/// Both pointers are NULL, or may be written as the row array size says.
pub(crate) unsafe fn report(
    fetched: &Fetched,
    size: usize,
    outcome: Option<&Outcome<'_>>,
    rows_fetched: *mut usize,
    statuses: *mut USmallInt,
) {
    let rows = (fetched.rows.end - fetched.rows.start) as usize;
    // SAFETY: the caller's promise.
    unsafe {
        if !rows_fetched.is_null() {
            rows_fetched.write_unaligned(rows);
        }
        if statuses.is_null() {
            return;
        }
        for row in 0..size {
            let status = match outcome {
                _ if row >= rows => abi::ROW_NOROW,
                Some(outcome) => outcome.status(row),
                None => abi::ROW_SUCCESS,
            };
            statuses.add(row).write_unaligned(status);
        }
    }
}
