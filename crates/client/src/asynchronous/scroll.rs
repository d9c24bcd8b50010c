//! Results whose rows are fetched in any order.

use super::call::given_up;
use super::shared::{Shared, Work};
use super::statement::{Inner, Statement};
use super::{Transaction, flow};
use crate::error::{Error, Kind, Result};
use crate::params::Params;
use crate::scroll::Position;
use crate::session::run::Verb;
use crate::session::scroll::Scrolling;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use std::fmt;
use std::mem;
use std::sync::Arc;
use tokio::sync::Mutex;

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
    /// The prepared statement: it must not go before the cursor.
    _statement: Option<Arc<Inner>>,
    /// Locked by whoever has the session, so that nobody waits for it.
    scrolling: Arc<Mutex<Scrolling>>,
    schema: SchemaRef,
    is_native: bool,
    state: State,
    is_closed: bool,
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
    pub async fn query_scrollable(
        &self,
        transaction: &Transaction,
        parameters: impl Into<Params>,
    ) -> Result<ScrollCursor> {
        let (inner, how, parameters) = (Arc::clone(&self.inner), self.how.clone(), parameters.into());
        let id = transaction.id;
        let open = flow!(session => {
            session.run(&inner.prepared, id, Verb::Scroll, &parameters, &how).await?.scrolling()
        });
        ScrollCursor::open(&self.inner.shared, Some(&self.inner), open).await
    }
}

impl ScrollCursor {
    pub(super) async fn open(
        shared: &Arc<Shared>,
        statement: Option<&Arc<Inner>>,
        open: Work<Scrolling>,
    ) -> Result<Self> {
        let (owner, statement) = (Arc::clone(shared), statement.cloned());
        let open = flow!(session => {
            let scrolling = open(session).await?;
            Ok(Self {
                shared: owner,
                _statement: statement,
                schema: scrolling.schema(),
                is_native: scrolling.is_native(),
                scrolling: Arc::new(Mutex::new(scrolling)),
                state: State::Open,
                is_closed: false,
            })
        });
        shared.run(open).await
    }

    /// Columns of every batch.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Whether the engine scrolls; otherwise the client keeps the rows.
    pub fn is_native(&self) -> bool {
        self.is_native
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
    pub async fn fetch(&mut self, to: Position, rows: usize) -> Result<Option<RecordBatch>> {
        if let State::Failed(error) = &self.state {
            return Err(error.clone());
        }
        if rows == 0 {
            return Err(Error::new(Kind::Misuse, "0 rows were asked for; a fetch takes at least 1"));
        }
        // Should this future be dropped, nobody knows where the cursor is.
        let before = mem::replace(&mut self.state, State::Failed(given_up()));
        let scrolling = Arc::clone(&self.scrolling);
        let fetch = flow!(session => {
            let mut scrolling = scrolling.lock().await;
            session.scroll(&mut scrolling, to, rows).await
        });
        let batch = self.shared.run(fetch).await;
        self.state = before;
        if let Err(error) = &batch {
            // Report the original error.
            let _ = self.shut(State::Failed(error.clone())).await;
        }
        batch
    }

    /// Returns up to `rows` rows after the current position.
    pub async fn next(&mut self, rows: usize) -> Result<Option<RecordBatch>> {
        self.fetch(Position::Next, rows).await
    }

    /// Returns up to `rows` rows before the current position, the nearest first.
    pub async fn prior(&mut self, rows: usize) -> Result<Option<RecordBatch>> {
        self.fetch(Position::Prior, rows).await
    }

    /// Returns the first row.
    pub async fn first(&mut self) -> Result<Option<RecordBatch>> {
        self.fetch(Position::First, 1).await
    }

    /// Returns the last row.
    pub async fn last(&mut self) -> Result<Option<RecordBatch>> {
        self.fetch(Position::Last, 1).await
    }

    /// Returns the row with this number, counted from 1, or from the end when negative.
    pub async fn absolute(&mut self, row: i64) -> Result<Option<RecordBatch>> {
        self.fetch(Position::Absolute(row), 1).await
    }

    /// Returns the row this many rows ahead, or back when negative.
    pub async fn relative(&mut self, by: i64) -> Result<Option<RecordBatch>> {
        self.fetch(Position::Relative(by), 1).await
    }

    /// Closes the cursor.
    pub async fn close(mut self) -> Result<()> {
        match self.state {
            State::Open => self.shut(State::Closed).await,
            State::Failed(_) if !self.is_closed => self.shut(State::Closed).await,
            State::Closed | State::Failed(_) => Ok(()),
        }
    }

    async fn shut(&mut self, state: State) -> Result<()> {
        (self.state, self.is_closed) = (state, true);
        let scrolling = Arc::clone(&self.scrolling);
        let close = flow!(session => {
            let scrolling = scrolling.lock().await;
            session.close_scrolling(&scrolling).await
        });
        self.shared.finish(Vec::new(), close).await
    }
}

impl Drop for ScrollCursor {
    fn drop(&mut self) {
        if self.is_closed {
            return;
        }
        let scrolling = Arc::clone(&self.scrolling);
        self.shared.discard(flow!(session => {
            let scrolling = scrolling.lock().await;
            session.close_scrolling(&scrolling).await
        }));
    }
}

impl fmt::Debug for ScrollCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScrollCursor")
            .field("is_native", &self.is_native)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
