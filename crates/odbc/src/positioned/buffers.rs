//! Bound columns as what a change takes its values from.

use super::base_table::BaseTable;
use crate::abi::{self, Len, c_type};
use crate::column::Column;
use crate::convert;
use crate::diagnostics::{Failure, Result, State};
use crate::handle::{Descriptor, Record};
use crate::params::{self, Binding};

/// A bound column that can be written.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    /// Its place in the result, counted from 0.
    pub(super) column: usize,
    pub(super) binding: Binding,
    capacity: usize,
}

/// The bound columns of the table. Read-only ones are left out, as the standard says; of a column that was selected
/// twice, the first counts.
pub(super) fn buffers(ard: &Descriptor, columns: &[Column], table: &BaseTable) -> Vec<Buffer> {
    let mut buffers: Vec<Buffer> = Vec::new();
    for (at, (record, column)) in ard.records.iter().zip(columns).enumerate() {
        let is_other = |buffer: &Buffer| table.column(buffer.column) != table.column(at);
        if !record.data.is_null() && table.is_writable(at) && buffers.iter().all(is_other) {
            buffers.push(Buffer {
                column: at,
                binding: binding(ard, record, column, at + 1),
                capacity: usize::try_from(record.octet_length).unwrap_or(0),
            });
        }
    }
    buffers
}

fn binding(ard: &Descriptor, record: &Record, column: &Column, number: usize) -> Binding {
    let c_type = match record.concise {
        c_type::DEFAULT => convert::default_c_type(column.sql_type.concise),
        concise => concise,
    };
    let capacity = usize::try_from(record.octet_length).unwrap_or(0);
    let (data_step, length_step) = match ard.bind_type {
        0 => (convert::fixed_size(c_type).unwrap_or(capacity), size_of::<Len>()),
        row => (row, row),
    };
    let offset = ard.offset();
    let moved = |pointer: *mut Len| match pointer.is_null() {
        true => pointer,
        false => pointer.wrapping_byte_offset(offset),
    };
    let digits = column.sql_type.digits;
    Binding {
        number,
        c_type,
        sql_type: column.sql_type.concise,
        digits,
        // -1 is the scale of the column, with which its values were fetched.
        scale: if record.scale < 0 { digits } else { record.scale },
        data: record.data.wrapping_offset(offset),
        data_step,
        length: moved(record.octet_length_ptr),
        indicator: moved(record.indicator_ptr),
        length_step,
        narrow: column.narrow,
    }
}

impl Buffer {
    /// Whether a slot has a value for the column, rather than `SQL_COLUMN_IGNORE`.
    ///
    /// # Safety
    /// Its lengths and indicators may be read for the slot.
    pub(super) unsafe fn is_given(&self, slot: usize) -> Result<bool> {
        // SAFETY: the caller's promise.
        let indication = unsafe { self.binding.indication(slot) }?;
        // The terminator is no part of a value, so that one that a fetch has cut is told from one that fits.
        let terminator = match self.binding.c_type {
            c_type::CHAR => 1,
            c_type::WCHAR => 2,
            _ => 0,
        };
        let room = self.capacity.saturating_sub(terminator);
        let too_long = |length: Len| {
            self.binding.fixed_size().is_none() && usize::try_from(length).is_ok_and(|length| length > room)
        };
        let failure = |state, text: String| Failure::new(state, text).in_column(self.binding.number);
        match indication {
            Some(abi::COLUMN_IGNORE) => Ok(false),
            // A fetch that has cut a value leaves the whole length here.
            Some(length) if too_long(length) => {
                let text = format!("the value has {length} bytes, its buffer has room for {room}");
                Err(failure(State::BUFFER_LENGTH, text))
            }
            indication => match params::classify(indication)
                .map_err(|failure| failure.in_column(self.binding.number))?
            {
                params::Given::AtExecution(_) => Err(failure(
                    State::NOT_IMPLEMENTED,
                    "values for rows of a cursor are not supplied at execution: bind the whole value"
                        .to_owned(),
                )),
                _ => Ok(true),
            },
        }
    }
}
