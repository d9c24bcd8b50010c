//! The loop down a column.

use super::cell::{Cell, Column};
use super::fault::Fault;
use super::piece::Piece;
use super::plan::Settings;
use super::slots::Slots;
use crate::diagnostics::{Failure, Result};
use crate::text::NarrowEncoding;
use arrow::array::Array;
use std::ops::Range;

/// Writes values of one column type into buffers of one C type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writer {
    settings: Settings,
    write: WriteRows,
    get: GetCell,
}

type WriteRows = unsafe fn(&Settings, &dyn Array, Range<usize>, &Slots, &mut dyn FnMut(usize, Failure));
type GetCell = unsafe fn(&Settings, &dyn Array, usize, &Slots, &mut Piece) -> Result<Got, Fault>;

/// What became of a call of `SQLGetData`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Got {
    Done,
    /// More of the value is left, or a fraction was dropped.
    Warned(Failure),
    /// Everything was handed out before.
    NoData,
}

impl Writer {
    pub(super) fn new<C: Cell>(settings: Settings) -> Self {
        Self { settings, write: write_rows::<C>, get: get_cell::<C> }
    }

    /// The encoding of `SQL_C_CHAR`.
    pub(crate) fn narrow(&self) -> NarrowEncoding {
        self.settings.narrow
    }

    /// Writes rows of an array into the slots from the first one on. Reports a row's warning or failure by its offset
    /// within `rows`; the slot of a failed row has no meaning.
    ///
    /// # Panics
    /// If the array does not have the planned type, or not all of these rows.
    ///
    /// # Safety
    /// The slots are NULL or may be written for so many rows.
    pub(crate) unsafe fn write(
        &self,
        array: &dyn Array,
        rows: Range<usize>,
        slots: &Slots,
        report: &mut dyn FnMut(usize, Failure),
    ) {
        // SAFETY: the caller's promise.
        unsafe { (self.write)(&self.settings, array, rows, slots, report) };
    }

    /// Writes one cell: a fixed type at once, text and binary from the piece on. The length is that before the call. A
    /// buffer that has room for no more than the terminator asks for the length. After a failure, the cell can be read
    /// as another type.
    ///
    /// # Panics
    /// As [`Self::write`].
    ///
    /// # Safety
    /// The slot is NULL or may be written.
    pub(crate) unsafe fn get(
        &self,
        array: &dyn Array,
        row: usize,
        slot: &Slots,
        piece: &mut Piece,
    ) -> Result<Got> {
        if piece.is_done {
            return Ok(Got::NoData);
        }
        if array.is_null(row) {
            // SAFETY: the caller's promise.
            unsafe { slot.set_null(0) }?;
            piece.is_done = true;
            return Ok(Got::Done);
        }
        // SAFETY: the caller's promise.
        Ok(unsafe { (self.get)(&self.settings, array, row, slot, piece) }?)
    }
}

fn column<C: Column>(array: &dyn Array) -> &C {
    array.as_any().downcast_ref().expect("an array of the planned type")
}

unsafe fn write_rows<C: Cell>(
    settings: &Settings,
    array: &dyn Array,
    rows: Range<usize>,
    slots: &Slots,
    report: &mut dyn FnMut(usize, Failure),
) {
    let column = column::<C::Column>(array);
    assert!(rows.end <= column.len(), "rows of the array");
    let nulls = column.nulls().filter(|nulls| nulls.null_count() > 0);
    for (at, row) in rows.enumerate() {
        // SAFETY: the array has this row, and the slots have as many as there are rows.
        let warning = unsafe {
            if nulls.is_some_and(|nulls| nulls.is_null(row)) {
                slots.set_null(at).err()
            } else {
                let (value, data) = (column.value_at(row), slots.data_at(at));
                match C::put(value, settings, data, slots.capacity, &mut Piece::default()) {
                    Ok(written) => {
                        slots.set_length(at, written.length);
                        written.warning
                    }
                    Err(fault) => Some(fault),
                }
            }
        };
        if let Some(fault) = warning {
            report(at, fault.into());
        }
    }
}

