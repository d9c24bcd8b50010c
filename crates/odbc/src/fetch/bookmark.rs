//! Bookmarks: the numbers of rows, counted from 1.

use crate::abi::{Len, SmallInt, c_type};
use crate::convert::{self, Slots};
use crate::diagnostics::{Failure, Result, State};

/// Bytes of a bookmark of variable length, which always has the same.
const SIZE: usize = 8;

/// `SQL_UB_FIXED`
const FIXED: usize = 1;

/// Returns the bytes of a bookmark in a buffer. `SQL_C_BOOKMARK` is an integer of 4 or 8 bytes, as the application was
/// compiled; `SQL_C_VARBOOKMARK` is binary.
pub(super) fn size(c_type: SmallInt, capacity: usize) -> Result<usize> {
    match (c_type, convert::fixed_size(c_type)) {
        (c_type::ULONG | c_type::LONG | c_type::SLONG | c_type::UBIGINT | c_type::SBIGINT, Some(size)) => {
            Ok(size)
        }
        (c_type::BINARY | c_type::DEFAULT, _) if capacity >= SIZE => Ok(SIZE),
        (c_type::BINARY | c_type::DEFAULT, _) => {
            Err(Failure::new(State::BUFFER_LENGTH, format!("a bookmark has {SIZE} bytes")))
        }
        _ => Err(Failure::new(State::NO_CONVERSION, format!("a bookmark cannot be read as C type {c_type}"))),
    }
}

/// Writes the bookmark of a row in so many bytes.
///
/// # Safety
/// The slot is NULL or may be written.
pub(super) unsafe fn write(slot: &Slots, row: u64, size: usize) {
    let number = row + 1;
    // SAFETY: the caller's promise.
    unsafe {
        if !slot.data.is_null() {
            match size {
                SIZE => slot.data.cast::<u64>().write_unaligned(number),
                _ => slot.data.cast::<u32>().write_unaligned(u32::try_from(number).unwrap_or(u32::MAX)),
            }
        }
        if !slot.length.is_null() {
            slot.length.write_unaligned(size as Len);
        }
    }
}

/// Reads a bookmark of so many bytes.
///
/// # Safety
/// It is there.
pub(super) unsafe fn read_sized(from: *const u8, size: usize) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        match size {
            SIZE => from.cast::<u64>().read_unaligned(),
            _ => from.cast::<u32>().read_unaligned().into(),
        }
    }
}

/// Reads a bookmark that the application gives back. Those of fixed length may have 4 bytes only.
///
/// # Safety
/// It is there.
pub(super) unsafe fn read(from: *const u8, kind: usize) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        match kind {
            FIXED => from.cast::<u32>().read_unaligned().into(),
            _ => from.cast::<u64>().read_unaligned(),
        }
    }
}
