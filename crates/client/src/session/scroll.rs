//! Moves in a result: by the engine where it can, otherwise over rows that the client keeps.

mod kept;

use super::fetch::Fetching;
use super::run::{How, Verb};
use super::{Prepared, Session};
use crate::arrow::{BatchLimits, ReadOptions};
use crate::backend::{Backend, Message, Sql, StatementId, TransactionId};
use crate::error::{Error, Kind, Result};
use crate::params::Params;
use crate::scroll::{Position, ScrollOptions};
use ::arrow::array::RecordBatch;
use ::arrow::datatypes::SchemaRef;
use firearrow_proto::api::scroll::Move;
use kept::Kept;

/// Rows to be kept are read in pieces that are small in comparison with what may be kept.
const PIECES: usize = 16;

/// An open result whose rows can be fetched in any order.
pub(crate) struct Scrolling {
    fetching: Fetching,
    /// The rows, unless the engine scrolls.
    kept: Option<Kept>,
    memory: usize,
    /// A statement that was prepared for this result.
    statement: Option<StatementId>,
}

impl Scrolling {
    pub(crate) fn schema(&self) -> SchemaRef {
        self.fetching.schema()
    }

    pub(crate) fn is_native(&self) -> bool {
        self.kept.is_none()
    }
}

impl<B: Backend> Session<B> {
    /// Executes a statement that returns rows. A single row that comes without a cursor is kept here like others.
    pub(crate) async fn open_scrolling(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        read: &ReadOptions,
        limits: BatchLimits,
        options: ScrollOptions,
    ) -> Result<Scrolling> {
        let is_native = self.backend.can_scroll() && prepared.info.has_cursor && !options.keep_rows;
        let bytes = if is_native { options.memory } else { limits.bytes.min(options.memory / PIECES) };
        let limits = BatchLimits { bytes, full: true, ..limits };
        let fetching = self.open_as(prepared, transaction, parameters, read, limits, is_native).await?;
        Ok(Scrolling {
            fetching,
            kept: (!is_native).then(Kept::default),
            memory: options.memory,
            statement: None,
        })
    }

    /// Goes to a row, and fetches it and those after it: `rows` in all, or as many as there are. `None` if there is no
    /// row where it went.
    pub(crate) async fn scroll(
        &mut self,
        scrolling: &mut Scrolling,
        to: Position,
        rows: usize,
    ) -> Result<Option<RecordBatch>> {
        // Rows that are kept would still be there, and the engine's messages for this differ.
        if self.has_ended(scrolling.fetching.transaction) {
            return Err(Error::new(Kind::Misuse, "the transaction of the cursor has ended"));
        }
        match &mut scrolling.kept {
            Some(kept) => {
                while kept.needs_more(to, rows) {
                    let batch = self.next_batch(&mut scrolling.fetching).await?;
                    kept.take(batch, scrolling.memory)?;
                }
                kept.fetch(to, rows)
            }
            None => {
                let Some(to) = self.approach(scrolling, to).await? else { return Ok(None) };
                self.fetch_at(scrolling, to, rows).await
            }
        }
    }

    /// Runs a query as SQL text.
    pub(crate) async fn scroll_sql(
        &mut self,
        sql: Sql<'_>,
        transaction: TransactionId,
        how: &How,
    ) -> Result<Scrolling> {
        let (prepared, done) = self.run_sql(sql, transaction, Verb::Scroll, &Params::none(), how).await?;
        Ok(Scrolling { statement: Some(prepared.id), ..done.scrolling()? })
    }

    pub(crate) async fn close_scrolling(&mut self, scrolling: &Scrolling) -> Result<()> {
        self.backend.expect_more(scrolling.statement.is_some());
        let closed = self.close_fetching(&scrolling.fetching).await;
        if let Some(statement) = scrolling.statement {
            self.backend.expect_more(false);
            self.release(statement).await;
        }
        closed
    }

    /// Engines count in 32 bits. Positions farther away are gone to in several moves; this makes all but the last one.
    /// `None` if that led out of the rows.
    async fn approach(&mut self, scrolling: &mut Scrolling, to: Position) -> Result<Option<Move>> {
        let (mut next, mut left) = match to {
            Position::Next => return Ok(Some(Move::Next)),
            Position::Prior => return Ok(Some(Move::Prior)),
            Position::First => return Ok(Some(Move::First)),
            Position::Last => return Ok(Some(Move::Last)),
            Position::Absolute(row) => (Move::Absolute(near(row)), row - i64::from(near(row))),
            Position::Relative(by) => (Move::Relative(near(by)), by - i64::from(near(by))),
        };
        while left != 0 {
            if self.fetch_at(scrolling, next, 1).await?.is_none() {
                return Ok(None);
            }
            next = Move::Relative(near(left));
            left -= i64::from(near(left));
        }
        Ok(Some(next))
    }

    async fn fetch_at(
        &mut self,
        scrolling: &mut Scrolling,
        to: Move,
        rows: usize,
    ) -> Result<Option<RecordBatch>> {
        let fetching = &mut scrolling.fetching;
        self.backend.scroll(fetching.statement, to, rows)?;
        fetching.at_end = false;
        fetching.builder.limit_rows(rows);
        loop {
            self.gather(fetching).await?;
            if fetching.at_end && !fetching.builder.is_waiting() {
                return self.finish(fetching);
            }
            if fetching.builder.is_full() {
                return Err(too_large(scrolling.memory, "fetch fewer rows at a time"));
            }
        }
    }
}

/// The nearest number of 32 bits.
fn near(number: i64) -> i32 {
    number.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

fn too_large(memory: usize, remedy: &str) -> Error {
    let text = format!(
        "the rows of a scrollable cursor take more than {memory} bytes: {remedy}, or raise ScrollOptions::memory"
    );
    Error::new(Kind::Memory, text)
}
