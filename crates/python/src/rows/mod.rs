//! Rows as tuples, straight from the columns.

mod column;

use arrow::array::RecordBatch;
use column::Column;
use firearrow::Descriptor;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// A batch whose rows become tuples, one after the other.
pub(crate) struct Rows {
    columns: Vec<Column>,
    next: usize,
    rows: usize,
}

impl Rows {
    pub(crate) fn new(batch: &RecordBatch, descriptors: &[Descriptor]) -> PyResult<Self> {
        let columns = batch.columns().iter().enumerate();
        let columns = columns.map(|(index, array)| Column::new(array, descriptors.get(index)));
        Ok(Self { columns: columns.collect::<PyResult<_>>()?, next: 0, rows: batch.num_rows() })
    }

    pub(crate) fn left(&self) -> usize {
        self.rows - self.next
    }

    /// Returns the next row.
    pub(crate) fn next<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        if self.next == self.rows {
            return Ok(None);
        }
        let row = self.row(py, self.next)?;
        self.next += 1;
        Ok(Some(row))
    }

    /// Appends up to `most` rows to a list. Returns how many.
    pub(crate) fn append(&mut self, py: Python<'_>, most: usize, to: &Bound<'_, PyList>) -> PyResult<usize> {
        let end = self.rows.min(self.next.saturating_add(most));
        let begin = self.next;
        while self.next < end {
            to.append(self.row(py, self.next)?)?;
            self.next += 1;
        }
        Ok(end - begin)
    }

    fn row<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyTuple>> {
        let mut failed = None;
        let values = self.columns.iter().map(|column| match column.value(py, row) {
            Ok(value) => value,
            Err(error) => {
                failed.get_or_insert(error);
                py.None().into_bound(py)
            }
        });
        let row = PyTuple::new(py, values);
        match failed {
            None => row,
            Some(error) => Err(error),
        }
    }
}
