//! The rows of an execution, on the side of the client.

use crate::api::Api;
use crate::describe::Columns;
use crate::failure::Failure;
use arrow::array::RecordBatch;
use firearrow::{Position, WireStats};
use std::collections::VecDeque;

/// Rows that scrollable cursors read with one request.
const AHEAD: usize = 200;

/// Where batches come from.
pub(crate) enum Source<A: Api> {
    Cursor(Box<A::Cursor>),
    Batches(VecDeque<RecordBatch>),
    /// Rows in any order, of which `read` are before the next one to read. If `is_lost`, the cursor is elsewhere.
    Scroll {
        cursor: Box<A::ScrollCursor>,
        read: u64,
        is_lost: bool,
    },
}

/// A result that is open.
pub(crate) struct Opened<A: Api> {
    source: Source<A>,
    /// Stays prepared as long as its cursor is open.
    statement: A::Statement,
}

impl<A: Api> Opened<A> {
    pub(crate) fn new(statement: A::Statement, source: Source<A>) -> Self {
        Self { source, statement }
    }

    pub(crate) fn columns(&self) -> Columns {
        Columns::new(A::info(&self.statement))
    }

    pub(crate) async fn next(&mut self) -> firearrow::Result<Option<RecordBatch>> {
        match &mut self.source {
            Source::Cursor(cursor) => A::next_batch(cursor).await,
            Source::Batches(batches) => Ok(batches.pop_front()),
            Source::Scroll { cursor, read, is_lost } => {
                let to = if *is_lost { absolute(*read) } else { Position::Next };
                let batch = A::scroll(cursor, to, AHEAD).await?;
                *read += batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
                *is_lost = false;
                Ok(batch)
            }
        }
    }

    /// Moves to a row, counted from 0, and reads it with some of those after it. `None` if there is no such row; then the place
    /// is the same as before.
    pub(crate) async fn scroll(&mut self, row: u64) -> Result<Option<RecordBatch>, Failure> {
        let Source::Scroll { cursor, read, is_lost } = &mut self.source else {
            return Err(Failure::Programming(
                "this result cannot scroll: execute a query with cursor(scrollable=True)",
            ));
        };
        *is_lost = true;
        let batch = A::scroll(cursor, absolute(row), AHEAD).await?;
        if let Some(batch) = &batch {
            *read = row + batch.num_rows() as u64;
            *is_lost = false;
        }
        Ok(batch)
    }

    /// Whether it has to be closed although all rows were read.
    pub(crate) fn stays_open(&self) -> bool {
        matches!(self.source, Source::Scroll { .. })
    }

    pub(crate) fn wire_stats(&self) -> Option<WireStats> {
        match &self.source {
            Source::Cursor(cursor) => Some(A::cursor_stats(cursor)),
            Source::Batches(_) | Source::Scroll { .. } => None,
        }
    }

    /// Ends it before its last row. A transaction of its own is committed: what is read does not change what was done.
    pub(crate) async fn close(self) -> firearrow::Result<()> {
        match self.source {
            Source::Cursor(cursor) => A::close_and_commit(*cursor).await,
            Source::Batches(_) => Ok(()),
            Source::Scroll { cursor, .. } => A::close_scroll(*cursor).await,
        }
    }
}

/// The place of a row that is counted from 0.
fn absolute(row: u64) -> Position {
    Position::Absolute(i64::try_from(row).map_or(i64::MAX, |row| row.saturating_add(1)))
}
