//! Code units of the two kinds of text buffers.

/// A code unit: `u8` of `SQL_C_CHAR`, `u16` of `SQL_C_WCHAR`.
pub(super) trait Unit {
    /// Bytes of a unit.
    const SIZE: usize;

    /// Writes ASCII text without a terminator.
    ///
    /// # Safety
    /// So many units may be written; they need no alignment.
    unsafe fn put(ascii: &[u8], to: *mut u8);

    /// Writes a terminator after so many units.
    ///
    /// # Safety
    /// As for [`Self::put`].
    #[inline]
    unsafe fn terminate(to: *mut u8, units: usize) {
        // SAFETY: the caller's promise.
        unsafe { to.add(units * Self::SIZE).write_bytes(0, Self::SIZE) };
    }
}

impl Unit for u8 {
    const SIZE: usize = 1;

    #[inline]
    unsafe fn put(ascii: &[u8], to: *mut u8) {
        // SAFETY: the caller's promise; an Arrow array or the stack is not the caller's buffer.
        unsafe { to.copy_from_nonoverlapping(ascii.as_ptr(), ascii.len()) };
    }
}

impl Unit for u16 {
    const SIZE: usize = 2;

    #[inline]
    unsafe fn put(ascii: &[u8], to: *mut u8) {
        let to = to.cast::<u16>();
        for (at, &byte) in ascii.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { to.add(at).write_unaligned(byte.into()) };
        }
    }
}
