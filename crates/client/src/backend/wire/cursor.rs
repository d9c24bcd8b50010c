//! Open cursors: several fetches in flight; rows are decoded straight from the receive buffer.

use super::inline::InlineBlobs;
use super::open_cursor::{OpenCursor, Stream};
use super::scroll::Scroll;
use super::{Wire, handle, success};
use crate::arrow::BatchBuilder;
use crate::backend::link::Link;
use crate::backend::{Cursors, Message, StatementId, TransactionId, cursor_is_open};
use crate::error::{Error, Kind, Result};
use firearrow_proto::api::layout::{FieldKind, RowLayout};
use firearrow_proto::api::row::PackedRows;
use firearrow_proto::api::scroll::Move;
use firearrow_proto::wire::packed::PackedFormat;
use firearrow_proto::wire::packet::response::Response;
use firearrow_proto::wire::packet::scroll::{FetchScroll, SCROLLABLE};
use firearrow_proto::wire::packet::statement::{Execute, ExecuteOptions, Fetch, FreeOption, FreeStatement};
use firearrow_proto::wire::{Event, Ticket};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use std::time::Instant;

/// Rows to request per fetch; servers stop earlier, by bytes.
const ROWS_PER_FETCH: u16 = 65535;

/// The cursors of a connection, by statement handle.
#[derive(Debug, Default)]
pub(super) struct OpenCursors {
    pub(super) open: FxHashMap<u16, OpenCursor>,
    pub(super) inline: InlineBlobs,
    /// Statements that open one cursor after the other, with pauses in between.
    pub(super) reserved: FxHashSet<u16>,
}

impl OpenCursors {
    fn by_ticket(&mut self, ticket: Ticket) -> Option<&mut OpenCursor> {
        self.open.values_mut().find(|cursor| cursor.in_flight.contains(&ticket))
    }

    /// Returns the bytes of rows held until their cursors are read.
    pub(super) fn held(&self) -> usize {
        self.open.values().map(|cursor| cursor.held).sum()
    }

    /// Fails if the statement has an open cursor.
    pub(super) fn expect_free(&self, id: u16) -> Result<()> {
        if self.open.contains_key(&id) || self.reserved.contains(&id) {
            return Err(cursor_is_open());
        }
        Ok(())
    }

    /// Keeps the rows from `start` on for a later call. Drops rows of a closed cursor.
    pub(super) fn keep(&mut self, ticket: Ticket, rows: &PackedRows<'_>, start: usize) {
        if let Some(cursor) = self.by_ticket(ticket) {
            cursor.count(rows.rows);
            cursor.keep(rows, start);
        }
    }

    pub(super) fn fetch_ended(&mut self, ticket: Ticket, cursor_end: bool) {
        if let Some(cursor) = self.by_ticket(ticket) {
            cursor.fetch_ended(ticket, cursor_end);
        }
    }

    /// Takes the answer to a failed fetch; returns it if it belongs to no cursor.
    pub(super) fn fetch_failed(&mut self, ticket: Ticket, response: Response) -> Option<Response> {
        let Some(cursor) = self.by_ticket(ticket) else { return Some(response) };
        cursor.fetch_failed(ticket, response.status);
        None
    }
}

impl<L: Link> Cursors for Wire<L> {
    async fn open_cursor(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: &Arc<RowLayout>,
    ) -> Result<()> {
        self.transactions.note_work(transaction, self.connection.latest());
        self.start_cursor(statement, transaction, parameters, output, false).await
    }

    async fn open_scrollable(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: &Arc<RowLayout>,
    ) -> Result<()> {
        self.transactions.note_work(transaction, self.connection.latest());
        self.start_cursor(statement, transaction, parameters, output, true).await
    }

