//! The rows of an execution.

use crate::api::{Blocking, ready};
use crate::connection::Shared;
use crate::flow::{Buffer, FAILED, FEW, Limit, Opened};
use crate::{error, signal};
use arrow::array::RecordBatch;
use firearrow::{CancelToken, ReadOptions, WireStats};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::sync::Arc;

/// A result, of which some rows may have been handed out.
pub(crate) struct Fetched {
    pub(super) buffer: Buffer,
    opened: Opened<Blocking>,
}

impl Fetched {
    pub(super) fn new(opened: Opened<Blocking>, arrow: &Arc<ReadOptions>) -> Self {
        Self { buffer: Buffer::new(opened.columns(), arrow), opened }
    }

    pub(super) fn wire_stats(&self) -> Option<WireStats> {
        self.opened.wire_stats()
    }

    /// Returns the next row.
    pub(super) fn next<'py>(
        &mut self,
        py: Python<'py>,
        shared: &Shared,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        loop {
            if let Some(row) = self.buffer.next(py)? {
                return Ok(Some(row));
            }
            let is_more = self.next_batches(py, shared, 1, None)?;
            // Afterwards, what a handler raises would take the row with it.
            py.check_signals()?;
            if !is_more {
                return Ok(None);
            }
        }
    }

    /// Returns up to `most` rows. After an error there are no others.
    pub(super) fn list<'py>(
        &mut self,
        py: Python<'py>,
        shared: &Shared,
        most: usize,
        limit: Limit,
    ) -> PyResult<Bound<'py, PyList>> {
        let rows = self.collect(py, shared, most, limit);
        rows.inspect_err(|_| self.buffer.fail())
    }

    fn collect<'py>(
        &mut self,
        py: Python<'py>,
        shared: &Shared,
        most: usize,
        limit: Limit,
    ) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        let reading = shared.whole.begin();
        let mut left = most;
        let mut bytes = 0;
        while left > 0 {
            bytes += limit.bytes(self.buffer.waiting());
            limit
                .check(list.len() as u64 + self.buffer.left(), bytes)
                .map_err(|failed| failed.into_exception(py))?;
            left -= self.buffer.append(py, left, &list)?;
            // Nobody was woken by signals that came while rows were made.
            py.check_signals()?;
            if left > 0 && !self.next_batches(py, shared, left, Some(&reading.token))? {
                py.check_signals()?;
                break;
            }
        }
        Ok(list)
    }

    /// Moves to a row, counted from 0, if there is one.
    pub(super) fn scroll(&mut self, py: Python<'_>, shared: &Shared, row: u64) -> PyResult<bool> {
        if self.buffer.has_failed() {
            return Err(error::programming(py, FAILED));
        }
        let opened = &mut self.opened;
        let found = shared.call(py, || signal::wait(py, || Ok(ready(opened.scroll(row)))))?;
        let found = found.map_err(|failed| failed.into_exception(py))?;
        let is_there = found.is_some();
        if let Some(batch) = found {
            self.buffer.go_to(row, batch);
        }
        Ok(is_there)
    }

    /// Reads the next batch, if there is one, within the token of a longer call; and what follows a short one, if so many rows
    /// are wanted: that there are no more is mostly known already.
    fn next_batches(
        &mut self,
        py: Python<'_>,
        shared: &Shared,
        wanted: usize,
        token: Option<&CancelToken>,
    ) -> PyResult<bool> {
        if self.buffer.has_failed() {
            return Err(error::programming(py, FAILED));
        }
        if self.buffer.is_over() {
            return Ok(false);
        }
        let opened = &mut self.opened;
        let mut next = || -> firearrow::Result<Vec<Option<RecordBatch>>> {
            let (mut batches, mut rows) = (Vec::new(), 0);
            while let Some(batch) = ready(opened.next())? {
                rows += batch.num_rows();
                batches.push(Some(batch));
                if rows > FEW || rows >= wanted {
                    return Ok(batches);
                }
            }
            batches.push(None);
            Ok(batches)
        };
        let batches = shared.call(py, || {
            signal::wait_briefly(py, || match token {
                Some(token) => token.run(next),
                None => next(),
            })
        });
        match batches {
            Ok(batches) => {
                let is_any = batches.iter().any(Option::is_some);
                batches
                    .into_iter()
                    .try_for_each(|batch| self.buffer.feed(Ok::<_, PyErr>(batch)).map(drop))?;
                Ok(is_any)
            }
            Err(failed) => self.buffer.feed(Err(failed)),
        }
    }

    /// Reads the next batch for a consumer that takes batches.
    pub(super) fn next_of_source(&mut self) -> firearrow::Result<Option<RecordBatch>> {
        if self.buffer.has_failed() {
            return Err(firearrow::Error::other(FAILED));
        }
        if self.buffer.is_over() {
            return Ok(None);
        }
        self.buffer.feed(ready(self.opened.next()))?;
        Ok(self.buffer.take().pop_front())
    }

    /// Whether all rows were handed out, and nothing of it is left on the server.
    pub(super) fn is_done(&self) -> bool {
        self.buffer.is_complete() && !self.opened.stays_open()
    }

    /// Ends it.
    pub(super) fn close(self) -> firearrow::Result<()> {
        match self.buffer.is_over() && !self.opened.stays_open() {
            true => Ok(()),
            false => ready(self.opened.close()),
        }
    }
}
