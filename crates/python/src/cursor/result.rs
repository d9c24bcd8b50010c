//! The rows of an execution.

use super::Descriptors;
use crate::rows::Rows;
use crate::signal;
use arrow::array::RecordBatch;
use firearrow::{Cursor, Descriptor, Statement, WireStats};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::collections::VecDeque;

/// Where batches come from.
pub(super) enum Source {
    Cursor(Box<Cursor>),
    Batches(VecDeque<RecordBatch>),
}

impl Source {
    pub(super) fn next(&mut self) -> firearrow::Result<Option<RecordBatch>> {
        match self {
            Self::Cursor(cursor) => cursor.next_batch(),
            Self::Batches(batches) => Ok(batches.pop_front()),
        }
    }
}

/// A result, of which some rows may have been handed out.
pub(crate) struct Fetched {
    descriptors: Descriptors,
    pub(super) source: Source,
    /// What is left of the last batch.
    rows: Option<Rows>,
    batch: Option<RecordBatch>,
    count: u64,
    is_over: bool,
}

impl Fetched {
    pub(super) fn new(statement: &Statement, source: Source) -> Self {
        let descriptors = statement.columns().into();
        Self { descriptors, source, rows: None, batch: None, count: 0, is_over: false }
    }

    pub(super) fn descriptors(&self) -> &[Descriptor] {
        &self.descriptors
    }

    /// Rows that were handed out.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    pub(super) fn wire_stats(&self) -> Option<WireStats> {
        match &self.source {
            Source::Cursor(cursor) => Some(cursor.wire_stats()),
            Source::Batches(_) => None,
        }
    }

    /// Returns the next row.
    pub(super) fn next<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        loop {
            if let Some(rows) = &mut self.rows
                && let Some(row) = rows.next(py)?
            {
                self.count += 1;
                return Ok(Some(row));
            }
            if !self.next_batch(py)? {
                return Ok(None);
            }
        }
    }

    /// Returns up to `most` rows.
    pub(super) fn list<'py>(&mut self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        let mut left = most;
        while left > 0 {
            if let Some(rows) = &mut self.rows {
                let added = rows.append(py, left, &list)?;
                self.count += added as u64;
                left -= added;
            }
            if left > 0 && !self.next_batch(py)? {
                break;
            }
        }
        Ok(list)
    }

    /// Reads the next batch, if there is one.
    fn next_batch(&mut self, py: Python<'_>) -> PyResult<bool> {
        (self.rows, self.batch) = (None, None);
        if self.is_over {
            return Ok(false);
        }
        let source = &mut self.source;
        let batch = signal::wait(py, || source.next());
        // Nothing comes after an error.
        self.is_over = !matches!(batch, Ok(Some(_)));
        let Some(batch) = batch? else { return Ok(false) };
        self.rows = Some(Rows::new(&batch, &self.descriptors)?);
        self.batch = Some(batch);
        Ok(true)
    }

    /// The batch that was partly handed out, without the rows that were.
    pub(super) fn rest(&mut self) -> Option<RecordBatch> {
        let left = self.rows.take().map_or(0, |rows| rows.left());
        let batch = self.batch.take().filter(|_| left > 0)?;
        Some(batch.slice(batch.num_rows() - left, left))
    }

    /// Reads the next batch for a consumer that takes batches.
    pub(super) fn next_of_source(&mut self) -> firearrow::Result<Option<RecordBatch>> {
        if self.is_over {
            return Ok(None);
        }
        let batch = self.source.next();
        self.is_over = !matches!(batch, Ok(Some(_)));
        batch
    }

    /// Ends it. A transaction of its own is committed: what is read does not change what was done.
    pub(super) fn close(self) -> firearrow::Result<()> {
        match self.source {
            Source::Cursor(cursor) if !self.is_over => cursor.close_and_commit(),
            _ => Ok(()),
        }
    }
}