    async fn fetch(&mut self, statement: StatementId, builder: &mut BatchBuilder) -> Result<bool> {
        let id = handle(statement.0);
        loop {
            let cursor = self.cursors.open.get_mut(&id);
            let cursor = cursor.ok_or_else(|| Error::new(Kind::Misuse, "the cursor is closed"))?;
            if !cursor.give_kept(builder).inspect_err(|error| cursor.failed = Some(error.clone()))? {
                return Ok(false);
            }
            if let Some(error) = &cursor.failed {
                return Err(error.clone());
            }
            if cursor.is_done() {
                return Ok(true);
            }
            // Inline BLOBs are freed by reading those of the rows in `builder`; those of other rows stay.
            let must_read = self.cursors.inline.is_half_full() && builder.is_waiting();
            let is_full = builder.is_full() && !cursor.scroll.as_ref().is_some_and(Scroll::is_complete);
            if is_full || must_read {
                if !builder.is_only_batch() {
                    self.read_ahead(id).await?;
                }
                return Ok(false);
            }
            self.interruption.limit = cursor.limit;
            self.check_interruption()?;
            self.check_held()?;
            match self.connection.next_event()? {
                // Only now is it clear that the end of the cursor has not arrived along with its rows.
                None if builder.is_ripe() => {
                    self.read_ahead(id).await?;
                    return Ok(false);
                }
                None => {
                    self.request_rows(id)?;
                    self.wait_for_rows(id).await?;
                }
                Some(Event::Rows { ticket, rows }) => {
                    let cursor = self.cursors.open.get_mut(&id);
                    match cursor.filter(|cursor| cursor.in_flight.contains(&ticket)) {
                        Some(cursor) => {
                            cursor.count(rows.rows);
                            match builder.push(&rows, 0) {
                                Ok(taken) => cursor.keep(&rows, taken),
                                Err(error) => cursor.failed = Some(error.into()),
                            }
                        }
                        None => self.cursors.keep(ticket, &rows, 0),
                    }
                }
                Some(event) => self.router.route(event, &mut self.cursors),
            }
        }
    }

    async fn close_cursor(&mut self, statement: StatementId) -> Result<()> {
        self.leave_cursor(statement).await?;
        self.send_releases().await
    }

    fn can_scroll(&self) -> bool {
        self.connection.version().is_some_and(|version| version.has_cursor_flags())
    }

    fn scroll(&mut self, statement: StatementId, to: Move, rows: usize) -> Result<()> {
        let cursor = self.cursors.open.get_mut(&handle(statement.0));
        let cursor = cursor.ok_or_else(|| Error::new(Kind::Misuse, "the cursor is closed"))?;
        if !cursor.set_out(to, rows) {
            return Err(Error::new(Kind::Misuse, "the cursor was not opened to be scrolled"));
        }
        Ok(())
    }

    fn send_blobs_inline(&mut self, inline: bool) {
        self.cursors.inline.is_wanted = inline;
    }
}

impl<L: Link> Wire<L> {
    /// Executes and requests the first rows in the same write; waits only for the execution. A scrollable cursor
    /// requests no rows yet: it does not know which ones.
    pub(super) async fn start_cursor(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: &Arc<RowLayout>,
        scrolls: bool,
    ) -> Result<()> {
        let id = handle(statement.0);
        self.cursors.expect_free(id)?;
        let packed = self.pack(id, parameters)?;
        let (timeout, limit) = self.take_timeout();
        let owner = transaction;
        let name = self.transaction_name(owner).await?;
        self.ask_number(owner, name)?;
        let mut options = self.execute_options(output, timeout);
        if scrolls {
            options.cursor_flags = SCROLLABLE;
        }
        let parameters = packed.parameters();
        self.cursors.inline.executes(id, self.connection.latest(), options.inline_blob_limit);
        let ticket = self.ask(&Execute { statement: id, transaction: name.0, parameters, options })?;
        self.packed_sent(id, packed);
        let mut cursor = OpenCursor::new(self.formats.output(id, output));
        cursor.limit = limit;
        cursor.scroll = scrolls.then(Scroll::default);
        cursor.window.brings_blobs = options.inline_blob_limit > 0
            && self.connection.version().is_some_and(|version| version.has_inline_blobs());
        self.cursors.open.insert(id, cursor);
        self.request_rows(id)?;
        let confirmed = self.confirm(id, owner).await;
        let executed = self.answer(ticket).await;
        let result = self.confirm_start(owner).and(confirmed).and(executed.and_then(success));
        match result {
            Ok(_) => Ok(()),
            Err(error) => {
                // `Cancelled` may be the failure of closing the previous cursor (`router::is_consequence`), which the
                // server then still has open: close it again.
                if matches!(error.kind(), Kind::Changed | Kind::Cancelled) {
                    self.drop_cursor(statement)?;
                }
                self.forget_cursor(id);
                self.formats.forget(id);
                Err(error)
            }
        }
    }

    /// Adds a cursor whose execution has been sent; requests its first rows in the same write.
    pub(super) fn add_cursor(&mut self, id: u16, format: &Arc<PackedFormat>) -> Result<()> {
        let mut cursor = OpenCursor::new(Arc::clone(format));
        cursor.is_one_of_many = true;
        self.cursors.open.insert(id, cursor);
        self.request_rows(id)
    }

    /// Returns the options of an execution: rows with BLOBs bring short BLOBs along.
    pub(super) fn execute_options(&mut self, output: &RowLayout, timeout: u32) -> ExecuteOptions {
        // Servers also send arrays inline, in their stored form.
        let has_blobs =
            output.fields().iter().any(|field| matches!(field.kind, FieldKind::Blob | FieldKind::Array));
        let longest = self.cursors.inline.take_longest();
        let inline_blob_limit = if has_blobs { longest } else { 0 };
        ExecuteOptions { inline_blob_limit, timeout, ..ExecuteOptions::default() }
    }

