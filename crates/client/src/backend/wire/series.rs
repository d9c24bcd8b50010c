//! Executes a statement for many parameter rows and streams the results in order.
//!
//! ```text
//!  one row each    execute2 (info) execute2 (info) …           as many ahead as answers find room
//!  cursors         lane 1: execute fetch     lane 2: execute fetch     …
//!                  then, when half of them have been read: close execute fetch, close execute fetch, …
//! ```
//!
//! A cursor must be closed before its statement is executed again, but not before all of its rows have arrived. So
//! several statements of the same text, the lanes, take turns.

use super::transaction::Handle;
use super::write::misfit;
use super::{Wire, handle};
use crate::arrow::BatchBuilder;
use crate::backend::link::Link;
use crate::backend::{Cursors, QuerySeries, Series, Sql, StatementId, Turn, Writer};
use crate::error::{Error, Result};
use firearrow_proto::api::describe::RecordCounts;
use firearrow_proto::api::info::statement::RECORDS;
use firearrow_proto::api::layout::RowLayout;
use firearrow_proto::wire::packed::PackedFormat;
use firearrow_proto::wire::packet::attach::Ping;
use firearrow_proto::wire::packet::info::InfoSql;
use firearrow_proto::wire::packet::statement::{
    AllocateStatement, Execute, ExecuteOptions, ExecuteSingleton, Parameters,
};
use firearrow_proto::wire::{Event, Ticket};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes in flight: parameters, and the rows that they may return.
const BYTES_AHEAD: usize = 1 << 20;
/// Minimum number of executions in flight, whatever the size of their rows.
const FEWEST_AHEAD: usize = 16;
const MOST_AHEAD: usize = 4096;
/// Statements of the same text. Preparing another one costs a server about as much time as a local round trip.
const LANES: usize = 32;
/// Buffer size for the answer to "how many rows", in bytes.
const RECORDS_BUFFER: u32 = 128;

/// Requests sent for one [`Series`].
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    /// Oldest first.
    sent: VecDeque<Sent>,
    bytes_ahead: usize,
    /// More statements of the same text.
    more: Vec<u16>,
    /// Lanes whose last cursor has been read; it is closed when the lane is needed again.
    free: VecDeque<u16>,
    has_lanes: bool,
    /// Trailing fields of all executions.
    options: Option<ExecuteOptions>,
    /// Whether a request follows the last execution, so that the server sends its answer.
    is_pushed: bool,
}

/// An execution without an answer so far.
#[derive(Clone, Copy, Debug)]
struct Sent {
    row: usize,
    ticket: Ticket,
    counts: Option<Ticket>,
    bytes: usize,
    cursor: Option<Lane>,
}

#[derive(Clone, Copy, Debug)]
struct Lane {
    statement: u16,
    /// Whether its execution has succeeded.
    is_open: bool,
}

impl Lanes {
    fn total(&self) -> usize {
        1 + self.more.len()
    }

    fn push(&mut self, sent: Sent) {
        self.bytes_ahead += sent.bytes;
        self.is_pushed = false;
        self.sent.push_back(sent);
    }

    /// Removes the oldest execution.
    fn pop(&mut self) {
        if let Some(sent) = self.sent.pop_front() {
            self.bytes_ahead -= sent.bytes;
            self.free.extend(sent.cursor.map(|lane| lane.statement));
        }
    }

    fn is_half_empty(&self, executions: usize) -> bool {
        self.sent.len() <= executions / 2 && self.bytes_ahead <= BYTES_AHEAD / 2
    }
}

/// Returns how many executions may be in flight if each returns a row of this format.
fn executions_ahead(output: &RowLayout) -> usize {
    (BYTES_AHEAD / output.native_stride().max(1)).clamp(FEWEST_AHEAD, MOST_AHEAD)
}

