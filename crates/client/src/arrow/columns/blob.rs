//! BLOBs: rows bring ids, the contents come later and one by one.

use super::super::error::{ColumnError, DecodeErrorKind, Fault};
use super::Column;
use super::bytes::{array, take_values};
use super::text::Encoding;
use super::values::{Nulls, take};
use arrow::array::{ArrayRef, OffsetSizeTrait};
use arrow::datatypes::DataType;
use firearrow_proto::api::row::{RowSource, ValueFormat};
use std::ops::Range;

/// A BLOB column: what is known of its rows, and the contents of the first `offsets.len() - 1` of them.
#[derive(Debug)]
pub(crate) struct BlobColumn<O> {
    data_type: DataType,
    encoding: Encoding,
    cells: Vec<Cell>,
    data: Vec<u8>,
    offsets: Vec<O>,
    nulls: Nulls,
}

#[derive(Clone, Copy, Debug)]
enum Cell {
    /// NULL, or empty: id 0 is that of a BLOB without contents.
    Known {
        is_null: bool,
    },
    Pending(u64),
}

impl<O: OffsetSizeTrait> BlobColumn<O> {
    pub(crate) fn new(data_type: DataType, encoding: Encoding) -> Self {
        Self {
            data_type,
            encoding,
            cells: Vec::new(),
            data: Vec::new(),
            offsets: vec![O::zero()],
            nulls: Nulls::new(),
        }
    }

    /// Rows whose contents are complete.
    pub(crate) fn filled(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The id that waits in this row for its contents.
    pub(crate) fn pending(&self, row: usize) -> Option<u64> {
        match self.cells.get(row) {
            Some(Cell::Pending(id)) if row >= self.filled() => Some(*id),
            _ => None,
        }
    }

    /// Contents of the first row that waits for them.
    pub(crate) fn fill(&mut self, contents: &[u8]) -> Result<(), Fault> {
        let contents = self.encoding.decode(contents).ok_or_else(|| self.encoding.fault())?;
        let end = self.data.len() + contents.len();
        let Some(end) = O::from_usize(end) else {
            return Err(self.too_long(contents.len()));
        };
        self.data.extend_from_slice(&contents);
        self.offsets.push(end);
        self.nulls.push(true);
        self.settle();
        Ok(())
    }

    /// Whether this value would reach beyond the offsets, but not if it were the first of a batch.
    pub(crate) fn must_wait(&self, length: usize) -> bool {
        let longest = length.saturating_mul(self.encoding.growth());
        !self.data.is_empty() && O::from_usize(self.data.len().saturating_add(longest)).is_none()
    }

    fn too_long(&self, length: usize) -> Fault {
        let remedy = match self.data_type {
            DataType::Binary => "read it as a stream through its BLOB id",
            _ => "set text=large_utf8",
        };
        let message = format!("a BLOB of {length} bytes does not fit {}; {remedy}", self.data_type);
        Fault::new(DecodeErrorKind::TooLong, message)
    }

    /// Completes the rows up to the next one that waits.
    fn settle(&mut self) {
        while let Some(Cell::Known { is_null }) = self.cells.get(self.filled()) {
            let end = self.offsets[self.filled()];
            self.nulls.push(!is_null);
            self.offsets.push(end);
        }
    }
}

impl<O: OffsetSizeTrait> Column for BlobColumn<O> {
    fn push<S: RowSource>(
        &mut self,
        rows: &S,
        range: Range<usize>,
        column: usize,
    ) -> Result<(), ColumnError> {
        for row in range {
            self.cells.push(match rows.field(row, column) {
                None => Cell::Known { is_null: true },
                Some(bytes) => match S::Format::quad(bytes) {
                    Some(0) => Cell::Known { is_null: false },
                    Some(id) => Cell::Pending(id),
                    None => return Err(ColumnError { row, fault: Fault::malformed("BLOB id") }),
                },
            });
        }
        self.settle();
        Ok(())
    }

    fn byte_len(&self) -> usize {
        self.data.len() + self.cells.len() * size_of::<O>()
    }

    fn width(&self) -> usize {
        size_of::<O>()
    }

    fn finish(&mut self, rows: usize) -> Result<ArrayRef, ColumnError> {
        take(&mut self.cells, rows);
        let (data, offsets) = take_values(&mut self.data, &mut self.offsets, rows);
        array(&self.data_type, data, offsets, self.nulls.take(rows), self.encoding.remedy())
    }
}
