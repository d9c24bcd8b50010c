//! Arrays: rows bring ids; the contents follow one by one, as for BLOBs. The elements pass through the builder of their
//! type, as rows of one column.

use super::super::builder::BLOCK;
use super::super::error::{ColumnError, DecodeErrorKind, Fault, over_limit};
use super::super::options::{MaxBlob, ReadOptions};
use super::cells::{Cell, Cells};
use super::{Column, ColumnBuilder};
use arrow::array::{ArrayRef, ListArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, FieldRef};
use firearrow_proto::api::array::ArrayShape;
use firearrow_proto::api::layout::{FieldLayout, RowLayout};
use firearrow_proto::api::row::{Native, RowSource};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// An array column: its rows as far as known, and the elements of the first `filled` rows.
#[derive(Debug)]
pub(crate) struct ArrayColumn {
    shape: Arc<ArrayShape>,
    /// The list types, outermost first.
    lists: Vec<FieldRef>,
    /// The stored format of an element.
    field: FieldLayout,
    elements: Box<ColumnBuilder>,
    /// Known cells are NULL.
    cells: Cells,
    /// Number of rows with complete elements.
    filled: usize,
    /// Stored elements of the next rows, if they would exceed the offsets of this batch.
    parked: VecDeque<Vec<u8>>,
    /// The limit of the offsets.
    reach: usize,
    /// All elements of one array, including those that are not stored.
    whole: Vec<u8>,
    longest: MaxBlob,
}

/// Maximum output bytes per stored byte: the 12 bytes of a TIMESTAMP WITH TIME ZONE become at most 58 of text.
const GROWTH: usize = 6;

impl ArrayColumn {
    /// Returns `None` if the shape and the type do not match.
    pub(crate) fn new(shape: &Arc<ArrayShape>, data_type: &DataType, options: &ReadOptions) -> Option<Self> {
        let mut lists = Vec::with_capacity(shape.bounds().len());
        let mut element = data_type;
        for _ in shape.bounds() {
            let DataType::List(field) = element else { return None };
            lists.push(Arc::clone(field));
            element = field.data_type();
        }
        let layout = RowLayout::for_descriptors(std::slice::from_ref(shape.element())).ok()?;
        let field = layout.fields().first()?.clone();
        let elements = Box::new(ColumnBuilder::new(shape.element(), &field, element, options)?);
        Some(Self {
            shape: Arc::clone(shape),
            lists,
            field,
            elements,
            cells: Cells::default(),
            filled: 0,
            parked: VecDeque::new(),
            reach: i32::MAX as usize,
            whole: Vec::new(),
            longest: options.max_blob,
        })
    }

    /// Returns the maximum stored bytes of an array.
    pub(crate) fn most_stored(&self) -> u64 {
        self.shape.most_stored(&self.field) as u64
    }

    /// Returns the row whose contents must come next.
    pub(crate) fn wanted(&self) -> usize {
        self.cells.wanted()
    }

    /// Returns the number of rows with complete elements.
    pub(crate) fn filled(&self) -> usize {
        self.filled
    }

    /// Returns the id of the contents that this row waits for.
    pub(crate) fn pending(&self, row: usize) -> Option<u64> {
        self.cells.pending(row)
    }

    /// Takes the stored array of the wanted row.
    pub(crate) fn fill(&mut self, contents: &[u8]) -> Result<(), Fault> {
        let stored = self.shape.stored(&self.field, contents);
        let stored = stored.map_err(|error| Fault::new(DecodeErrorKind::Malformed, error.to_string()))?;
        // A short answer may stand for a long array: elements never written are not stored.
        if self.size() as u64 > self.longest.bytes() {
            return Err(over_limit(self.size() as u64, self.longest));
        }
        if self.size().saturating_mul(GROWTH) > self.reach {
            let message =
                format!("an array of {} bytes does not fit a list; select its elements", self.size());
            return Err(Fault::new(DecodeErrorKind::TooLong, message));
        }
        self.cells.came();
        if self.parked.is_empty() && self.has_room() {
            self.append(stored)?;
        } else {
            self.parked.push_back(stored.to_vec());
        }
        self.settle();
        Ok(())
    }

    /// Returns the bytes of all elements.
    fn size(&self) -> usize {
        self.shape.count().saturating_mul(self.field.kind.native().1)
    }

    fn has_room(&self) -> bool {
        self.elements.byte_len() + self.size() * GROWTH <= self.reach
    }

    /// Appends the elements of a row.
    fn append(&mut self, stored: &[u8]) -> Result<(), Fault> {
        let (count, size) = (self.shape.count(), self.size());
        let whole = if stored.len() < size {
            self.whole.clear();
            self.whole.extend_from_slice(stored);
            self.whole.resize(size, 0);
            &self.whole
        } else {
            stored
        };
        let rows = Elements { bytes: whole, size: self.field.kind.native().1, count };
        for first in (0..count).step_by(BLOCK) {
            let block = first..count.min(first + BLOCK);
            self.elements.push(&rows, block, 0).map_err(|error| self.in_element(error))?;
        }
        self.filled += 1;
        Ok(())
    }

    /// Adds the element to the error.
    fn in_element(&self, ColumnError { row, mut fault }: ColumnError) -> Fault {
        let subscripts = self.shape.subscripts(row % self.shape.count());
        fault.message = format!("element {subscripts}: {}", fault.message);
        fault
    }

