//! The loop common to all fixed-width columns, and its buffers: plain values and a null bitmap.

use super::super::builder::BLOCK;
use super::super::error::{ColumnError, Fault};
use super::Column;
use super::spare::{Spare, take};
use crate::value::Raw;
use arrow::array::{ArrayRef, ArrowPrimitiveType, BooleanBufferBuilder, PrimitiveArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::DataType;
use firearrow_proto::api::row::{RowSource, ValueFormat};
use std::ops::Range;
use std::sync::Arc;

/// Converts the bytes of a field into one value.
pub(crate) trait Read {
    /// The type in the Arrow buffer.
    type Value: Copy + Default;

    /// Returns the value, or `None` if it is invalid.
    fn read<F: ValueFormat>(&self, bytes: &[u8]) -> Option<Self::Value>;

    /// Explains why `read` returned `None` for these bytes.
    fn fault<F: ValueFormat>(&self, bytes: &[u8]) -> Fault;
}

/// Values and their null bitmap.
#[derive(Debug)]
pub(crate) struct Values<T> {
    values: Vec<T>,
    nulls: Nulls,
}

impl<T: Copy + Default> Values<T> {
    pub(crate) fn new() -> Self {
        Self { values: Vec::new(), nulls: Nulls::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Appends one value per row. Results spend most of their time here: each value is only read; errors are analysed
    /// afterwards.
    #[inline]
    pub(crate) fn extend<S: RowSource, R: Read<Value = T>>(
        &mut self,
        read: &R,
        rows: &S,
        range: Range<usize>,
        column: usize,
    ) -> Result<(), ColumnError> {
        let mut bad = None;
        let mut validity = self.nulls.block(range.len());
        let fields = rows.column(column, range.clone()).enumerate();
        // The length is known, so this checks no capacity per value and fills in nothing beforehand.
        self.values.extend(fields.map(|(index, field)| match field {
            Some(bytes) => read.read::<S::Format>(bytes).unwrap_or_else(|| {
                bad = bad.or(Some(index));
                T::default()
            }),
            None => {
                validity.null(index);
                T::default()
            }
        }));
        validity.end();
        let Some(row) = bad.map(|index| range.start + index) else { return Ok(()) };
        let bytes = rows.field(row, column).unwrap_or_default();
        Err(ColumnError { row, fault: read.fault::<S::Format>(bytes) })
    }

    pub(crate) fn clear(&mut self) {
        self.values.clear();
        self.nulls.clear();
    }

    /// The value of a row, unless it is NULL.
    pub(crate) fn get(&self, row: usize) -> Option<T> {
        self.values.get(row).copied().filter(|_| self.nulls.is_valid(row))
    }

    /// Removes and returns the first `rows` values; the later ones move up.
    pub(crate) fn take(&mut self, rows: usize) -> (Vec<T>, Option<NullBuffer>) {
        (take(&mut self.values, rows), self.nulls.take(rows))
    }
}

/// A column whose Arrow array is a buffer of plain values.
#[derive(Debug)]
pub(crate) struct PrimitiveColumn<A: ArrowPrimitiveType, R> {
    read: R,
    data_type: DataType,
    values: Values<A::Native>,
    spare: Spare<A::Native>,
}

impl<A: ArrowPrimitiveType, R: Read<Value = A::Native>> PrimitiveColumn<A, R> {
    pub(crate) fn new(read: R, data_type: DataType) -> Self {
        Self { read, data_type, values: Values::new(), spare: Spare::default() }
    }
}

impl<A: ArrowPrimitiveType<Native: Into<Raw<'static>>>, R: Read<Value = A::Native>> Column
    for PrimitiveColumn<A, R>
{
    fn push<S: RowSource>(
        &mut self,
        rows: &S,
        range: Range<usize>,
        column: usize,
    ) -> Result<(), ColumnError> {
        self.values.extend(&self.read, rows, range, column)
    }

    fn byte_len(&self) -> usize {
        self.values.len() * size_of::<A::Native>()
    }

    fn width(&self) -> usize {
        size_of::<A::Native>()
    }

    fn finish(&mut self, rows: usize) -> Result<ArrayRef, ColumnError> {
        let values = self.spare.take(&mut self.values.values, rows);
        let nulls = self.values.nulls.take(rows);
        Ok(Arc::new(PrimitiveArray::<A>::new(values, nulls).with_data_type(self.data_type.clone())))
    }

    fn clear(&mut self) -> bool {
        self.values.clear();
        self.spare.clear();
        true
    }

    fn raw(&self, row: usize) -> Option<Raw<'_>> {
        Some(self.values.get(row).map_or(Raw::Null, Into::into))
    }
}

/// The null bitmap of a column; nothing is stored until the first NULL.
#[derive(Debug)]
pub(crate) struct Nulls {
    rows: usize,
    /// A bit for each row, set if it is valid.
    bits: Option<BooleanBufferBuilder>,
}

impl Nulls {
    pub(crate) fn new() -> Self {
        Self { rows: 0, bits: None }
    }

    /// Appends the validity of this many rows, at most [`BLOCK`].
    pub(crate) fn block(&mut self, rows: usize) -> Block<'_> {
        Block { nulls: self, rows, marked: [0; BLOCK / 8], has_any: false }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new();
    }

    pub(crate) fn is_valid(&self, row: usize) -> bool {
        row < self.rows && self.bits.as_ref().is_none_or(|bits| bits.get_bit(row))
    }

    pub(crate) fn push(&mut self, is_valid: bool) {
        match is_valid {
            true => self.append_valid(1),
            false => self.bits().append(false),
        }
        self.rows += usize::from(!is_valid);
    }

    fn append_valid(&mut self, rows: usize) {
        if let Some(bits) = &mut self.bits {
            bits.append_n(rows, true);
        }
        self.rows += rows;
    }

    /// The bitmap, which exists from here on.
    fn bits(&mut self) -> &mut BooleanBufferBuilder {
        let rows = self.rows;
        self.bits.get_or_insert_with(|| {
            let mut bits = BooleanBufferBuilder::new(rows.max(BLOCK));
            bits.append_n(rows, true);
            bits
        })
    }

    pub(crate) fn take(&mut self, rows: usize) -> Option<NullBuffer> {
        self.rows -= rows;
        let all = NullBuffer::new(self.bits.take()?.finish());
        if self.rows > 0 {
            let rest = all.slice(rows, self.rows);
            if rest.null_count() > 0 {
                let mut bits = BooleanBufferBuilder::new(rows.max(self.rows));
                bits.append_buffer(rest.inner());
                self.bits = Some(bits);
            }
        }
        Some(all.slice(0, rows)).filter(|nulls| nulls.null_count() > 0)
    }
}

/// Rows whose validity is being appended. Rows are valid unless marked NULL, and then cost nothing.
pub(crate) struct Block<'a> {
    nulls: &'a mut Nulls,
    rows: usize,
    /// A bit for each row, set if it is NULL.
    marked: [u8; BLOCK / 8],
    has_any: bool,
}

