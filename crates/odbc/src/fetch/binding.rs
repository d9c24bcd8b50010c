//! Bound columns: the plan of a row set, made when it is first fetched and kept until something changes.

use super::blobs::Part;
use super::bookmark;
use super::cursor::{Cursor, Fetched};
use crate::abi::{self, Len, Return, SmallInt, USmallInt, c_type, sql_type};
use crate::convert::{self, Got, Piece, Slots, Wanted, Writer};
use crate::diagnostics::{Diagnostics, Failure, Result, State};
use crate::handle::Descriptor;
use crate::text::NarrowEncoding;
use std::ops::Range;

/// The bound columns of a result.
#[derive(Debug, Default)]
pub(crate) struct Bound {
    /// The version of the descriptor that it was made for.
    version: Option<u64>,
    max_length: usize,
    columns: Vec<BoundColumn>,
    /// Those whose batches have ids of BLOBs.
    blobs: Vec<BoundColumn>,
    /// Where bookmarks go, and their size.
    bookmark: Option<(Slots, usize)>,
}

#[derive(Debug)]
struct BoundColumn {
    /// Counted from 0.
    column: usize,
    c_type: SmallInt,
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
        self.blobs.clear();
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
            wanted.narrow = described.narrow;
            let source = cursor
                .data_type(column)
                .ok_or_else(|| Failure::new(State::GENERAL, "internal error: a column is missing"))?;
            let writer = convert::plan(source, &wanted).map_err(|failure| failure.in_column(number))?;
            let bound = BoundColumn { column, c_type, writer, slots: slots(ard, record, c_type) };
            match cursor.has_blobs(column) {
                true => self.blobs.push(bound),
                false => self.columns.push(bound),
            }
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
        cursor: &mut Cursor,
        rows: &Range<u64>,
        slot: usize,
        offset: isize,
        outcome: &mut Outcome<'_>,
    ) -> Result<()> {
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
        for bound in &self.blobs {
            // SAFETY: the caller's promise.
            unsafe { bound.write_blobs(cursor, rows, slot, offset, self.max_length, outcome) }?;
        }
        Ok(())
    }
}

impl BoundColumn {
    /// Reads and writes the BLOBs of rows.
    ///
    /// # Safety
    /// As for [`Bound::write`].
    unsafe fn write_blobs(
        &self,
        cursor: &mut Cursor,
        rows: &Range<u64>,
        slot: usize,
        offset: isize,
        max_length: usize,
        outcome: &mut Outcome<'_>,
    ) -> Result<()> {
        let slot_of = |row: u64| slot + (row - rows.start) as usize;
        let mut next = rows.start;
        while next < rows.end {
            let chunk = cursor.chunk(self.column, next, (rows.end - next) as usize)?.clone();
            let end = chunk.rows.end.min(rows.end);
            for Part { together, apart } in chunk.parts(next..end) {
                let first = slot_of(together.start);
                let mut report = |row: usize, failure: Failure| {
                    outcome.report(first + row, failure.in_column(self.column + 1));
                };
                let slots = moved(&self.slots, offset, first);
                let places = chunk.place(together.start)..chunk.place(together.end);
                // SAFETY: the caller's promise.
                unsafe { self.writer.write(chunk.values.as_ref(), places, &slots, &mut report) };
                let Some((row, apart)) = apart else { continue };
                let slots = moved(&self.slots, offset, slot_of(row));
                // SAFETY: as above.
                let written =
                    cursor.open_blob(self.column, apart, max_length).and_then(|mut single| unsafe {
                        single.get(&self.writer, self.c_type, &slots, &mut Piece::default())
                    });
                match written {
                    Ok(Got::Warned(failure)) | Err(failure) => {
                        outcome.report(slot_of(row), failure.in_column(self.column + 1));
                    }
                    Ok(Got::Done | Got::NoData) => {}
                }
            }
            next = end;
        }
        Ok(())
    }
}

// SAFETY: the pointers are dereferenced only within a call that holds the object's lock; the application promised
// when it set them that they stay valid until it takes them back.
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

    pub(super) fn report(&mut self, row: usize, failure: Failure) {
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
        narrow: NarrowEncoding::Utf8,
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
