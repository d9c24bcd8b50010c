//! Where the values of a column go.

use super::fault::Fault;
use crate::abi::{Len, NULL_DATA};

/// The buffers of a bound column, row after row. Nothing in them needs to be aligned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    /// The first value; NULL if only lengths are wanted.
    pub(crate) data: *mut u8,
    /// Bytes from one value to the next.
    pub(crate) data_step: usize,
    /// Bytes for each value of text and binary types.
    pub(crate) capacity: usize,
    /// The first octet length, or NULL.
    pub(crate) length: *mut Len,
    /// The first indicator, or NULL. Usually the same as `length`.
    pub(crate) indicator: *mut Len,
    /// Bytes from one length to the next, and from one indicator to the next.
    pub(crate) length_step: usize,
}

impl Slots {
    /// Sets the length of the first value, which may be `SQL_NO_TOTAL`.
    ///
    /// # Safety
    /// As for [`Self::set_length`].
    pub(crate) unsafe fn set(&self, length: Len) {
        // SAFETY: the caller's promise.
        unsafe { self.set_length(0, length.cast_unsigned()) };
    }

    #[inline]
    pub(super) fn data_at(&self, at: usize) -> *mut u8 {
        match self.data.is_null() {
            true => self.data,
            false => self.data.wrapping_add(at.wrapping_mul(self.data_step)),
        }
    }

    /// # Safety
    /// The lengths and indicators are NULL or have this row.
    #[inline]
    pub(super) unsafe fn set_length(&self, at: usize, length: usize) {
        let offset = at.wrapping_mul(self.length_step);
        if !self.length.is_null() {
            // SAFETY: the caller's promise.
            unsafe { self.length.wrapping_byte_add(offset).write_unaligned(length.cast_signed()) };
        }
        if !self.indicator.is_null() && self.indicator != self.length {
            // SAFETY: as above.
            unsafe { self.indicator.wrapping_byte_add(offset).write_unaligned(0) };
        }
    }

    /// # Safety
    /// As for [`Self::set_length`].
    #[inline]
    pub(super) unsafe fn set_null(&self, at: usize) -> Result<(), Fault> {
        if self.indicator.is_null() {
            return Err(Fault::NoIndicator);
        }
        let offset = at.wrapping_mul(self.length_step);
        // SAFETY: the caller's promise.
        unsafe { self.indicator.wrapping_byte_add(offset).write_unaligned(NULL_DATA) };
        Ok(())
    }
}