impl Block<'_> {
    /// Marks the row at this index of the block as NULL.
    #[inline(always)]
    pub(crate) fn null(&mut self, index: usize) {
        self.marked[index / 8] |= 1 << (index % 8);
        self.has_any = true;
    }

    pub(crate) fn end(mut self) {
        let rows = self.rows;
        if !self.has_any {
            self.nulls.append_valid(rows);
            return;
        }
        self.marked.iter_mut().for_each(|bits| *bits = !*bits);
        self.nulls.bits().append_packed_range(0..rows, &self.marked);
        self.nulls.rows += rows;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Blocks of any lengths, single rows in between, batches of any lengths.
        #[test]
        fn bitmaps_have_a_bit_for_each_row(
            blocks in prop::collection::vec(
                prop_oneof![
                    prop::collection::vec(any::<bool>(), 0..=BLOCK),
                    (0..=BLOCK).prop_map(|rows| vec![true; rows]),
                ],
                0..8,
            ),
            cuts in prop::collection::vec(0..600_usize, 0..4),
        ) {
            let mut nulls = Nulls::new();
            let mut expected = Vec::new();
            for rows in &blocks {
                let mut block = nulls.block(rows.len());
                (0..).zip(rows).filter(|(_, is_valid)| !**is_valid).for_each(|(row, _)| block.null(row));
                block.end();
                nulls.push(rows.len() % 2 == 0);
                expected.extend(rows);
                expected.push(rows.len() % 2 == 0);
            }
            for cut in cuts.into_iter().chain([usize::MAX]) {
                let found: Vec<bool> = (0..expected.len()).map(|row| nulls.is_valid(row)).collect();
                prop_assert_eq!(&found, &expected);
                prop_assert!(!nulls.is_valid(expected.len()));
                let rest = expected.split_off(cut.min(expected.len()));
                match nulls.take(expected.len()) {
                    Some(taken) => prop_assert_eq!(taken.iter().collect::<Vec<_>>(), expected),
                    None => prop_assert!(expected.iter().all(|is_valid| *is_valid)),
                }
                expected = rest;
            }
        }
    }
}
