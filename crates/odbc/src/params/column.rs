//! Arrow columns of text and bytes as they grow.

use crate::diagnostics::{Failure, Result, State};
use arrow::array::{ArrayRef, GenericByteArray};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{
    ArrowNativeType, BinaryType, ByteArrayType, LargeBinaryType, LargeUtf8Type, Utf8Type,
};
use std::iter;
use std::sync::Arc;

/// Values of different lengths, one for each row. Those of rows that are NULL do not matter.
pub(super) struct Bytes {
    values: Vec<u8>,
    /// Where each value ends.
    ends: Vec<usize>,
    nulls: Option<NullBuffer>,
}

impl Bytes {
    pub(super) fn new(nulls: Option<NullBuffer>) -> Self {
        Self { values: Vec::new(), ends: Vec::new(), nulls }
    }

    /// Adds the value of the next row.
    pub(super) fn push(&mut self, value: &[u8]) -> Result<()> {
        let has_room = self.values.try_reserve(value.len());
        has_room.map_err(|_| Failure::new(State::MEMORY, "there is no memory for the parameters"))?;
        self.values.extend_from_slice(value);
        self.ends.push(self.values.len());
        Ok(())
    }

    /// Makes a column of text, which must be UTF-8.
    pub(super) fn text(self) -> Result<ArrayRef> {
        if self.is_large() { self.array::<LargeUtf8Type>() } else { self.array::<Utf8Type>() }
    }

    pub(super) fn binary(self) -> Result<ArrayRef> {
        if self.is_large() { self.array::<LargeBinaryType>() } else { self.array::<BinaryType>() }
    }

    fn is_large(&self) -> bool {
        i32::try_from(self.values.len()).is_err()
    }

    fn array<T: ByteArrayType>(self) -> Result<ArrayRef> {
        let offsets = iter::once(0).chain(self.ends).map(T::Offset::usize_as);
        let offsets = OffsetBuffer::new(ScalarBuffer::from_iter(offsets));
        let array = GenericByteArray::<T>::try_new(offsets, self.values.into(), self.nulls);
        Ok(Arc::new(array.map_err(internal)?))
    }
}

/// A mistake of the driver.
pub(super) fn internal(error: impl ToString) -> Failure {
    Failure::new(State::GENERAL, error.to_string())
}

/// The failure of values that cannot become what the parameter takes.
pub(super) fn no_conversion(of: &str) -> Failure {
    Failure::new(State::NO_CONVERSION, format!("{of} cannot be converted to the type of the parameter"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Array, AsArray};

    #[test]
    fn values_are_joined_and_split_again() {
        let mut column = Bytes::new(Some(vec![true, false, true].into()));
        for value in ["ä", "", "bc"] {
            column.push(value.as_bytes()).expect("there is room");
        }
        let array = column.text().expect("it is UTF-8");
        assert_eq!(array.as_string::<i32>().iter().collect::<Vec<_>>(), [Some("ä"), None, Some("bc")]);
        let mut column = Bytes::new(None);
        column.push(&[0xFF]).expect("there is room");
        let array = column.binary().expect("any bytes are");
        assert_eq!((array.as_binary::<i32>().value(0), array.null_count()), (&[0xFF][..], 0));
    }

    #[test]
    fn too_many_bytes_for_small_offsets_get_large_ones() {
        // Zeros that nobody touches take no memory.
        let column = |length| Bytes { values: vec![0; length], ends: vec![length], nulls: None };
        assert!(!column(i32::MAX as usize).is_large());
        assert!(column(i32::MAX as usize + 1).is_large());
    }
}
