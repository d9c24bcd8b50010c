//! BLOBs: rows bring ids; the contents follow one by one.

use super::super::error::{ColumnError, DecodeErrorKind, Fault};
use super::Column;
use super::bytes::array;
use super::cells::Cells;
use super::spare::SpareValues;
use super::text::Encoding;
use super::values::Nulls;
use arrow::array::{ArrayRef, OffsetSizeTrait};
use arrow::datatypes::DataType;
use firearrow_proto::api::row::RowSource;
use std::collections::VecDeque;
use std::ops::Range;

/// A BLOB column: its rows as far as known, and the contents of the first `offsets.len() - 1` rows.
#[derive(Debug)]
pub(crate) struct BlobColumn<O> {
    data_type: DataType,
    encoding: Encoding,
    cells: Cells,
    data: Vec<u8>,
    offsets: Vec<O>,
    nulls: Nulls,
    /// Contents of the next rows, if they would exceed the offsets of this batch.
    parked: VecDeque<Vec<u8>>,
    /// The limit of the offsets.
    reach: usize,
    spare: SpareValues<O>,
}

/// Most bytes to make room for before they come.
const MOST_EXPECTED: usize = 4 << 20;

/// Rows whose contents arrive separately.
impl<O: OffsetSizeTrait> BlobColumn<O> {
    pub(crate) fn new(data_type: DataType, encoding: Encoding) -> Self {
        Self {
            data_type,
            encoding,
            cells: Cells::default(),
            data: Vec::new(),
            offsets: vec![O::zero()],
            nulls: Nulls::new(),
            parked: VecDeque::new(),
            reach: O::MAX_OFFSET,
            spare: SpareValues::default(),
        }
    }

    /// Returns the row whose contents must come next.
    pub(crate) fn wanted(&self) -> usize {
        self.cells.wanted()
    }

    /// Returns the number of rows with complete contents.
    pub(crate) fn filled(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns the id of the contents that this row waits for.
    pub(crate) fn pending(&self, row: usize) -> Option<u64> {
        self.cells.pending(row)
    }

    /// Takes the contents of the wanted row.
    pub(crate) fn fill(&mut self, contents: &[u8]) -> Result<(), Fault> {
        let contents = self.encoding.decode(contents).ok_or_else(|| self.encoding.fault())?;
        if contents.len() > self.reach {
            return Err(self.too_long(contents.len()));
        }
        self.cells.came();
        if !self.parked.is_empty() || !self.append(&contents) {
            self.parked.push_back(contents.into_owned());
        }
        self.settle();
        Ok(())
    }

    /// Appends the contents of a row, if the offsets can hold them.
    fn append(&mut self, contents: &[u8]) -> bool {
        let end = Some(self.data.len() + contents.len()).filter(|&end| end <= self.reach);
        let Some(end) = end.and_then(O::from_usize) else { return false };
        if self.data.capacity() - self.data.len() < contents.len() {
            self.data.reserve(self.expected(contents.len()));
        }
        self.data.extend_from_slice(contents);
        self.offsets.push(end);
        self.nulls.push(true);
        true
    }

    /// Returns how many bytes the known rows will add, if those after the next are as long as those before. Growing piece
    /// by piece would touch new memory again and again.
    fn expected(&self, next: usize) -> usize {
        let filled = self.filled() + 1;
        let mean = (self.data.len() + next) / filled;
        next + mean.saturating_mul(self.cells.len().saturating_sub(filled)).min(MOST_EXPECTED)
    }

    fn too_long(&self, length: usize) -> Fault {
        let remedy = match self.data_type {
            DataType::Binary => "read it as a stream through its BLOB id",
            _ => "set text=large_utf8",
        };
        let message = format!("a BLOB of {length} bytes does not fit {}; {remedy}", self.data_type);
        Fault::new(DecodeErrorKind::TooLong, message)
    }

    /// Skips rows that are complete without contents.
    fn settle(&mut self) {
        while let Some(is_null) = self.cells.known(self.filled()) {
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
        self.cells.push(rows, range, column, "BLOB id")?;
        self.settle();
        Ok(())
    }

    fn byte_len(&self) -> usize {
        let parked: usize = self.parked.iter().map(Vec::len).sum();
        self.data.len() + parked + self.cells.len() * size_of::<O>()
    }

    fn width(&self) -> usize {
        size_of::<O>()
    }

    fn finish(&mut self, rows: usize) -> Result<ArrayRef, ColumnError> {
        self.cells.take(rows);
        let (data, offsets) = self.spare.take(&mut self.data, &mut self.offsets, rows);
        let nulls = self.nulls.take(rows);
        while let Some(contents) = self.parked.pop_front() {
            if !self.append(&contents) {
                self.parked.push_front(contents);
                break;
            }
            self.settle();
        }
        array(&self.data_type, data, offsets, nulls, self.encoding.remedy())
    }
}

#[cfg(test)]
mod tests {
    use super::super::cells::Cell;
    use super::*;
    use arrow::array::AsArray;

    #[test]
    fn contents_beyond_the_offsets_wait_for_the_next_batch() {
        let mut column = BlobColumn::<i32>::new(DataType::Binary, Encoding::DECLARED);
        column.reach = 10;
        let null = Cell::Known { is_null: true };
        column.cells =
            Cells::of(vec![Cell::Pending(1), Cell::Pending(2), null, Cell::Pending(3), Cell::Pending(4)]);
        column.settle();
        for (wanted, contents) in [(0, "123456"), (1, "abcdef"), (3, "xyz"), (4, "0123456789")] {
            assert_eq!(column.wanted(), wanted);
            column.fill(contents.as_bytes()).unwrap();
        }
        assert_eq!(column.fill(b"12345678901").unwrap_err().kind, DecodeErrorKind::TooLong);
        let mut batches = Vec::new();
        while column.filled() > 0 {
            let array = column.finish(column.filled()).unwrap();
            let values = array.as_binary::<i32>().iter();
            batches.push(values.map(|value| value.map(<[u8]>::to_vec)).collect::<Vec<_>>());
        }
        let value = |text: &str| Some(text.as_bytes().to_vec());
        assert_eq!(
            batches,
            [vec![value("123456")], vec![value("abcdef"), None, value("xyz")], vec![value("0123456789")]]
        );
        assert!(column.cells.len() == 0 && column.parked.is_empty());
    }
}
