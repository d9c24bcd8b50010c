//! The life of a cursor: rows until its end, then everything that it owns ends with it.

use super::Session;
use super::fetch::Fetching;
use crate::backend::{Backend, End, StatementId, TransactionId};
use crate::error::{Error, Kind, Result};
use ::arrow::array::{LargeBinaryArray, RecordBatch, UInt64Array};
use ::arrow::datatypes::SchemaRef;
use firearrow_proto::api::describe::RecordCounts;
use std::time::Duration;

/// A result that is being read, and everything that ends with it.
pub(crate) struct Reading {
    fetching: Fetching,
    /// A statement that was prepared for this result.
    statement: Option<StatementId>,
    /// The transaction of a query that runs in a separate one.
    transaction: Option<TransactionId>,
    /// Whether other connections read the rows.
    is_led: bool,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Open,
    Closed,
    Failed(Error),
}

impl Reading {
    pub(crate) fn new(fetching: Fetching) -> Self {
        Self { fetching, statement: None, transaction: None, is_led: false, state: State::Open }
    }

    /// Frees `statement` together with the result, because a prepared statement keeps others from altering its tables.
    pub(crate) fn releasing(self, statement: StatementId) -> Self {
        Self { statement: Some(statement), ..self }
    }

    /// Ends `transaction` at its end.
    pub(crate) fn owning(self, transaction: TransactionId) -> Self {
        Self { transaction: Some(transaction), ..self }
    }

    /// Other connections read its rows.
    pub(super) fn led(self) -> Self {
        Self { is_led: true, ..self }
    }

    pub(crate) fn own(&mut self, transaction: TransactionId) {
        self.transaction = Some(transaction);
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        self.fetching.schema()
    }

    pub(crate) fn counts(&self) -> Option<RecordCounts> {
        self.fetching.counts
    }

    /// The transaction that its BLOBs belong to.
    pub(crate) fn transaction(&self) -> TransactionId {
        self.fetching.transaction
    }

    /// Time spent decoding.
    pub(crate) fn decoding(&self) -> Duration {
        self.fetching.decoding()
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    /// Whether no more rows will come, known without asking.
    pub(crate) fn is_drained(&self) -> bool {
        !self.is_open() || self.fetching.is_drained()
    }

    /// Whether nothing is left to end.
    pub(crate) fn is_over(&self) -> bool {
        !self.is_open() && self.statement.is_none() && self.transaction.is_none()
    }

    /// No error is repeated from here on.
    pub(crate) fn forget_failure(&mut self) {
        if !self.is_open() {
            self.state = State::Closed;
        }
    }

    /// The end or failure that it repeats. `None` while it is open.
    pub(crate) fn outcome(&self) -> Option<Result<()>> {
        match &self.state {
            State::Open => None,
            State::Closed => Some(Ok(())),
            State::Failed(error) => Some(Err(error.clone())),
        }
    }
}

impl<B: Backend> Session<B> {
    /// Returns the next batch; `None` at the end, where a transaction that it owns is committed. A failed one repeats
    /// its error.
    pub(crate) async fn next(&mut self, reading: &mut Reading) -> Result<Option<RecordBatch>> {
        if let Some(outcome) = reading.outcome() {
            return outcome.map(|()| None);
        }
        match self.next_batch(&mut reading.fetching).await {
            Ok(Some(batch)) => Ok(Some(batch)),
            Ok(None) => {
                reading.state = State::Closed;
                self.shut(reading).await?;
                let Some(transaction) = reading.transaction.take() else { return Ok(None) };
                let only_reads = self.options_of(transaction).is_some_and(|options| options.read_only);
                if let Err(error) = self.end(transaction, End::Commit).await {
                    let is_lost = self.backend.is_failed() || error.kind() == Kind::Closed;
                    self.give_up(transaction).await;
                    if !(reading.is_led && only_reads && is_lost) {
                        return Err(error);
                    }
                    // The other connections have read all rows, and there is nothing to commit.
                    tracing::warn!(%error, "the connection of a query that others have read was lost");
                }
                Ok(None)
            }
            Err(error) => Err(self.fail(reading, error).await),
        }
    }

    /// Ends it with an error, which it repeats from then on.
    pub(crate) async fn fail(&mut self, reading: &mut Reading, error: Error) -> Error {
        reading.state = State::Failed(error.clone());
        // Report the original error.
        let _ = self.shut(reading).await;
        if let Some(transaction) = reading.transaction.take() {
            self.give_up(transaction).await;
        }
        error
    }

    /// Closes it, wherever it is, and ends a transaction that it owns.
    pub(crate) async fn leave(&mut self, reading: &mut Reading, end: End) -> Result<()> {
        let shut = match reading.is_open() {
            true => {
                reading.state = State::Closed;
                self.shut(reading).await
            }
            false => Ok(()),
        };
        let Some(transaction) = reading.transaction.take() else { return shut };
        if let Err(error) = shut {
            self.give_up(transaction).await;
            return Err(error);
        }
        // Closing the rows can be cancelled, undoing what they belong to cannot.
        let ended = match end {
            End::Rollback => self.abandon(transaction).await,
            _ => self.end(transaction, end).await,
        };
        if ended.is_err() {
            self.give_up(transaction).await;
        }
        ended
    }

    /// Closes the cursor and frees its statement, in the write of the end of its transaction if that follows.
    async fn shut(&mut self, reading: &mut Reading) -> Result<()> {
        let statement = reading.statement.take();
        self.backend.expect_more(statement.is_some() || reading.transaction.is_some());
        let closed = self.close_fetching(&reading.fetching).await;
        if let Some(statement) = statement {
            self.backend.expect_more(reading.transaction.is_some());
            self.release(statement).await;
        }
        closed
    }

    /// Returns the contents of BLOBs whose ids it returned.
    pub(crate) async fn read_blobs_of(
        &mut self,
        reading: &Reading,
        ids: &UInt64Array,
    ) -> Result<LargeBinaryArray> {
        self.expect_open(reading.fetching.transaction)?;
        reading.fetching.read_blobs(self, ids).await
    }

    /// Returns the contents of the first of these BLOBs, as [`read_short_blobs`](Self::read_short_blobs) has it.
    pub(crate) async fn read_short_blobs_of(
        &mut self,
        reading: &Reading,
        ids: &UInt64Array,
        longest: u64,
        enough: usize,
    ) -> Result<LargeBinaryArray> {
        let Fetching { transaction, reusable, .. } = &reading.fetching;
        self.read_short_blobs(*transaction, ids, longest, enough, &reusable.habit).await
    }
}
