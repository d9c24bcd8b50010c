//! Results whose rows are fetched in any order.

use super::Transaction;
use super::shared::{BlockingSession, Shared};
use super::statement::{Inner, Statement};
use crate::error::{Error, Kind, Result};
use crate::params::Params;
use crate::scroll::Position;
use crate::session::run::Verb;
use crate::session::scroll::Scrolling;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use std::fmt;
use std::slice;
use std::sync::Arc;

/// The rows of a query, fetched in any order. Dropping it closes it.
///
/// Firebird 5.0 and all embedded engines scroll natively: each call is one round trip, or two where
/// [`fetch`](Self::fetch) wants several rows at a position that must be found first. For older servers (before protocol
/// 18) the client keeps the rows that were passed, and reads no farther than needed; [`last`](Self::last) and positions
/// counted from the end read all of them. Apart from [`is_native`](Self::is_native), the time and the
/// [memory](crate::ScrollOptions::memory) they behave alike. Both read ahead, so that the failure of a row may be
/// reported before that row is asked for.
///
/// Fetches return as many rows as requested, whatever the [`BatchLimits`](crate::BatchLimits) of the statement. After
/// an error the cursor is closed and repeats it. Where an error names a row, rows are counted in the order in which
/// they came.
pub struct ScrollCursor {
    shared: Arc<Shared>,
    /// The prepared statement, until the cursor is closed.
    statement: Option<Arc<Inner>>,
    scrolling: Scrolling,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Open,
    Closed,
    Failed(Error),
}

impl Statement {
    /// Executes it and opens its result so that rows can be fetched in any order. One cursor at a time may be open on a
    /// statement. A limit set by [`with_timeout`](Self::with_timeout) includes the time until the cursor is closed.
    ///
    /// # Errors
    /// [`Kind::Misuse`] if it returns no rows or has a cursor open; otherwise as [`query`](Self::query).
    pub fn query_scrollable(
        &self,
        transaction: &Transaction,
        parameters: impl Into<Params>,
    ) -> Result<ScrollCursor> {
        let meters = slice::from_ref(&self.inner.meter);
        let done = self.run(transaction.id, Verb::Scroll, &parameters.into(), meters)?;
        let statement = Some(Arc::clone(&self.inner));
        Ok(ScrollCursor::new(&self.inner.shared, statement, done.scrolling()?))
    }
}

impl ScrollCursor {
    /// Of SQL text.
    pub(super) fn open(
        shared: &Arc<Shared>,
        open: impl AsyncFnOnce(&mut BlockingSession) -> Result<Scrolling>,
    ) -> Result<Self> {
        Ok(Self::new(shared, None, shared.run(open)?))
    }

    fn new(shared: &Arc<Shared>, statement: Option<Arc<Inner>>, scrolling: Scrolling) -> Self {
        Self { shared: Arc::clone(shared), statement, scrolling, state: State::Open }
    }
}

impl ScrollCursor {
    /// Columns of every batch.
    pub fn schema(&self) -> SchemaRef {
        self.scrolling.schema()
    }

    /// Whether the engine scrolls; otherwise the client keeps the rows.
    pub fn is_native(&self) -> bool {
        self.scrolling.is_native()
    }

    /// Moves to a row and fetches it together with those after it (those before it, for [`Position::Prior`]), `rows` in
    /// all. The rows come in the order in which they are passed: those of [`Position::Prior`] backwards.
    ///
    /// The cursor is then on the last row fetched. If fewer rows exist, those are returned and the cursor is after the
    /// last row (before the first one, for [`Position::Prior`]). Returns `None` if there is no row at the position.
    ///
    /// # Errors
    /// [`Kind::Misuse`] for 0 rows, and when the transaction has ended; [`Kind::Memory`] for more rows than
    /// [`ScrollOptions::memory`](crate::ScrollOptions::memory) allows.
    pub fn fetch(&mut self, to: Position, rows: usize) -> Result<Option<RecordBatch>> {
        if let State::Failed(error) = &self.state {
            return Err(error.clone());
        }
        if rows == 0 {
            return Err(Error::new(Kind::Misuse, "0 rows were asked for; a fetch takes at least 1"));
        }
        let scrolling = &mut self.scrolling;
        let batch = self.shared.run(async |session| session.scroll(scrolling, to, rows).await);
        batch.inspect_err(|error| {
            // Report the original error.
            let _ = self.shut(State::Failed(error.clone()));
        })
    }

    /// Returns up to `rows` rows after the current position.
    pub fn next(&mut self, rows: usize) -> Result<Option<RecordBatch>> {
        self.fetch(Position::Next, rows)
    }

    /// Returns up to `rows` rows before the current position, the nearest first.
    pub fn prior(&mut self, rows: usize) -> Result<Option<RecordBatch>> {
        self.fetch(Position::Prior, rows)
    }

    /// Returns the first row.
    pub fn first(&mut self) -> Result<Option<RecordBatch>> {
        self.fetch(Position::First, 1)
    }

    /// Returns the last row.
    pub fn last(&mut self) -> Result<Option<RecordBatch>> {
        self.fetch(Position::Last, 1)
    }

    /// Returns the row with this number, counted from 1, or from the end when negative.
    pub fn absolute(&mut self, row: i64) -> Result<Option<RecordBatch>> {
        self.fetch(Position::Absolute(row), 1)
    }

    /// Returns the row this many rows ahead, or back when negative.
    pub fn relative(&mut self, by: i64) -> Result<Option<RecordBatch>> {
        self.fetch(Position::Relative(by), 1)
    }

    /// Closes the cursor.
    pub fn close(mut self) -> Result<()> {
        match self.state {
            State::Open => self.shut(State::Closed),
            State::Closed | State::Failed(_) => Ok(()),
        }
    }

    fn shut(&mut self, state: State) -> Result<()> {
        self.state = state;
        let scrolling = &self.scrolling;
        let closed = self.shared.finish(&[], async |session| session.close_scrolling(scrolling).await);
        self.statement = None;
        closed
    }
}

impl Drop for ScrollCursor {
    fn drop(&mut self) {
        if matches!(self.state, State::Open)
            && let Err(error) = self.shut(State::Closed)
        {
            tracing::debug!(%error, "closing a cursor failed");
        }
    }
}

impl fmt::Debug for ScrollCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScrollCursor")
            .field("is_native", &self.is_native())
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
