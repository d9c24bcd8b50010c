//! The loop common to all fixed-width columns, and its buffers: plain values and a null bitmap.

use super::super::error::{ColumnError, Fault};
use super::Column;
use crate::value::Raw;
use arrow::array::{ArrayRef, ArrowPrimitiveType, NullBufferBuilder, PrimitiveArray};
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
        let mut validity = self.nulls.block(range.clone());
        let field = rows.column(column);
        // The length is known, so this checks no capacity per value and fills in nothing beforehand.
        self.values.extend(range.map(|row| match field(row) {
            Some(bytes) => read.read::<S::Format>(bytes).unwrap_or_else(|| {
                bad = bad.or(Some(row));
                T::default()
            }),
            None => {
                validity.null(row);
                T::default()
            }
        }));
        validity.end();
        let Some(row) = bad else { return Ok(()) };
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
}

impl<A: ArrowPrimitiveType, R: Read<Value = A::Native>> PrimitiveColumn<A, R> {
    pub(crate) fn new(read: R, data_type: DataType) -> Self {
        Self { read, data_type, values: Values::new() }
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
        let (values, nulls) = self.values.take(rows);
        Ok(Arc::new(PrimitiveArray::<A>::new(values.into(), nulls).with_data_type(self.data_type.clone())))
    }

    fn clear(&mut self) -> bool {
        self.values.clear();
        true
    }

    fn raw(&self, row: usize) -> Option<Raw<'_>> {
        Some(self.values.get(row).map_or(Raw::Null, Into::into))
    }
}

/// The null bitmap of a column; nothing is stored until the first NULL.
#[derive(Debug)]
pub(crate) struct Nulls(NullBufferBuilder);

impl Nulls {
    pub(crate) fn new() -> Self {
        Self(NullBufferBuilder::new(0))
    }

    /// Appends the validity of these rows.
    pub(crate) fn block(&mut self, rows: Range<usize>) -> Block<'_> {
        Block { bits: &mut self.0, rows }
    }

    pub(crate) fn clear(&mut self) {
        self.0 = NullBufferBuilder::new(0);
    }

    pub(crate) fn is_valid(&self, row: usize) -> bool {
        row < self.0.len() && self.0.is_valid(row)
    }

    pub(crate) fn push(&mut self, is_valid: bool) {
        self.0.append(is_valid);
    }

    pub(crate) fn take(&mut self, rows: usize) -> Option<NullBuffer> {
        let rest = self.0.len() - rows;
        let taken = self.0.finish();
        self.0 = NullBufferBuilder::new(rows);
        match taken {
            None => {
                self.0.append_n_non_nulls(rest);
                None
            }
            Some(all) => {
                if rest == 0 {
                    return Some(all);
                }
                self.0.append_buffer(&all.slice(rows, rest));
                Some(all.slice(0, rows)).filter(|nulls| nulls.null_count() > 0)
            }
        }
    }
}

/// Rows whose validity is being appended. Rows are valid unless marked NULL, and then cost nothing.
pub(crate) struct Block<'a> {
    bits: &'a mut NullBufferBuilder,
    /// Rows not yet appended.
    rows: Range<usize>,
}

impl Block<'_> {
    /// Marks this row as NULL. Rows must come in order.
    #[inline]
    pub(crate) fn null(&mut self, row: usize) {
        self.bits.append_n_non_nulls(row - self.rows.start);
        self.bits.append_null();
        self.rows.start = row + 1;
    }

    pub(crate) fn end(self) {
        self.bits.append_n_non_nulls(self.rows.len());
    }
}

/// Takes the first `count` items out of `items`, which keeps the rest and room for the next batch.
///
/// The room is what the last batch needed, not what the limits allow: a query of one row must not take the memory of
/// 65536.
pub(crate) fn take<T: Copy>(items: &mut Vec<T>, count: usize) -> Vec<T> {
    let rest = &items[count..];
    // The batches of a result differ a little in length; regrowing a full buffer would copy it.
    let mut kept = Vec::with_capacity((count + count / 16).max(rest.len()));
    kept.extend_from_slice(rest);
    let mut taken = std::mem::replace(items, kept);
    taken.truncate(count);
    if taken.len() < taken.capacity() / 2 {
        taken.shrink_to_fit(); // the consumer may keep it for long
    }
    taken
}
