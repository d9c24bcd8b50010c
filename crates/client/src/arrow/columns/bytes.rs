//! Columns of variable length: their common loop and buffers.

use super::super::error::{ColumnError, DecodeErrorKind, Fault};
use super::Column;
use super::values::{Nulls, take};
use arrow::array::{
    ArrayRef, AsArray, GenericBinaryArray, GenericStringArray, OffsetSizeTrait, StringViewArray,
};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow::datatypes::DataType;
use firearrow_proto::api::row::{RowSource, ValueFormat};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Converts the bytes of a field into the bytes of an Arrow value.
pub(crate) trait Write {
    /// Appends the value. Returns `None` if it is invalid; `out` may then end with garbage.
    fn write<F: ValueFormat>(&self, bytes: &[u8], out: &mut Output<'_>) -> Option<()>;

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
    data: Vec<u8>,
    /// One more than the number of rows; the first is 0.
    offsets: Vec<i32>,
    nulls: Nulls,
}

impl<W: Write> ByteColumn<W> {
    pub(crate) fn new(write: W, data_type: DataType) -> Self {
        Self { write, data_type, data: Vec::new(), offsets: vec![0], nulls: Nulls::new() }
    }
}

impl<W: Write> Column for ByteColumn<W> {
    fn push<S: RowSource>(
        &mut self,
        rows: &S,
        range: Range<usize>,
        column: usize,
    ) -> Result<(), ColumnError> {
        let first = self.offsets.len();
        self.offsets.resize(first + range.len(), 0);
        let mut bad = None;
        let mut validity = self.nulls.block(range.clone());
        let mut out = Output::new(&mut self.data, range.len());
        let field = rows.column(column);
        for (end, row) in self.offsets[first..].iter_mut().zip(range) {
            match field(row) {
                Some(bytes) => {
                    if self.write.write::<S::Format>(bytes, &mut out).is_none() {
                        bad = bad.or(Some(row));
                    }
                }
                None => validity.null(row),
            }
            *end = out.end as i32; // batches end far below 2 GiB
        }
        out.close();
        validity.end();
        let Some(row) = bad else { return Ok(()) };
        let bytes = rows.field(row, column).unwrap_or_default();
        Err(ColumnError { row, fault: self.write.fault::<S::Format>(bytes) })
    }

    fn byte_len(&self) -> usize {
        self.data.len() + (self.offsets.len() - 1) * size_of::<i32>()
    }

    fn width(&self) -> usize {
        self.write.max() + size_of::<i32>()
    }

    fn finish(&mut self, rows: usize) -> Result<ArrayRef, ColumnError> {
        let (data, offsets) = take_values(&mut self.data, &mut self.offsets, rows);
        array(&self.data_type, data, offsets, self.nulls.take(rows), self.write.remedy())
    }
}

/// Maximum length of a value that is copied with fixed moves.
const SHORT: usize = 32;

/// The end of a buffer while values are appended to it.
///
/// Most strings are short; for those, calling `memcpy` and maintaining a `Vec` cost more than the copy. So for the time
/// of a block of rows, the buffer is longer than needed, and short values are copied with a fixed number of moves. Each
/// move overwrites the excess of the one before.
pub(crate) struct Output<'a> {
    /// Extends beyond `end`; the excess is overwritten or cut off later.
    data: &'a mut Vec<u8>,
    end: usize,
}

impl<'a> Output<'a> {
    pub(crate) fn new(data: &'a mut Vec<u8>, values: usize) -> Self {
        let end = data.len();
        data.resize(end + values * SHORT, 0);
        Self { data, end }
    }

    pub(crate) fn close(self) {
        self.data.truncate(self.end);
    }

    /// Appends `value`, which is a part of `bytes`.
    #[inline(always)]
    pub(crate) fn append(&mut self, value: &[u8], bytes: &[u8]) {
        let at = value.as_ptr().addr().wrapping_sub(bytes.as_ptr().addr());
        let source = bytes.get(at..).and_then(|rest| rest.first_chunk());
        let target = self.data.get_mut(self.end..).and_then(|rest| rest.first_chunk_mut::<SHORT>());
        match (source, target) {
            (Some(source), Some(target)) if value.len() <= SHORT => {
                *target = *source;
                self.end += value.len();
            }
            _ => self.extend(value),
        }
    }

    /// Appends `value`.
    pub(crate) fn extend(&mut self, value: &[u8]) {
        let end = self.end + value.len();
        if end > self.data.len() {
            self.data.resize(end + 64 * SHORT, 0);
        }
        self.data[self.end..end].copy_from_slice(value);
        self.end = end;
    }
}

impl io::Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Takes the first `rows` values; the later ones move up.
pub(crate) fn take_values<O: OffsetSizeTrait>(
    data: &mut Vec<u8>,
    offsets: &mut Vec<O>,
    rows: usize,
) -> (Vec<u8>, Vec<O>) {
    let end = offsets[rows];
    let taken = take(data, end.as_usize());
    let mut ends = take(offsets, rows);
    ends.push(end);
    for offset in offsets.iter_mut() {
        *offset = *offset - end;
    }
    (taken, ends)
}

/// Returns these values as an array. Checks all of them for UTF-8 at once.
pub(crate) fn array<O: OffsetSizeTrait>(
    data_type: &DataType,
    data: Vec<u8>,
    offsets: Vec<O>,
    nulls: Option<NullBuffer>,
    remedy: &str,
) -> Result<ArrayRef, ColumnError> {
    let data = Buffer::from_vec(data);
    match data_type {
        DataType::Utf8 => strings(data, offsets, nulls, remedy),
        DataType::LargeUtf8 | DataType::Utf8View => {
            let offsets = offsets.iter().map(|offset| offset.as_usize() as i64).collect();
            let array = strings::<i64>(data, offsets, nulls, remedy)?;
            // The views point into the same buffer.
            let view = || Arc::new(StringViewArray::from(array.as_string::<i64>())) as ArrayRef;
            Ok(if *data_type == DataType::Utf8View { view() } else { array })
        }
        _ => Ok(Arc::new(GenericBinaryArray::new(OffsetBuffer::new(offsets.into()), data, nulls))),
    }
}

fn strings<O: OffsetSizeTrait>(
    data: Buffer,
    offsets: Vec<O>,
    nulls: Option<NullBuffer>,
    remedy: &str,
) -> Result<ArrayRef, ColumnError> {
    let offsets = OffsetBuffer::new(offsets.into());
    match GenericStringArray::<O>::try_new(offsets.clone(), data.clone(), nulls) {
        Ok(array) => Ok(Arc::new(array)),
        Err(error) => Err(first_invalid(&data, &offsets).unwrap_or_else(|| ColumnError {
            row: 0,
            fault: Fault::new(DecodeErrorKind::InvalidText, error.to_string()),
        }))
        .map_err(|mut error| {
            error.fault.message.push_str(remedy);
            error
        }),
    }
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