impl<L: Link> QuerySeries for Wire<L> {
    /// Moves the next rows into `builder`: `false` if it is full, `true` when all supplied parameter rows have been
    /// executed and their results read.
    async fn collect(
        &mut self,
        writer: &mut Writer,
        series: &mut Series,
        builder: &mut BatchBuilder,
    ) -> Result<bool> {
        let owner = writer.transaction;
        self.transactions.note_change(owner, self.connection.latest());
        let handle = self.transaction(owner).await?;
        self.ask_number(owner, handle)?;
        loop {
            self.check_interruption()?;
            if writer.should_stop() {
                series.cut();
            }
            self.send_turns(writer, series).await?;
            let Some(front) = series.lanes.sent.front().copied() else { return Ok(true) };
            let is_taken = match front.cursor {
                None => self.take_single(writer, series, front, Some(builder)).await?,
                Some(lane) => self.take_cursor(writer, series, front, lane, builder).await?,
            };
            if !is_taken {
                return Ok(false);
            }
        }
    }

    /// Waits for the outstanding responses and drops their rows.
    async fn end_series(&mut self, writer: &mut Writer, series: &mut Series) -> Result<()> {
        let mut result = Ok(());
        while let Some(front) = series.lanes.sent.front().copied() {
            let settled = match front.cursor {
                None => self.take_single(writer, series, front, None).await.map(|_| ()),
                Some(lane) => self.skip_cursor(writer, series, front, lane).await,
            };
            if self.connection.failure().is_some() {
                return result.and(settled);
            }
            // This error has lost its answers, so no later call may wait for them.
            if series.lanes.sent.front().is_some_and(|sent| sent.ticket == front.ticket) {
                series.lanes.pop();
            }
            result = result.and(settled);
        }
        if std::mem::take(&mut series.lanes.has_lanes) {
            self.cursors.reserved.remove(&handle(writer.statement.0));
        }
        for lane in std::mem::take(&mut series.lanes.free) {
            self.drop_cursor(StatementId(lane.into()))?;
        }
        for lane in std::mem::take(&mut series.lanes.more) {
            self.release_statement(StatementId(lane.into()))?;
        }
        result
    }
}

impl<L: Link> Wire<L> {
    /// Sends the next executions once half of the earlier ones are done, so that they share writes.
    async fn send_turns(&mut self, writer: &Writer, series: &mut Series) -> Result<()> {
        let left = series.left();
        let ahead = match series.has_cursor {
            true => series.lanes.total(),
            false => executions_ahead(&series.output),
        };
        if left == 0 || !series.lanes.is_half_empty(ahead) {
            return Ok(());
        }
        if series.has_cursor {
            self.open_lanes(writer, series, left.min(LANES)).await?;
        }
        let options = match series.lanes.options {
            Some(options) => options,
            None => {
                let options = self.execute_options(&series.output, 0);
                // All lanes bring BLOBs to the rows of this statement.
                let (id, latest) = (handle(writer.statement.0), self.connection.latest());
                self.cursors.inline.executes(id, latest, options.inline_blob_limit);
                options
            }
        };
        series.lanes.options = Some(options);
        let (mut turn, mut packed) = (Turn::default(), Vec::new());
        let mut format = PackedFormat::new(Arc::clone(&turn.layout));
        let output = Arc::new(PackedFormat::new(Arc::clone(&series.output)));
        let mut is_known = false;
        loop {
            let is_full = match series.has_cursor {
                true => series.lanes.free.is_empty(),
                false => series.lanes.sent.len() >= ahead || series.lanes.bytes_ahead >= BYTES_AHEAD,
            };
            if is_full || !series.next(&mut turn) {
                break;
            }
            if !Arc::ptr_eq(format.layout(), &turn.layout) {
                format = PackedFormat::new(Arc::clone(&turn.layout));
                is_known = false;
            }
            packed.clear();
            if !turn.layout.fields().is_empty() {
                format.pack(&turn.message, &mut packed).ok_or_else(misfit)?;
            }
            // Within one write, no other call can execute the statement with another format.
            let blr = if is_known || packed.is_empty() { Vec::new() } else { turn.layout.blr() };
            let parameters = Parameters { blr: &blr, message: &packed };
            let Handle(transaction) = self.transactions.handle(writer.transaction)?;
            let bytes = packed.len() + 32;
            let sent = match series.lanes.free.pop_front().filter(|_| series.has_cursor) {
                Some(statement) => {
                    self.drop_cursor(StatementId(statement.into()))?;
                    self.formats.forget(statement);
                    let ticket = self.ask(&Execute { statement, transaction, parameters, options })?;
                    self.add_cursor(statement, &output)?;
                    let cursor = Some(Lane { statement, is_open: false });
                    let counts = self.ask_for_counts(statement, writer)?;
                    Sent { row: turn.row, ticket, counts, bytes, cursor }
                }
                None => {
                    let statement = handle(writer.statement.0);
                    self.formats.forget(statement);
                    let output = Arc::clone(&output);
                    let request = ExecuteSingleton { statement, transaction, parameters, output, options };
                    let ticket = self.ask(&request)?;
                    self.router.expect_rows(ticket);
                    let counts = self.ask_for_counts(statement, writer)?;
                    is_known = true;
                    Sent { row: turn.row, ticket, counts, bytes, cursor: None }
                }
            };
            series.lanes.push(sent);
        }
        self.flush().await
    }

