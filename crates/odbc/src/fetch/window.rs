//! The batches of a result that are at hand.

use arrow::array::RecordBatch;
use std::collections::VecDeque;
use std::ops::Range;

/// Consecutive batches of a result: the current row set and those after it, or all batches so far if rows can be fetched
/// in any order.
#[derive(Debug, Default)]
pub(crate) struct Window {
    batches: VecDeque<Part>,
    /// The number of the first row that has not arrived, counted from 0 over the whole result.
    end: u64,
    /// The part that was used last.
    current: usize,
}

/// A batch, and the number of its first row.
#[derive(Debug)]
struct Part {
    batch: RecordBatch,
    start: u64,
}

impl Part {
    fn end(&self) -> u64 {
        self.start + self.batch.num_rows() as u64
    }
}

impl Window {
    pub(crate) fn push(&mut self, batch: RecordBatch) {
        let part = Part { start: self.end, batch };
        self.end = part.end();
        self.batches.push_back(part);
    }

    /// The number of rows that have arrived, from the first of the result on.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Drops the batches that end before this row.
    pub(crate) fn drop_before(&mut self, row: u64) {
        while self.batches.front().is_some_and(|part| part.end() <= row) {
            self.batches.pop_front();
            self.current = 0;
        }
    }

    /// Bytes of all batches.
    pub(crate) fn memory(&self) -> usize {
        self.batches.iter().map(|part| part.batch.get_array_memory_size()).sum()
    }

    /// The batch with this row, and the row's place in it.
    pub(crate) fn find(&mut self, row: u64) -> Option<(&RecordBatch, usize)> {
        let is_in = |part: &Part| (part.start..part.end()).contains(&row);
        if !self.batches.get(self.current).is_some_and(is_in) {
            self.current = self.batches.partition_point(|part| part.end() <= row);
        }
        let part = self.batches.get(self.current).filter(|part| is_in(part))?;
        Some((&part.batch, (row - part.start) as usize))
    }

    /// The pieces of batches with these rows, in order.
    pub(crate) fn pieces(&self, rows: Range<u64>) -> impl Iterator<Item = (&RecordBatch, Range<usize>)> {
        let first = match self.batches.get(self.current) {
            Some(part) if part.start <= rows.start && rows.start < part.end() => self.current,
            _ => self.batches.partition_point(|part| part.end() <= rows.start),
        };
        self.batches.range(first.min(self.batches.len())..).map_while(move |part| {
            let (start, end) = (rows.start.max(part.start), rows.end.min(part.end()));
            (start < end).then(|| (&part.batch, (start - part.start) as usize..(end - part.start) as usize))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{AsArray, Int32Array};
    use arrow::datatypes::Int32Type;
    use std::sync::Arc;

    fn batch(values: Range<i32>) -> RecordBatch {
        let values = Arc::new(Int32Array::from_iter_values(values));
        RecordBatch::try_from_iter([("N", values as _)]).expect("one column")
    }

    #[test]
    fn rows_are_found_across_batches() {
        let mut window = Window::default();
        window.push(batch(0..3));
        window.push(batch(3..4));
        window.push(batch(4..10));
        let all = |window: &Window, rows: Range<u64>| -> Vec<i32> {
            let pieces = window.pieces(rows);
            pieces
                .flat_map(|(batch, rows)| batch.column(0).as_primitive::<Int32Type>().values()[rows].to_vec())
                .collect()
        };
        assert_eq!(all(&window, 2..6), [2, 3, 4, 5]);
        assert_eq!(all(&window, 9..12), [9]);
        assert_eq!(all(&window, 3..3), [] as [i32; 0]);
        let at = window.find(5).map(|(batch, at)| (batch.num_rows(), at));
        assert_eq!(at, Some((6, 1)));
        assert!(window.find(10).is_none());
        window.drop_before(3);
        assert!(window.find(2).is_none());
        assert_eq!(all(&window, 3..5), [3, 4]);
        assert_eq!(window.end(), 10);
    }
}
