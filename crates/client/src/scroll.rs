//! Results whose rows are fetched in any order.

use crate::backend::Message;
use crate::error::{Error, Kind, Result};
use crate::params::Params;
use crate::session::scroll::Scrolling;
use crate::statement::{Inner, Statement};
use crate::transaction::Transaction;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use std::fmt;
use std::sync::Arc;

/// Where a [`ScrollCursor`] goes. There is a place before the first row, where a cursor begins, and one behind the last
/// row; neither has a row to fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Position {
    /// One row on; from before the first row to the first.
    Next,
    /// One row back; from behind the last row to the last.
    Prior,
    /// To the first row.
    First,
    /// To the last row.
    Last,
    /// To this row, counted from 1; from the end when negative, −1 being the last. 0 is before the first row.
    Absolute(i64),
    /// So many rows on, back when negative. 0 is the same row again.
    Relative(i64),
}

/// How a [`ScrollCursor`] works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScrollOptions {
    /// Most bytes of rows in memory: of one fetch where the engine scrolls, and elsewhere of all rows read so far. What
    /// needs more fails with [`Kind::Memory`]. 256 MiB by default.
    pub memory: usize,
    /// Keep the rows here although the engine could scroll: then moves among rows that were read once cost nothing.
    pub keep_rows: bool,
}

impl Default for ScrollOptions {
    fn default() -> Self {
        Self { memory: 256 << 20, keep_rows: false }
    }
}

/// The rows of a query, fetched in any order. Dropping it closes it.
///
/// Firebird 5.0 scrolls by itself, as do all embedded engines: each call is one round trip, or two where
/// [`fetch`](Self::fetch) is asked for several rows at a place that has to be found first. For older servers
/// (before protocol 18) the rows that were passed are kept on this side, and read no farther than is needed;
/// [`last`](Self::last) and positions counted from the end read all of them. Apart from
/// [`is_native`](Self::is_native), the time and the [memory](ScrollOptions::memory) they behave alike. Both read ahead, so
/// that the failure of a row may be reported before that row is asked for.
///
/// Fetches bring as many rows as are asked for, whatever the [`BatchLimits`](crate::BatchLimits) of the statement. After
/// an error the cursor is closed and repeats it. Where an error names a row, rows are counted in the order in which they
/// came.
pub struct ScrollCursor {
    statement: Arc<Inner>,
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
    /// Sets how scrollable cursors of this statement work.
    #[must_use]
    pub fn with_scroll_options(mut self, options: ScrollOptions) -> Self {
        self.scroll = options;
        self
    }

    /// Runs it and opens its result so that rows can be fetched in any order. One cursor at a time may be open on a
    /// statement. A limit set by [`with_timeout`](Self::with_timeout) includes the time until the cursor is closed.
    ///
    /// # Errors
    /// [`Kind::Misuse`] if it gives no rows or has a cursor open; else as [`query`](Self::query).
    pub fn query_scrollable(
        &self,
        transaction: &Transaction,
        parameters: impl Into<Params>,
    ) -> Result<ScrollCursor> {
        if !self.has_rows() {
            return Err(Error::new(Kind::Misuse, "the statement gives no rows: use execute, not query"));
        }
        let id = transaction.id()?;
        let parameters = parameters.into();
        let scrolling = self.inner.shared.run(async |session| {
            let prepared = &self.inner.prepared;
            let bound = session.bind(prepared, id, parameters.batch(), self.write.time_rounding).await?;
            let message = bound.as_ref().map(|bound| Message { layout: &bound.layout, bytes: &bound.bytes });
            session.set_timeout(prepared, self.timeout)?;
            session.open_scrolling(prepared, id, message, &self.read, self.limits, self.scroll).await
        })?;
        Ok(ScrollCursor { statement: Arc::clone(&self.inner), scrolling, state: State::Open })
    }
}

impl Transaction {
    /// Runs a query whose rows can be fetched in any order; see [`Statement::query_scrollable`].
    pub fn query_scrollable(&self, sql: &str) -> Result<ScrollCursor> {
        let recalled = self.recall(sql)?;
        match recalled.query_scrollable(self, ()) {
            Err(error) if self.shall_prepare_anew(sql, &recalled, &error) => {
                drop(recalled);
                self.prepare(sql)?.query_scrollable(self, ())
            }
            result => result,
        }
    }
}

impl ScrollCursor {
    /// Columns of every batch.
    pub fn schema(&self) -> SchemaRef {
        self.scrolling.schema()
    }

    /// Whether the engine scrolls; otherwise the rows are kept on this side.
    pub fn is_native(&self) -> bool {
        self.scrolling.is_native()
    }

    /// Goes to a row and fetches it together with those after it (those before it, for [`Position::Prior`]), `rows` in
    /// all. The rows come in the order in which they are passed: those of [`Position::Prior`] backwards.
    ///
    /// The place is that of the last row fetched. If there are fewer rows than were asked for, those that exist come,
    /// and the place is behind the last row (before the first one, for [`Position::Prior`]). `None` if there is no row at
    /// the position at all.
    ///
    /// # Errors
    /// [`Kind::Misuse`] for 0 rows, and when the transaction has ended; [`Kind::Memory`] for more rows than
    /// [`ScrollOptions::memory`] allows.
    pub fn fetch(&mut self, to: Position, rows: usize) -> Result<Option<RecordBatch>> {
        if let State::Failed(error) = &self.state {
            return Err(error.clone());
        }
        if rows == 0 {
            return Err(Error::new(Kind::Misuse, "0 rows were asked for; a fetch takes at least 1"));
        }
        let scrolling = &mut self.scrolling;
        let batch = self.statement.shared.run(async |session| session.scroll(scrolling, to, rows).await);
        batch.inspect_err(|error| {
            // The first error is the one to report.
            let _ = self.shut(State::Failed(error.clone()));
        })
    }

    /// Up to `rows` rows behind the place.
    pub fn next(&mut self, rows: usize) -> Result<Option<RecordBatch>> {
        self.fetch(Position::Next, rows)
    }

    /// Up to `rows` rows before the place, the nearest first.
    pub fn prior(&mut self, rows: usize) -> Result<Option<RecordBatch>> {
        self.fetch(Position::Prior, rows)
    }

    /// The first row.
    pub fn first(&mut self) -> Result<Option<RecordBatch>> {
        self.fetch(Position::First, 1)
    }

    /// The last row.
    pub fn last(&mut self) -> Result<Option<RecordBatch>> {
        self.fetch(Position::Last, 1)
    }

    /// The row with this number, from 1 on, or from the end when negative.
    pub fn absolute(&mut self, row: i64) -> Result<Option<RecordBatch>> {
        self.fetch(Position::Absolute(row), 1)
    }

    /// The row so many rows on, or back when negative.
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
        self.statement.shared.finish(async |session| session.close_scrolling(scrolling).await)
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
