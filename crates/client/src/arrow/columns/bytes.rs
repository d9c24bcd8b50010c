//! Columns of variable length: their common loop and buffers.

use super::super::error::{ColumnError, DecodeErrorKind, Fault};
use super::Column;
use super::spare::SpareValues;
use super::values::Nulls;
use crate::value::Raw;
use arrow::array::{ArrayRef, AsArray, GenericBinaryArray, OffsetSizeTrait, StringViewArray};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::DataType;
use firearrow_proto::api::row::{RowSource, ValueFormat};
use firearrow_utf8::string_array;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Converts the bytes of a field into the bytes of an Arrow value.
pub(crate) trait Write {
    /// Appends the value. Returns `None` if it is invalid; `out` may then end with garbage.
    fn write<F: ValueFormat>(&self, bytes: &[u8], out: &mut Output) -> Option<()>;

    /// Explains why `write` returned `None` for these bytes.
    fn fault<F: ValueFormat>(&self, bytes: &[u8]) -> Fault;

    /// Returns the maximum bytes that one value can add.
    fn max(&self) -> usize;

    /// Suggests a remedy for values that are not UTF-8.
    fn remedy(&self) -> &'static str {
        ""
    }
}

/// Consecutive values, the offset where each ends, and the null bitmap.
///
/// Offsets are 32 bits wide whatever the Arrow type: the limits of a batch keep them far below 2 GiB.
#[derive(Debug)]
pub(crate) struct ByteColumn<W> {
    write: W,
    data_type: DataType,
    values: Output,
    /// One more than the number of rows; the first is 0.
    offsets: Vec<i32>,
    nulls: Nulls,
    spare: SpareValues<i32>,
}

impl<W: Write> ByteColumn<W> {
    pub(crate) fn new(write: W, data_type: DataType) -> Self {
        Self {
            write,
            data_type,
            values: Output::default(),
            offsets: vec![0],
            nulls: Nulls::new(),
            spare: SpareValues::default(),
        }
    }
}

impl<W: Write> Column for ByteColumn<W> {
    fn push<S: RowSource>(
        &mut self,
        rows: &S,
        range: Range<usize>,
        column: usize,
    ) -> Result<(), ColumnError> {
        let Self { write, values, offsets, nulls, .. } = self;
        let mut bad = None;
        let mut validity = nulls.block(range.len());
        let fields = rows.column(column, range.clone()).enumerate();
        offsets.extend(fields.map(|(index, field)| {
            match field {
                Some(bytes) => {
                    if write.write::<S::Format>(bytes, values).is_none() {
                        bad = bad.or(Some(index));
                    }
                }
                None => validity.null(index),
            }
            values.0.len() as i32 // batches end far below 2 GiB
        }));
        validity.end();
        let Some(row) = bad.map(|index| range.start + index) else { return Ok(()) };
        let bytes = rows.field(row, column).unwrap_or_default();
        Err(ColumnError { row, fault: self.write.fault::<S::Format>(bytes) })
    }

    fn byte_len(&self) -> usize {
        self.values.0.len() + (self.offsets.len() - 1) * size_of::<i32>()
    }

    fn width(&self) -> usize {
        self.write.max() + size_of::<i32>()
    }

    fn finish(&mut self, rows: usize) -> Result<ArrayRef, ColumnError> {
        let (data, offsets) = self.spare.take(&mut self.values.0, &mut self.offsets, rows);
        array(&self.data_type, data, offsets, self.nulls.take(rows), self.write.remedy())
    }

    fn clear(&mut self) -> bool {
        self.values.0.clear();
        self.offsets.truncate(1);
        self.nulls.clear();
        self.spare.clear();
        true
    }

    fn raw(&self, row: usize) -> Option<Raw<'_>> {
        let (&start, &end) = (self.offsets.get(row)?, self.offsets.get(row + 1)?);
        match self.nulls.is_valid(row) {
            true => Some(Raw::Bytes(self.values.0.get(start as usize..end as usize)?)),
            false => Some(Raw::Null),
        }
    }
}

/// Maximum length of a value that is copied with fixed moves.
const SHORT: usize = 32;

/// Values one after the other.
///
/// Most strings are short; for those, calling `memcpy` costs more than the copy. So short values are copied with a fixed
/// number of moves, and what is too much is cut off again.
#[derive(Debug, Default)]
pub(crate) struct Output(Vec<u8>);

impl Output {
    #[cfg(test)]
    pub(crate) fn values(&self) -> &[u8] {
        &self.0
    }

    /// Appends `value`, which is a part of `bytes`.
    #[inline(always)]
    pub(crate) fn append(&mut self, value: &[u8], bytes: &[u8]) {
        let at = value.as_ptr().addr().wrapping_sub(bytes.as_ptr().addr());
        match bytes.get(at..).and_then(|rest| rest.first_chunk::<SHORT>()) {
            // Copied out as an array, so that the compiler knows its length.
            Some(&source) if value.len() <= SHORT => {
                let end = self.0.len() + value.len();
                self.0.extend_from_slice(&source);
                self.0.truncate(end);
            }
            _ => self.extend(value),
        }
    }

    /// Appends `value`. Never inlined: compilers would merge this copy and the short one into a `memcpy` of variable length.
    #[inline(never)]
    pub(crate) fn extend(&mut self, value: &[u8]) {
        self.0.extend_from_slice(value);
    }
}

impl io::Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns these values as an array. Checks all of them for UTF-8 at once.
pub(crate) fn array<O: OffsetSizeTrait>(
    data_type: &DataType,
    data: Buffer,
    offsets: ScalarBuffer<O>,
    nulls: Option<NullBuffer>,
    remedy: &str,
) -> Result<ArrayRef, ColumnError> {
    match data_type {
        DataType::Utf8 => strings(data, offsets, nulls, remedy),
        DataType::LargeUtf8 | DataType::Utf8View => {
            let offsets = offsets.iter().map(|offset| offset.as_usize() as i64).collect();
            let array = strings::<i64>(data, offsets, nulls, remedy)?;
            // The views point into the same buffer.
            let view = || Arc::new(StringViewArray::from(array.as_string::<i64>())) as ArrayRef;
            Ok(if *data_type == DataType::Utf8View { view() } else { array })
        }
        _ => Ok(Arc::new(GenericBinaryArray::new(OffsetBuffer::new(offsets), data, nulls))),
    }
}

fn strings<O: OffsetSizeTrait>(
    data: Buffer,
    offsets: ScalarBuffer<O>,
    nulls: Option<NullBuffer>,
    remedy: &str,
) -> Result<ArrayRef, ColumnError> {
    let array = string_array(offsets.clone(), data.clone(), nulls).ok_or_else(|| {
        let mut error = first_invalid(&data, &offsets)
            .unwrap_or_else(|| ColumnError { row: 0, fault: Fault::malformed("text") });
        error.fault.message.push_str(remedy);
        error
    })?;
    Ok(Arc::new(array))
}

/// Finds the first value that is not UTF-8; one must exist.
fn first_invalid<O: OffsetSizeTrait>(data: &[u8], offsets: &[O]) -> Option<ColumnError> {
    offsets.windows(2).enumerate().find_map(|(row, ends)| {
        let value = &data[ends[0].as_usize()..ends[1].as_usize()];
        let at = std::str::from_utf8(value).err()?.valid_up_to();
        let message = format!("byte {:#04x} at position {at} is not UTF-8; ", value[at]);
        Some(ColumnError { row, fault: Fault::new(DecodeErrorKind::InvalidText, message) })
    })
}
