//! How a value is read from a column and written into a buffer.

use super::fault::Fault;
use super::piece::Piece;
use super::plan::Settings;
use arrow::array::{
    Array, ArrowPrimitiveType, BinaryArray, BooleanArray, FixedSizeBinaryArray, PrimitiveArray, StringArray,
};
use std::marker::PhantomData;

/// An Arrow array with values of one type.
pub(super) trait Column: Array + 'static {
    type Value<'a>: Copy;

    /// # Safety
    /// The array has this row.
    unsafe fn value_at(&self, row: usize) -> Self::Value<'_>;
}

impl<T: ArrowPrimitiveType> Column for PrimitiveArray<T> {
    type Value<'a> = T::Native;

    #[inline]
    unsafe fn value_at(&self, row: usize) -> T::Native {
        // SAFETY: the caller's promise.
        unsafe { self.value_unchecked(row) }
    }
}

macro_rules! columns {
    ($($array:ty: $value:ty;)*) => {$(
        impl Column for $array {
            type Value<'a> = $value;

            #[inline]
            unsafe fn value_at(&self, row: usize) -> Self::Value<'_> {
                // SAFETY: the caller's promise.
                unsafe { self.value_unchecked(row) }
            }
        }
    )*};
}

columns! {
    BooleanArray: bool;
    StringArray: &'a str;
    BinaryArray: &'a [u8];
    FixedSizeBinaryArray: &'a [u8];
}

/// What was written of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    /// Bytes that were available, without a terminator.
    pub(super) length: usize,
    pub(super) warning: Option<Fault>,
}

/// One way of writing the values of a column.
pub(super) trait Cell: 'static {
    type Column: Column;

    /// Bytes of the smallest buffer that receives some of a value; 0 where the length of the buffer does not matter.
    const LEAST: usize;
    /// Bytes of the terminator.
    const TERMINATOR: usize;

    /// Writes what fits, from the piece on. Where `data` is NULL, it only returns the length.
    ///
    /// # Safety
    /// `data` is NULL or may be written: up to the capacity, or to the size of a fixed type.
    unsafe fn put(
        value: <Self::Column as Column>::Value<'_>,
        settings: &Settings,
        data: *mut u8,
        capacity: usize,
        piece: &mut Piece,
    ) -> Result<Written, Fault>;
}

/// A value of a C type, and a warning if it is not all of the column's value.
pub(super) type Converted<T> = Result<(T, Option<Fault>), Fault>;

/// A C type of fixed size that receives values of a column. None of these has padding.
pub(super) trait Convert<C: Column>: Copy + 'static {
    fn convert(value: C::Value<'_>, settings: &Settings) -> Converted<Self>;
}

/// Values of a C type of fixed size.
pub(super) struct Fixed<C, T>(PhantomData<(C, T)>);

impl<C: Column, T: Convert<C>> Cell for Fixed<C, T> {
    type Column = C;
    const LEAST: usize = 0;
    const TERMINATOR: usize = 0;

    #[inline]
    unsafe fn put(
        value: C::Value<'_>,
        settings: &Settings,
        data: *mut u8,
        _capacity: usize,
        piece: &mut Piece,
    ) -> Result<Written, Fault> {
        let (value, warning) = T::convert(value, settings)?;
        if !data.is_null() {
            // SAFETY: the caller's promise.
            unsafe { data.cast::<T>().write_unaligned(value) };
        }
        piece.is_done = true;
        Ok(Written { length: size_of::<T>(), warning })
    }
}

/// Values of a C type of fixed size in a binary buffer, which takes them whole or not at all.
pub(super) struct Raw<C, T>(PhantomData<(C, T)>);

impl<C: Column, T: Convert<C>> Cell for Raw<C, T> {
    type Column = C;
    const LEAST: usize = 1;
    const TERMINATOR: usize = 0;

    #[inline]
    unsafe fn put(
        value: C::Value<'_>,
        settings: &Settings,
        data: *mut u8,
        capacity: usize,
        piece: &mut Piece,
    ) -> Result<Written, Fault> {
        if data.is_null() {
            return Ok(Written { length: size_of::<T>(), warning: None });
        }
        if capacity < size_of::<T>() {
            return Err(Fault::OutOfRange);
        }
        // SAFETY: it fits.
        unsafe { Fixed::<C, T>::put(value, settings, data, capacity, piece) }
    }
}
