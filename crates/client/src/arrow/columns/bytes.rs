//! Columns of varying length: the loop they share, and what they keep.

use super::super::error::{ColumnError, DecodeErrorKind, Fault};
use super::Column;
use super::values::{Nulls, take};
use arrow::array::{ArrayRef, GenericBinaryArray, GenericStringArray, OffsetSizeTrait};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow::datatypes::DataType;
use firearrow_proto::api::row::{RowSource, ValueFormat};
use std::ops::Range;
use std::sync::Arc;

/// How the bytes of a field become the bytes of an Arrow value.
pub(crate) trait Write {
    /// Appends the value, or returns `None` when there is something wrong with it; `out` may then hold rubbish
    /// at its end.
    fn write<F: ValueFormat>(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()>;

    /// What is wrong with bytes for which `write` returned `None`.
    fn fault<F: ValueFormat>(&self, bytes: &[u8]) -> Fault;

    /// Most bytes that one value can add.
    fn max(&self) -> usize;

    /// What helps against values that turn out not to be UTF-8.
    fn remedy(&self) -> &'static str {
        ""
    }
}

/// Values one behind the other, where each of them ends, and the null bitmap.
///
/// Offsets are 32 bits wide whatever the Arrow type: the limits of a batch keep them far below 2 GiB.
#[derive(Debug)]
pub(crate) struct ByteColumn<W> {
    write: W,
    data_type: DataType,
    data: Vec<u8>,
    /// One more than there are rows; the first is 0.
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
        let Self { write, data, offsets, nulls, .. } = self;
        let mut bad = None;
        let mut run = nulls.run();
        offsets.extend(range.map(|row| {
            match rows.field(row, column) {
                Some(bytes) => {
                    run.valid();
                    if write.write::<S::Format>(bytes, data).is_none() {
                        bad = bad.or(Some(row));
                    }
                }
                None => run.null(),
            }
            data.len() as i32 // below BatchLimits::MAX_BYTES and one row
        }));
        run.end();
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

/// Takes the first `rows` values; those behind them move up.
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

/// The array of these values. UTF-8 is checked here, once for all of them.
pub(crate) fn array<O: OffsetSizeTrait>(
    data_type: &DataType,
    data: Vec<u8>,
    offsets: Vec<O>,
    nulls: Option<NullBuffer>,
    remedy: &str,
) -> Result<ArrayRef, ColumnError> {
    let data = Buffer::from_vec(data);
    match data_type {
        DataType::LargeUtf8 if !O::IS_LARGE => {
            let offsets = offsets.iter().map(|offset| offset.as_usize() as i64).collect();
            strings::<i64>(data, offsets, nulls, remedy)
        }
        DataType::Utf8 | DataType::LargeUtf8 => strings(data, offsets, nulls, remedy),
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

/// The first value that is not UTF-8, once it is known that there is one.
fn first_invalid<O: OffsetSizeTrait>(data: &[u8], offsets: &[O]) -> Option<ColumnError> {
    offsets.windows(2).enumerate().find_map(|(row, ends)| {
        let value = &data[ends[0].as_usize()..ends[1].as_usize()];
        let at = std::str::from_utf8(value).err()?.valid_up_to();
        let message = format!("byte {:#04x} at position {at} is not UTF-8; ", value[at]);
        Some(ColumnError { row, fault: Fault::new(DecodeErrorKind::InvalidText, message) })
    })
}
