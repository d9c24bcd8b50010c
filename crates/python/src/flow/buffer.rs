//! Rows that have arrived, and are handed out to Python.

use crate::describe::Columns;
use crate::rows::Rows;
use arrow::array::RecordBatch;
use firearrow::ReadOptions;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::collections::VecDeque;
use std::sync::Arc;

/// Batches of a result, of which some rows may have been handed out.
pub(crate) struct Buffer {
    /// Its address tells one execution from another.
    columns: Arc<Columns>,
    /// How Arrow data is asked for.
    arrow: Arc<ReadOptions>,
    waiting: VecDeque<RecordBatch>,
    /// What is left of the batch that is being handed out.
    rows: Option<(Rows, RecordBatch)>,
    count: u64,
    is_over: bool,
    has_failed: bool,
}

/// What is said of a result after an error. It must not look like one that was read to its end.
pub(crate) const FAILED: &str = "reading this result has failed: execute the query again";

impl Buffer {
    pub(crate) fn new(columns: Columns, arrow: &Arc<ReadOptions>) -> Self {
        Self {
            columns: Arc::new(columns),
            arrow: Arc::clone(arrow),
            waiting: VecDeque::new(),
            rows: None,
            count: 0,
            is_over: false,
            has_failed: false,
        }
    }

    pub(crate) fn columns(&self) -> &Arc<Columns> {
        &self.columns
    }

    /// How Arrow data is asked for.
    pub(crate) fn arrow(&self) -> &Arc<ReadOptions> {
        &self.arrow
    }

    /// Rows that were handed out.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Whether no batch will come any more.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether no batch will come because of an error.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Whether all rows have arrived.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_over && !self.has_failed
    }

    /// Whether all rows were handed out, and no batch will come.
    pub(crate) fn is_done(&self) -> bool {
        self.is_complete() && !self.has_rows()
    }

    pub(crate) fn has_rows(&self) -> bool {
        !self.waiting.is_empty() || self.rows.as_ref().is_some_and(|(rows, _)| rows.left() > 0)
    }

    /// Takes the answer to a request for a batch. Nothing comes after the end or an error.
    pub(crate) fn feed<E>(&mut self, batch: Result<Option<RecordBatch>, E>) -> Result<bool, E> {
        self.is_over = !matches!(batch, Ok(Some(_)));
        self.has_failed |= batch.is_err();
        let batch = batch?.filter(|_| !self.has_failed);
        let is_more = batch.is_some();
        self.waiting.extend(batch);
        Ok(is_more)
    }

    /// Hands out no more rows: some that were taken have not reached the caller, who must not miss them without a word.
    pub(crate) fn fail(&mut self) {
        (self.waiting, self.rows) = (VecDeque::new(), None);
        self.has_failed = true;
    }

    /// Goes to the row of this number, counted from 0, which begins a batch.
    pub(crate) fn go_to(&mut self, row: u64, batch: RecordBatch) {
        (self.waiting, self.rows) = (VecDeque::from([batch]), None);
        (self.count, self.is_over) = (row, false);
    }

    /// Returns the next row, if it has arrived.
    pub(crate) fn next<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        loop {
            if let Some((rows, _)) = &mut self.rows
                && let Some(row) = rows.next(py)?
            {
                self.count += 1;
                return Ok(Some(row));
            }
            if !self.advance()? {
                return Ok(None);
            }
        }
    }

    /// Appends up to `most` rows that have come to a list. Returns how many.
    pub(crate) fn append(&mut self, py: Python<'_>, most: usize, to: &Bound<'_, PyList>) -> PyResult<usize> {
        let mut left = most;
        while left > 0 {
            if let Some((rows, _)) = &mut self.rows {
                let added = rows.append(py, left, to)?;
                self.count += added as u64;
                left -= added;
            }
            if left > 0 && !self.advance()? {
                break;
            }
        }
        Ok(most - left)
    }

    /// Goes on to the next batch that has arrived.
    fn advance(&mut self) -> PyResult<bool> {
        self.rows = None;
        let Some(batch) = self.waiting.pop_front() else { return Ok(false) };
        self.rows = Some((Rows::new(&batch, &self.columns)?, batch));
        Ok(true)
    }

    /// Batches that have arrived, of which nothing was handed out.
    pub(crate) fn waiting(&self) -> &VecDeque<RecordBatch> {
        &self.waiting
    }

    /// Rows that have arrived and were not handed out.
    pub(crate) fn left(&self) -> u64 {
        let waiting: usize = self.waiting.iter().map(RecordBatch::num_rows).sum();
        (waiting + self.rows.as_ref().map_or(0, |(rows, _)| rows.left())) as u64
    }

    /// Takes the batches that have arrived, without the rows that were handed out.
    pub(crate) fn take(&mut self) -> VecDeque<RecordBatch> {
        let mut batches = std::mem::take(&mut self.waiting);
        if let Some((rows, batch)) = self.rows.take() {
            let left = rows.left();
            if left > 0 {
                batches.push_front(batch.slice(batch.num_rows() - left, left));
            }
        }
        batches
    }
}