    fn ask_for_counts(&mut self, statement: u16, writer: &Writer) -> Result<Option<Ticket>> {
        if !writer.asks_counts {
            return Ok(None);
        }
        let info = InfoSql { object: statement, items: &[RECORDS], buffer_length: RECORDS_BUFFER };
        self.ask(&info).map(Some)
    }

    /// Opens lanes up to the wanted number, as far as the server has handles.
    async fn open_lanes(&mut self, writer: &Writer, series: &mut Series, wanted: usize) -> Result<()> {
        let lanes = &mut series.lanes;
        let first = handle(writer.statement.0);
        if !lanes.has_lanes {
            self.cursors.expect_free(first)?;
            self.cursors.reserved.insert(first);
            lanes.free.push_back(first);
            lanes.has_lanes = true;
        }
        let missing = wanted.saturating_sub(lanes.total());
        if missing == 0 {
            return Ok(());
        }
        let mut handles: Vec<u16> = std::iter::from_fn(|| self.spare_handle()).take(missing).collect();
        if handles.len() < missing {
            let asked = (handles.len()..missing).map(|_| self.ask(&AllocateStatement));
            let asked = asked.collect::<Result<Vec<Ticket>>>()?;
            let pushed = self.ask(&Ping)?;
            for ticket in asked {
                let answer = self.answer(ticket).await?;
                handles.extend((!answer.status.is_error()).then_some(answer.object));
            }
            self.answer(pushed).await?;
        }
        for statement in handles {
            // If preparing fails, the executions fail, too.
            let sql = Sql::new(&series.sql, series.dialect);
            let ticket =
                self.ask_to_prepare(self.transactions.handle(writer.transaction)?, statement, sql)?;
            self.router.ignore(ticket);
            series.lanes.more.push(statement);
            series.lanes.free.push_back(statement);
        }
        Ok(())
    }

    /// Takes the answers to an execution that returns one row; drops the row without a builder. Returns `false` if the
    /// builder is full.
    async fn take_single(
        &mut self,
        writer: &mut Writer,
        series: &mut Series,
        front: Sent,
        mut builder: Option<&mut BatchBuilder>,
    ) -> Result<bool> {
        loop {
            if let Some(builder) = builder.as_deref_mut() {
                let must_read = self.cursors.inline.is_half_full() && builder.is_waiting();
                if !builder.has_room() || must_read || !self.router.give_rows(front.ticket, builder)? {
                    return Ok(false);
                }
            }
            if self.router.has(front.ticket) {
                break;
            }
            self.check_held()?;
            match (self.connection.next_event()?, builder.as_deref_mut()) {
                (None, _) => self.wait_for_turn(&mut series.lanes).await?,
                // `builder` has room for one row.
                (Some(Event::Rows { ticket, rows }), Some(builder)) if ticket == front.ticket => {
                    builder.push(&rows, 0)?;
                }
                (Some(event), _) => self.router.route(event, &mut self.cursors),
            }
        }
        self.router.forget_rows(front.ticket);
        let executed = self.answer(front.ticket).await?;
        let counted = match front.counts {
            Some(counts) => RecordCounts::decode(&self.answer(counts).await?.data),
            None => Some(RecordCounts::ONE_INSERTED),
        };
        series.lanes.pop();
        let failed = executed.status.is_error();
        writer.executed(front.row, if failed { Err(Error::engine(executed.status)) } else { Ok(counted) })?;
        Ok(true)
    }

