//! Results as record batches.

use crate::backend::Backend;
use crate::connection::Shared;
use crate::error::{Error, Result};
use crate::session::fetch::Fetching;
use crate::statement::Inner;
use crate::stats::{Meter, WireStats};
use crate::transaction::Transaction;
use arrow::array::{LargeBinaryArray, RecordBatch, RecordBatchReader, UInt64Array};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use firearrow_proto::api::describe::RecordCounts;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The rows of a query, read batch by batch. Memory is bounded by the limits of one batch. Dropping it [closes](Self::close) it.
pub struct Cursor {
    shared: Arc<Shared>,
    /// Given up when the cursor is closed: a prepared statement keeps others from altering its tables.
    statement: Option<Arc<Inner>>,
    fetching: Fetching,
    /// The transaction of a query that runs in one of its own.
    transaction: Option<Transaction>,
    state: State,
    /// The statement's, and its own.
    meters: [Meter; 2],
}

#[derive(Clone, Debug)]
enum State {
    Open,
    Closed,
    Failed(Error),
}

impl Cursor {
    pub(crate) fn new(statement: Arc<Inner>, fetching: Fetching, meter: Meter) -> Self {
        let shared = Arc::clone(&statement.shared);
        let meters = [statement.meter.clone(), meter];
        Self { shared, statement: Some(statement), fetching, transaction: None, state: State::Open, meters }
    }

    /// Ends `transaction` together with the cursor: commits it at the end of the rows, and rolls it back when the cursor
    /// fails or is closed before.
    #[must_use]
    pub fn owning(mut self, transaction: Transaction) -> Self {
        self.transaction = Some(transaction);
        self
    }

    /// Columns of every batch.
    pub fn schema(&self) -> SchemaRef {
        self.fetching.schema()
    }

    /// Rows that a statement with RETURNING changed, where the engine counts them.
    pub fn affected_rows(&self) -> Option<u64> {
        self.record_counts().map(|counts| counts.affected())
    }

    /// The same by what was done.
    pub fn record_counts(&self) -> Option<RecordCounts> {
        self.fetching.counts
    }

    /// What this result cost so far, from its execution on. Everything counts for the call with which it travels:
    /// preparing known SQL travels with its execution, and rows that were asked for ahead may come while another call
    /// waits. All zero for an engine in this process.
    pub fn wire_stats(&self) -> WireStats {
        self.meters[1].read()
    }

    /// Time spent making Arrow values of this result so far.
    pub fn decode_time(&self) -> Duration {
        self.fetching.decoding()
    }

    /// The next batch; `None` at the end, and from then on. A failed cursor repeats its error.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        match &self.state {
            State::Open => {}
            State::Closed => return Ok(None),
            State::Failed(error) => return Err(error.clone()),
        }
        let fetching = &mut self.fetching;
        let batch = self.shared.metered(&self.meters, async |session| session.next_batch(fetching).await);
        match batch {
            Ok(Some(batch)) => Ok(Some(batch)),
            Ok(None) => {
                self.shut(State::Closed)?;
                if let Some(transaction) = self.transaction.take() {
                    transaction.commit()?;
                }
                Ok(None)
            }
            Err(error) => {
                // The first error is the one to report.
                let _ = self.shut(State::Failed(error.clone()));
                self.transaction = None;
                Err(error)
            }
        }
    }

    /// The contents of BLOBs whose ids this cursor gave (option `blobs=lazy`), in the same order; NULL for NULL. Text
    /// is UTF-8. Hundreds travel in one round trip. Statements whose BLOBs are read get short ones along with their rows
    /// the next time, where the server can do that.
    ///
    /// # Errors
    /// [`Kind::Misuse`](crate::Kind::Misuse) once the cursor's own transaction has ended, which for
    /// [`Connection::query`](crate::Connection::query) is at its last row.
    pub fn read_blobs(&self, ids: &UInt64Array) -> Result<LargeBinaryArray> {
        let fetching = &self.fetching;
        self.shared.metered(&self.meters, async |session| fetching.read_blobs(session, ids).await)
    }

    /// Closes the cursor before its end; rows not read yet are dropped. A server that is busy with more of them is interrupted,
    /// unless it sends them ahead and the next fetch waits behind: then this waits, until it is
    /// [cancelled](crate::CancelHandle). A transaction of its own is rolled back.
    pub fn close(self) -> Result<()> {
        self.leave(Transaction::rollback)
    }

    /// [`close`](Self::close), but a transaction of its own is committed: what the statement did until here stays.
    pub fn close_and_commit(self) -> Result<()> {
        self.leave(Transaction::commit)
    }

    fn leave(mut self, end: impl FnOnce(Transaction) -> Result<()>) -> Result<()> {
        if matches!(self.state, State::Open) {
            self.shut(State::Closed)?;
        }
        self.transaction.take().map_or(Ok(()), end)
    }

    fn shut(&mut self, state: State) -> Result<()> {
        self.state = state;
        let (fetching, ends_transaction) = (&self.fetching, self.transaction.is_some());
        let closed = self.shared.finish_metered(&self.meters, async |session| {
            if ends_transaction {
                session.backend.expect_more();
            }
            session.close_fetching(fetching).await
        });
        self.statement = None;
        closed
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        if matches!(self.state, State::Open)
            && let Err(error) = self.shut(State::Closed)
        {
            tracing::debug!(%error, "closing a cursor failed");
        }
    }
}

impl Iterator for Cursor {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.next_batch() {
            Ok(batch) => batch.map(Ok),
            Err(error) => {
                // A stream ends after its error; next_batch would repeat it for ever.
                self.state = State::Closed;
                Some(Err(error.into()))
            }
        }
    }
}

impl RecordBatchReader for Cursor {
    fn schema(&self) -> SchemaRef {
        self.fetching.schema()
    }
}

impl fmt::Debug for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor").field("state", &self.state).finish_non_exhaustive()
    }
}
