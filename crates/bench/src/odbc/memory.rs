//! Memory that C functions fill.

#![allow(unsafe_code)]

use std::fmt;
use std::ptr::NonNull;

/// Values at a fixed address, to which C functions write between calls of its methods. One thread alone uses it.
pub(super) struct Memory<T>(NonNull<[T]>);

impl<T: Copy + Default> Memory<T> {
    pub(super) fn new(count: usize) -> Self {
        let values = vec![T::default(); count].into_boxed_slice();
        // `into_raw` rather than a field of type `Box`, which would promise that nobody else writes.
        Self(NonNull::from(Box::leak(values)))
    }

    /// Returns the address of the first value.
    pub(super) fn pointer(&self) -> *mut T {
        self.0.as_ptr().cast()
    }

    pub(super) fn get(&self, at: usize) -> T {
        assert!(at < self.0.len(), "a value of the memory");
        // SAFETY: the value is there, and no C function runs now.
        unsafe { self.pointer().add(at).read() }
    }

    pub(super) fn set(&mut self, at: usize, value: T) {
        assert!(at < self.0.len(), "a value of the memory");
        // SAFETY: as above.
        unsafe { self.pointer().add(at).write(value) }
    }
}

impl Memory<u64> {
    /// Returns a part of the memory as bytes.
    pub(super) fn bytes(&self, at: usize, count: usize) -> &[u8] {
        let length = size_of::<u64>() * self.0.len();
        assert!(at <= length && count <= length - at, "bytes of the memory");
        // SAFETY: the bytes are there; C functions write only in calls that borrow the owner exclusively.
        unsafe { std::slice::from_raw_parts(self.pointer().cast::<u8>().add(at), count) }
    }
}

impl<T> Drop for Memory<T> {
    fn drop(&mut self) {
        // SAFETY: made from a box, and given back once.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl<T> fmt::Debug for Memory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({})", self.0.len())
    }
}