    /// Skips rows that are complete without contents.
    fn settle(&mut self) {
        while self.cells.known(self.filled).is_some() {
            self.filled += 1;
        }
    }

    /// Wraps the elements in the lists of rows with these validities.
    fn nest(&self, valid: &[bool], elements: ArrayRef) -> Result<ArrayRef, Fault> {
        let lengths: Vec<usize> = self.shape.lengths().collect();
        let mut values = elements;
        for (level, field) in self.lists.iter().enumerate().rev() {
            let length = lengths[level];
            let (offsets, nulls) = if level == 0 {
                let lengths = valid.iter().map(|valid| if *valid { length } else { 0 });
                (OffsetBuffer::from_lengths(lengths), Some(NullBuffer::from(valid)))
            } else {
                (OffsetBuffer::from_lengths(std::iter::repeat_n(length, values.len() / length)), None)
            };
            let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
            let lists = ListArray::try_new(Arc::clone(field), offsets, values, nulls);
            let lists = lists.map_err(|error| Fault::new(DecodeErrorKind::Malformed, error.to_string()))?;
            values = Arc::new(lists);
        }
        Ok(values)
    }
}

impl Column for ArrayColumn {
    fn push<S: RowSource>(
        &mut self,
        rows: &S,
        range: Range<usize>,
        column: usize,
    ) -> Result<(), ColumnError> {
        self.cells.push(rows, range, column, "array id")?;
        self.settle();
        Ok(())
    }

    fn byte_len(&self) -> usize {
        let parked: usize = self.parked.iter().map(Vec::len).sum();
        self.elements.byte_len() + parked + self.cells.len() * size_of::<i32>()
    }

    fn width(&self) -> usize {
        size_of::<i32>()
    }

    fn finish(&mut self, rows: usize) -> Result<ArrayRef, ColumnError> {
        let valid: Vec<bool> =
            self.cells.take(rows).iter().map(|cell| matches!(cell, Cell::Pending(_))).collect();
        let arrays = valid.iter().filter(|valid| **valid).count();
        let count = self.shape.count();
        let elements = self.elements.finish(arrays * count).map_err(|error| {
            // Find the row that holds the element.
            let mut rows = valid.iter().enumerate().filter(|(_, valid)| **valid);
            let row = rows.nth(error.row / count).map_or(0, |(row, _)| row);
            ColumnError { row, fault: self.in_element(error) }
        })?;
        let lists = self.nest(&valid, elements).map_err(|fault| ColumnError { row: 0, fault })?;
        self.filled -= rows;
        while self.has_room()
            && let Some(stored) = self.parked.pop_front()
        {
            self.append(&stored).map_err(|fault| ColumnError { row: rows + self.filled, fault })?;
            self.settle();
        }
        Ok(lists)
    }
}

/// The elements of an array, as rows of one column.
struct Elements<'a> {
    bytes: &'a [u8],
    size: usize,
    count: usize,
}

impl RowSource for Elements<'_> {
    type Format = Native;

    fn row_count(&self) -> usize {
        self.count
    }

    #[inline(always)]
    fn column(&self, _: usize, rows: Range<usize>) -> impl Iterator<Item = Option<&[u8]>> {
        rows.map(|row| self.bytes.get(row * self.size..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::AsArray;
    use firearrow_proto::api::descriptor::{Descriptor, SqlType};

    #[test]
    fn elements_beyond_the_offsets_wait_for_the_next_batch() {
        let element = Descriptor { sql_type: SqlType::SHORT, length: 2, ..Descriptor::default() };
        let shape = Arc::new(ArrayShape::new(element, vec![(1, 2)]).unwrap());
        let data_type = DataType::new_list(DataType::Int16, true);
        let mut column = ArrayColumn::new(&shape, &data_type, &ReadOptions::default()).unwrap();
        // Room for two arrays of four bytes each, at maximum growth.
        column.reach = 4 + 4 * GROWTH;
        let null = Cell::Known { is_null: true };
        column.cells = Cells::of(vec![
            Cell::Pending(1),
            null,
            Cell::Pending(2),
            Cell::Pending(3),
            null,
            Cell::Pending(4),
        ]);
        column.settle();
        for (wanted, value) in [(0, 1), (2, 2), (3, 3), (5, 4)] {
            assert_eq!(column.wanted(), wanted);
            let mut stored = vec![1, 1, 1, 0, 2, 0, 40, 0, 2, 0, 0, 0, 4, 0, 0, 0, 8];
            stored.resize(32, 0);
            stored.extend_from_slice(&[1, 0, 0, 0, 2, 0, 0, 0, value, 0, value, 1]);
            column.fill(&stored).unwrap();
        }
        let mut batches = Vec::new();
        while column.filled() > 0 {
            let array = column.finish(column.filled()).unwrap();
            let lists = array.as_list::<i32>();
            let firsts = lists
                .iter()
                .map(|list| list.map(|list| list.as_primitive::<arrow::datatypes::Int16Type>().value(0)));
            batches.push(firsts.collect::<Vec<_>>());
        }
        assert_eq!(batches, [vec![Some(1), None, Some(2)], vec![Some(3), None, Some(4)]]);
        assert!(column.cells.len() == 0 && column.parked.is_empty() && column.byte_len() == 0);
    }
}
