//! The rows of an execution, on the side of the client.

use crate::api::Api;
use crate::describe::Columns;
use arrow::array::RecordBatch;
use firearrow::WireStats;
use std::collections::VecDeque;

/// Where batches come from.
pub(crate) enum Source<A: Api> {
    Cursor(Box<A::Cursor>),
    Batches(VecDeque<RecordBatch>),
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
        }
    }

    pub(crate) fn wire_stats(&self) -> Option<WireStats> {
        match &self.source {
            Source::Cursor(cursor) => Some(A::cursor_stats(cursor)),
            Source::Batches(_) => None,
        }
    }

    /// Ends it before its last row. A transaction of its own is committed: what is read does not change what was done.
    pub(crate) async fn close(self) -> firearrow::Result<()> {
        match self.source {
            Source::Cursor(cursor) => A::close_and_commit(*cursor).await,
            Source::Batches(_) => Ok(()),
        }
    }
}
