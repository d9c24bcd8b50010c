//! An open cursor.

use crate::Error;
use crate::abi::{IMessageMetadata, IResultSet, Owned};
use crate::message::{MessageBuffer, Shape};
use crate::statement::StatementCore;
use crate::status::Status;
use crate::transaction::TransactionCore;
use firearrow_proto::api::scroll::Move;
use firearrow_proto::api::status::StatusVector;
use std::sync::Arc;

/// `IStatus::RESULT_OK`: a row is in the buffer.
const ROW: i32 = 0;
/// `IStatus::RESULT_NO_DATA`.
const END: i32 = 1;
/// The version of the interface (release 5.0) since which a failed fetch never returns [`ROW`] and cursors track their
/// position; those of 3.0 do not always.
const HONEST: usize = 5;

/// An open cursor. Dropping it closes it.
pub struct ResultSet {
    interface: Owned<IResultSet>,
    status: Status,
    shape: Shape,
    is_dishonest: bool,
    state: State,
    // Fields are dropped in this order, after the cursor itself.
    _format: Option<Owned<IMessageMetadata>>,
    _statement: Arc<StatementCore>,
    _transaction: Arc<TransactionCore>,
}

enum State {
    Open,
    /// Whether the last fetch found no more rows. The engine must not be asked again, except for a row elsewhere.
    End,
    /// The error of a failed fetch. Rows after it would be incomplete.
    Failed(StatusVector),
    Closed,
}

impl ResultSet {
    pub(crate) fn new(
        interface: Owned<IResultSet>,
        shape: Shape,
        format: Option<Owned<IMessageMetadata>>,
        statement: &Arc<StatementCore>,
        transaction: &Arc<TransactionCore>,
    ) -> Result<Self, Error> {
        let status = statement.attachment.status()?;
        Ok(Self {
            is_dishonest: interface.version() < HONEST,
            interface,
            status,
            shape,
            state: State::Open,
            _format: format,
            _statement: Arc::clone(statement),
            _transaction: Arc::clone(transaction),
        })
    }

    /// Length of one message.
    pub fn message_length(&self) -> usize {
        self.shape.length
    }

    /// Distance between messages in an array.
    pub fn stride(&self) -> usize {
        self.shape.stride()
    }

    /// Fetches one row; `false` at the end.
    pub fn fetch_next(&mut self, buffer: &mut [u8]) -> Result<bool, Error> {
        let message = self.shape.message(buffer)?;
        self.fetch(message, 0, 1, Move::Next).map(|(rows, _)| rows == 1)
    }

    /// Fetches up to `max_rows` rows, but no more than fit into the buffer, into messages `stride` bytes apart. Returns
    /// their number and whether they were the last.
    ///
    /// If a fetch fails, returns the rows before it first, and the error in the next call.
    pub fn fetch_block(
        &mut self,
        buffer: &mut MessageBuffer,
        stride: usize,
        max_rows: usize,
    ) -> Result<(usize, bool), Error> {
        let (start, room) = self.shape.array(buffer.bytes_mut(), stride)?;
        self.fetch(start, stride, max_rows.min(room), Move::Next)
    }

    /// Repeats a move, as [`fetch_block`](Self::fetch_block) does with the next row, and returns whether it left the
    /// rows. Other moves may follow. Needs a cursor opened as [`SCROLLABLE`](crate::CursorFlags::SCROLLABLE).
    pub fn scroll_block(
        &mut self,
        to: Move,
        buffer: &mut MessageBuffer,
        stride: usize,
        max_rows: usize,
    ) -> Result<(usize, bool), Error> {
        let (start, room) = self.shape.array(buffer.bytes_mut(), stride)?;
        if matches!(self.state, State::End) {
            self.state = State::Open;
        }
        if !self.is_dishonest {
            return self.fetch(start, stride, max_rows.min(room), to);
        }
        // From after the last row, 3.0 steps back from the row fetched last, if that was the first one. And a cursor
        // that leaves the rows at their beginning may end up after the last row (`DsqlCursor.cpp` of that release).
        let to = if to == Move::Prior { Move::Relative(-1) } else { to };
        let (fetched, is_outside) = self.fetch(start, stride, max_rows.min(room), to)?;
        if to.ends_before() && matches!(self.state, State::End) {
            self.state = State::Open;
            // There is room for the row that was not found.
            self.fetch(start.wrapping_add(fetched * stride), stride, 1, Move::Absolute(0))?;
        }
        Ok((fetched, is_outside))
    }

    /// Fetches into messages whose length the callers have checked.
    #[inline]
    fn fetch(
        &mut self,
        start: *mut u8,
        stride: usize,
        rows: usize,
        to: Move,
    ) -> Result<(usize, bool), Error> {
        match &self.state {
            State::Open => {}
            State::End | State::Closed => return Ok((0, true)),
            State::Failed(status) => return Err(Error::Status(status.clone())),
        }
        let cursor = self.interface.raw();
        // The status has no errors while the cursor is open, so there is nothing to clear.
        let status = self.status.raw();
        let mut message = start;
        let mut fetched = 0;
        while fetched < rows {
            // SAFETY: cursor and status are alive, and the message lies in memory of the caller that was
            // measured for `rows` messages.
            let code = unsafe {
                match to {
                    Move::Next => IResultSet::fetch_next(cursor, status, message),
                    Move::Prior => IResultSet::fetch_prior(cursor, status, message),
                    Move::First => IResultSet::fetch_first(cursor, status, message),
                    Move::Last => IResultSet::fetch_last(cursor, status, message),
                    Move::Absolute(row) => IResultSet::fetch_absolute(cursor, status, row, message),
                    Move::Relative(by) => IResultSet::fetch_relative(cursor, status, by, message),
                }
            };
            if code != ROW || (self.is_dishonest && self.status.has_error()) {
                return self.stop(code, fetched);
            }
            fetched += 1;
            message = message.wrapping_add(stride);
        }
        Ok((fetched, false))
    }

    #[cold]
    fn stop(&mut self, code: i32, fetched: usize) -> Result<(usize, bool), Error> {
        if code == END && !self.status.has_error() {
            self.state = State::End;
            return Ok((fetched, true));
        }
        let status = self.status.vector();
        self.state = State::Failed(status.clone());
        if fetched > 0 { Ok((fetched, false)) } else { Err(Error::Status(status)) }
    }

    /// Closes the cursor. After the end of its transaction, 3.0 reports an error here, though nothing is left to close.
    pub fn close(mut self) -> Result<(), Error> {
        self.end()
    }

    /// Makes the closing call, which takes one reference if it succeeds.
    fn end(&mut self) -> Result<(), Error> {
        self.state = State::Closed;
        let reference = self.interface.clone();
        // SAFETY: the interface is alive, and one reference is the call's to take.
        self.status.call(|status| unsafe { IResultSet::close(reference.raw(), status) })?;
        reference.was_taken();
        Ok(())
    }
}

impl Drop for ResultSet {
    fn drop(&mut self) {
        if !matches!(self.state, State::Closed) {
            // No caller is left to report this to; releasing the interface closes the cursor in any case.
            let _ = self.end();
        }
    }
}

impl std::fmt::Debug for ResultSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResultSet").field("shape", &self.shape).finish_non_exhaustive()
    }
}