    /// Keeps the right number of fetches in flight.
    fn request_rows(&mut self, id: u16) -> Result<()> {
        let Some(cursor) = self.cursors.open.get_mut(&id) else { return Ok(()) };
        cursor.window.adjust(&self.remembered.estimate, self.connection.stats().bytes_received);
        let wanted = cursor.wanted(self.remembered.estimate.round_trip());
        // Requests go out half a window at a time, so that they share writes.
        if cursor.in_flight.len() > wanted / 2 {
            return Ok(());
        }
        if cursor.in_flight.is_empty() {
            cursor.busy_since = Instant::now();
        }
        while cursor.in_flight.len() < wanted {
            let mut fetch = Fetch {
                statement: id,
                output: Arc::clone(&cursor.format),
                first: cursor.stream == Stream::Opened,
                rows: ROWS_PER_FETCH,
            };
            let ticket = match &mut cursor.scroll {
                None => self.connection.send(&fetch)?,
                Some(scroll) => {
                    let Some((to, rows)) = scroll.next_request(cursor.in_flight.is_empty()) else { break };
                    fetch.rows = rows;
                    self.connection.send(&FetchScroll { fetch, to })?
                }
            };
            cursor.in_flight.push_back(ticket);
            if cursor.stream == Stream::Opened {
                cursor.stream = Stream::Asked;
            }
        }
        Ok(())
    }

    /// Lets the server go on while the caller is busy with the rows that it has. A scrollable cursor waits for its next
    /// move.
    async fn read_ahead(&mut self, id: u16) -> Result<()> {
        if self.cursors.open.get(&id).is_some_and(|cursor| cursor.scroll.is_none()) {
            self.request_rows(id)?;
            self.flush().await?;
        }
        Ok(())
    }

    /// Exchanges bytes. What comes after a wait between two fetches is the beginning of the next answer.
    async fn wait_for_rows(&mut self, id: u16) -> Result<()> {
        self.flush().await?;
        let Some(cursor) = self.cursors.open.get_mut(&id) else { return self.exchange().await };
        let Stream::Long { is_between } = &mut cursor.stream else { return self.exchange().await };
        let is_between = std::mem::take(is_between);
        self.link.let_gather(!std::mem::replace(&mut cursor.gathers, true));
        self.exchange().await?;
        if is_between && let Some(cursor) = self.cursors.open.get_mut(&id) {
            cursor.window.resumed(Instant::now());
        }
        Ok(())
    }

    /// Drops a cursor like [`drop_cursor`](Self::drop_cursor), but first waits until the server has finished its
    /// fetches: they would delay all later requests.
    pub(super) async fn leave_cursor(&mut self, statement: StatementId) -> Result<()> {
        let cursor = self.cursors.open.get_mut(&handle(statement.0)).filter(|cursor| !cursor.has_ended());
        let Some(fetches) = cursor.map(|cursor| std::mem::take(&mut cursor.in_flight)) else {
            return self.drop_cursor(statement);
        };
        let is_alone = self.is_alone(fetches.len());
        fetches.iter().for_each(|ticket| self.router.ignore(*ticket));
        if is_alone {
            let begin = Instant::now();
            self.want_no_more();
            while fetches.iter().any(|ticket| self.router.ignores(*ticket)) {
                self.step().await?;
            }
            self.end_reading_ahead().await?;
            // A cancellation that comes too late hits the next request, which is this. The cursor is then closed by the
            // one after it, which otherwise fails and does nothing.
            self.tell(&FreeStatement { statement: handle(statement.0), option: FreeOption::Close })?;
            self.drop_cursor(statement)?;
            return self.see_it_answer(begin).await;
        }
        self.drop_cursor(statement)
    }

    /// Whether no other answer is expected than those to these requests.
    pub(super) fn is_alone(&self, requests: usize) -> bool {
        self.connection.pending() <= requests + self.router.ignored()
    }

    /// Closes the cursor with the next write. Rows still in flight will be skipped.
    pub(super) fn drop_cursor(&mut self, statement: StatementId) -> Result<()> {
        let id = handle(statement.0);
        if self.forget_cursor(id) {
            self.tell(&FreeStatement { statement: id, option: FreeOption::Close })?;
        }
        Ok(())
    }

    pub(super) fn forget_cursor(&mut self, id: u16) -> bool {
        let Some(cursor) = self.cursors.open.remove(&id) else { return false };
        for ticket in cursor.in_flight {
            self.router.ignore(ticket);
        }
        true
    }
}