    /// Moves the rows of a cursor into `builder`; `false` if it is full.
    async fn take_cursor(
        &mut self,
        writer: &mut Writer,
        series: &mut Series,
        front: Sent,
        lane: Lane,
        builder: &mut BatchBuilder,
    ) -> Result<bool> {
        let id = StatementId(lane.statement.into());
        if !lane.is_open {
            let executed = self.answer(front.ticket).await?;
            if executed.status.is_error() {
                self.forget_cursor(lane.statement);
                self.turn_ended(writer, series, front, Err(Error::engine(executed.status))).await?;
                return Ok(true);
            }
            if let Some(front) = series.lanes.sent.front_mut() {
                front.cursor = Some(Lane { is_open: true, ..lane });
            }
        }
        match self.fetch(id, builder).await {
            Ok(false) => return Ok(false),
            Ok(true) => self.turn_ended(writer, series, front, Ok(())).await?,
            Err(error) if error.gds_codes().is_empty() || self.connection.failure().is_some() => {
                return Err(error);
            }
            Err(error) => self.turn_ended(writer, series, front, Err(error)).await?,
        }
        Ok(true)
    }

    /// Waits until a cursor is open and has returned its first rows; by then, the statement has made its changes.
    async fn skip_cursor(
        &mut self,
        writer: &mut Writer,
        series: &mut Series,
        front: Sent,
        lane: Lane,
    ) -> Result<()> {
        let mut result = Ok(());
        // The result of the last cursor is unwanted, unless its counts must show what it changed.
        if series.lanes.sent.len() == 1 && self.is_alone(2) {
            self.want_no_more();
        }
        if !lane.is_open {
            let executed = self.answer(front.ticket).await?;
            if executed.status.is_error() {
                result = Err(Error::engine(executed.status));
                self.forget_cursor(lane.statement);
            }
        }
        while self.cursors.open.get(&lane.statement).is_some_and(|cursor| cursor.is_asked()) {
            self.step().await?;
        }
        self.want_all();
        // Rows that the client cannot read have been changed nevertheless.
        let failure = self.cursors.open.get(&lane.statement).and_then(|cursor| cursor.failure());
        let failure = failure.filter(|error| !error.gds_codes().is_empty());
        result = result.and(failure.map_or(Ok(()), Err));
        self.turn_ended(writer, series, front, result).await
    }

    async fn turn_ended(
        &mut self,
        writer: &mut Writer,
        series: &mut Series,
        front: Sent,
        result: Result<()>,
    ) -> Result<()> {
        let counted = match front.counts {
            Some(counts) => RecordCounts::decode(&self.answer(counts).await?.data),
            None => None,
        };
        series.lanes.pop();
        writer.executed(front.row, result.map(|()| counted))
    }

    async fn wait_for_turn(&mut self, lanes: &mut Lanes) -> Result<()> {
        self.push_out(lanes)?;
        self.exchange().await
    }

    /// Makes the server send the answer to the last execution. The server may hold it back because of requests of other
    /// calls, unless a request for counts or rows follows.
    fn push_out(&mut self, lanes: &mut Lanes) -> Result<()> {
        let last = lanes.sent.back().filter(|sent| sent.counts.is_none() && sent.cursor.is_none());
        let is_last = last.is_none_or(|last| self.connection.is_last(last.ticket));
        if !is_last && !std::mem::replace(&mut lanes.is_pushed, true) {
            self.tell(&Ping)?;
        }
        Ok(())
    }
}