unsafe fn get_cell<C: Cell>(
    settings: &Settings,
    array: &dyn Array,
    row: usize,
    slot: &Slots,
    piece: &mut Piece,
) -> Result<Got, Fault> {
    let column = column::<C::Column>(array);
    assert!(row < column.len(), "a row of the array");
    // SAFETY: the array has this row.
    let value = unsafe { column.value_at(row) };
    let Slots { data, capacity, .. } = *slot;
    let written = if C::LEAST > 0 && (data.is_null() || capacity < C::LEAST) {
        // SAFETY: nothing but the length is wanted, and the terminator fits.
        unsafe {
            let mut written = C::put(value, settings, std::ptr::null_mut(), 0, piece)?;
            let terminates = C::TERMINATOR > 0 && !data.is_null() && capacity >= C::TERMINATOR;
            if terminates {
                data.write_bytes(0, C::TERMINATOR);
            }
            match written.length {
                0 => piece.is_done = terminates,
                _ => written.warning = Some(Fault::Cut),
            }
            written
        }
    } else {
        // SAFETY: the caller's promise.
        unsafe { C::put(value, settings, data, capacity, piece) }?
    };
    // SAFETY: the caller's promise.
    unsafe { slot.set_length(0, written.length) };
    Ok(written.warning.map_or(Got::Done, |fault| Got::Warned(fault.into())))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Call, get, wanted};
    use super::super::{Wanted, plan};
    use super::*;
    use crate::abi::{Len, NULL_DATA, c_type};
    use arrow::array::{Int32Array, StringArray};
    use std::ptr::null_mut;

    fn slots<T>(data: &mut [T], length: *mut Len, indicator: *mut Len) -> Slots {
        Slots {
            data: data.as_mut_ptr().cast(),
            data_step: size_of::<T>(),
            capacity: size_of::<T>(),
            length,
            indicator,
            length_step: size_of::<Len>(),
        }
    }

    fn write(
        array: &dyn Array,
        wanted: Wanted,
        rows: Range<usize>,
        slots: &Slots,
    ) -> Vec<(usize, &'static str)> {
        let writer = plan(array.data_type(), &wanted).expect("a conversion");
        let mut reports = Vec::new();
        // SAFETY: the tests' slots have these rows.
        unsafe {
            writer.write(array, rows, slots, &mut |row, failure| reports.push((row, failure.state.as_str())))
        };
        reports
    }

    #[test]
    fn rows_may_be_a_part_of_the_array() {
        let array = Int32Array::from(vec![Some(1), None, Some(300), Some(4), None]).slice(1, 4);
        let (mut data, mut lengths) = ([9_u8; 3], [7; 3]);
        let pointer = lengths.as_mut_ptr();
        let slots = slots(&mut data, pointer, pointer);
        assert_eq!(write(&array, wanted(c_type::UTINYINT), 1..4, &slots), [(0, "22003")]);
        assert_eq!((data, lengths[1..].to_vec()), ([9, 4, 9], vec![1, NULL_DATA]));
    }

    /// As rows of a structure, whose members are where they are.
    #[test]
    fn slots_may_be_rows_of_a_structure() {
        let array = Int32Array::from(vec![Some(-1), None, Some(3)]);
        let mut rows = [0_u8; 3 * 13];
        let length = rows[5..].as_mut_ptr().cast();
        let data = rows[1..].as_mut_ptr();
        let slots = Slots { data, data_step: 13, capacity: 0, length, indicator: length, length_step: 13 };
        assert_eq!(write(&array, wanted(c_type::SLONG), 0..3, &slots), []);
        let expected: [(i32, Len); 3] = [(-1, 4), (0, NULL_DATA), (3, 4)];
        for (row, (value, length)) in rows.chunks_exact(13).zip(expected) {
            assert_eq!(
                (row[1..5].to_vec(), row[5..].to_vec()),
                (value.to_ne_bytes().into(), length.to_ne_bytes().into())
            );
        }
    }

    #[test]
    fn lengths_and_indicators_may_be_apart_or_missing() {
        let array = Int32Array::from(vec![Some(1), None]);
        let (mut data, mut lengths, mut indicators) = ([0_i32; 2], [7; 2], [7; 2]);
        let apart = slots(&mut data, lengths.as_mut_ptr(), indicators.as_mut_ptr());
        assert_eq!(write(&array, wanted(c_type::SLONG), 0..2, &apart), []);
        assert_eq!((lengths, indicators), ([4, 7], [0, NULL_DATA]));
        let only_length = slots(&mut data, lengths.as_mut_ptr(), null_mut());
        assert_eq!(write(&array, wanted(c_type::SLONG), 0..2, &only_length), [(1, "22002")]);
        let only_indicator = slots(&mut data, null_mut(), indicators.as_mut_ptr());
        assert_eq!(write(&array, wanted(c_type::SLONG), 0..2, &only_indicator), []);
        let neither = slots(&mut data, null_mut(), null_mut());
        assert_eq!(write(&array, wanted(c_type::SLONG), 0..2, &neither), [(1, "22002")]);
        assert_eq!(data, [1, 0]);
    }

    #[test]
    fn lengths_may_be_all_that_is_wanted() {
        let array = StringArray::from(vec![Some("é€"), None]);
        for (c_type, length) in [(c_type::CHAR, 5), (c_type::WCHAR, 4), (c_type::BINARY, 5)] {
            let mut lengths = [7; 2];
            let pointer = lengths.as_mut_ptr();
            let slots = Slots { data: null_mut(), ..slots(&mut [0_u8; 1], pointer, pointer) };
            assert_eq!(write(&array, wanted(c_type), 0..2, &slots), []);
            assert_eq!(lengths, [length, NULL_DATA]);
        }
    }

    #[test]
    fn fixed_types_are_handed_out_once() {
        let array = Int32Array::from(vec![Some(-7), None, Some(400)]);
        let mut piece = Piece::default();
        assert_eq!(get(&array, 0, wanted(c_type::STINYINT), 1, &mut piece), Call::Bytes(vec![0xF9], 1, None));
        assert_eq!(get(&array, 0, wanted(c_type::STINYINT), 1, &mut piece), Call::NoData);
        let mut piece = Piece::default();
        assert_eq!(
            get(&array, 1, wanted(c_type::BIT), 1, &mut piece),
            Call::Bytes(vec![0xAA], NULL_DATA, None)
        );
        assert_eq!(get(&array, 1, wanted(c_type::BIT), 1, &mut piece), Call::NoData);
        let mut piece = Piece::default();
        assert_eq!(get(&array, 2, wanted(c_type::STINYINT), 1, &mut piece), Call::Failed("22003"));
        assert_eq!(
            get(&array, 2, wanted(c_type::BINARY), 0, &mut piece),
            Call::Bytes(vec![], 4, Some("01004"))
        );
        assert_eq!(get(&array, 2, wanted(c_type::BINARY), 3, &mut piece), Call::Failed("22003"));
        assert_eq!(
            get(&array, 2, wanted(c_type::SSHORT), 2, &mut piece),
            Call::Bytes(vec![0x90, 1], 2, None)
        );
        assert_eq!(get(&array, 2, wanted(c_type::SSHORT), 2, &mut piece), Call::NoData);
    }

    #[test]
    fn null_needs_an_indicator() {
        let array = Int32Array::from(vec![None]);
        let writer = plan(array.data_type(), &wanted(c_type::CHAR)).expect("a conversion");
        let mut length = 7;
        let slot = slots(&mut [0_u8; 4], &mut length, null_mut());
        // SAFETY: the slot is there.
        let failure =
            unsafe { writer.get(&array, 0, &slot, &mut Piece::default()) }.expect_err("no indicator");
        assert_eq!((failure.state.as_str(), length), ("22002", 7));
    }

    #[test]
    #[should_panic(expected = "rows of the array")]
    fn rows_beyond_the_array_are_not_read() {
        let array = Int32Array::from(vec![1]);
        write(&array, wanted(c_type::SLONG), 0..2, &slots(&mut [0_i32; 2], null_mut(), null_mut()));
    }

    #[test]
    #[should_panic(expected = "an array of the planned type")]
    fn arrays_of_other_types_are_not_read() {
        let writer = plan(&arrow::datatypes::DataType::Int64, &wanted(c_type::SLONG)).expect("a conversion");
        let slots = slots(&mut [0_i32; 1], null_mut(), null_mut());
        // SAFETY: the slots have this row.
        unsafe { writer.write(&Int32Array::from(vec![1]), 0..1, &slots, &mut |_, _| ()) };
    }
}
