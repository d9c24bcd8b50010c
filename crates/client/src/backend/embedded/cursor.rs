//! Cursors on engine calls; they fetch rows in blocks.

use super::scroll::Scroll;
use super::statement::{Bound, Statement};
use super::{Embedded, no_statement, no_transaction};
use crate::arrow::BatchBuilder;
use crate::backend::{Cursors, Message, StatementId, TransactionId};
use crate::cancel::interrupted;
use crate::error::{Error, Kind, Result};
use firearrow_fbapi::{CursorFlags, MessageBuffer, ResultSet};
use firearrow_proto::api::layout::RowLayout;
use firearrow_proto::api::row::NativeRows;
use firearrow_proto::api::scroll::Move;
use std::sync::Arc;

/// Bytes of messages to fetch before decoding: few enough to stay in the CPU cache, enough to make the work per block
/// negligible.
const BLOCK_BYTES: usize = 128 << 10;

pub(super) struct OpenCursor {
    rows: ResultSet,
    layout: Arc<RowLayout>,
    buffer: MessageBuffer,
    /// Rows in the buffer, and how many of them have been handed out.
    fetched: usize,
    given: usize,
    at_end: bool,
    /// The current move of a scrollable cursor.
    scroll: Option<Scroll>,
}

impl Cursors for Embedded {
    async fn open_cursor(
        &mut self,
        id: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: &Arc<RowLayout>,
    ) -> Result<()> {
        self.open(id, transaction, parameters, output, CursorFlags::FORWARD)
    }

    async fn open_scrollable(
        &mut self,
        id: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: &Arc<RowLayout>,
    ) -> Result<()> {
        self.open(id, transaction, parameters, output, CursorFlags::SCROLLABLE)
    }

    async fn fetch(&mut self, id: StatementId, builder: &mut BatchBuilder) -> Result<bool> {
        let operation = self.interruption.operation.clone();
        let cursor = self.statement(id)?.cursor.as_mut();
        let cursor = cursor.ok_or_else(|| Error::new(Kind::Misuse, "the cursor is closed"))?;
        loop {
            while cursor.given < cursor.fetched {
                let rows = NativeRows::new(&cursor.layout, cursor.buffer.bytes(), cursor.fetched);
                let rows =
                    rows.ok_or_else(|| Error::new(Kind::Misuse, "a block is shorter than its rows"))?;
                let taken = builder.push(&rows, cursor.given)?;
                if taken == 0 {
                    return Ok(false);
                }
                cursor.given += taken;
            }
            if cursor.at_end {
                return Ok(true);
            }
            if builder.is_full() || builder.is_ripe() {
                return Ok(false);
            }
            if let Some(kind) = operation.interruption() {
                return Err(interrupted(kind, "between two rows"));
            }
            let stride = cursor.layout.native_stride();
            let (fetched, at_end) = match &mut cursor.scroll {
                None => cursor.rows.fetch_block(&mut cursor.buffer, stride, usize::MAX)?,
                Some(scroll) => scroll.fetch(&mut cursor.rows, &mut cursor.buffer, stride)?,
            };
            (cursor.fetched, cursor.given, cursor.at_end) = (fetched, 0, at_end);
        }
    }

    async fn close_cursor(&mut self, id: StatementId) -> Result<()> {
        if let Some(cursor) = self.statement(id)?.cursor.take()
            && let Err(error) = cursor.rows.close()
        {
            // The end of its transaction may have closed it already.
            tracing::debug!(%error, "closing a cursor failed");
        }
        Ok(())
    }

    fn can_scroll(&self) -> bool {
        true
    }

    fn scroll(&mut self, id: StatementId, to: Move, rows: usize) -> Result<()> {
        let cursor = self.statement(id)?.cursor.as_mut();
        let cursor = cursor.ok_or_else(|| Error::new(Kind::Misuse, "the cursor is closed"))?;
        if cursor.scroll.is_none() {
            return Err(Error::new(Kind::Misuse, "the cursor was not opened to be scrolled"));
        }
        cursor.scroll = Some(Scroll::new(to, rows));
        (cursor.fetched, cursor.given, cursor.at_end) = (0, 0, rows == 0);
        Ok(())
    }

    fn send_blobs_inline(&mut self, _: bool) {}
}

impl Embedded {
    fn open(
        &mut self,
        id: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: &Arc<RowLayout>,
        flags: CursorFlags,
    ) -> Result<()> {
        let library = Arc::clone(self.attachment()?.library());
        let transaction = self.transactions.get(&transaction).ok_or_else(no_transaction)?;
        let entry = self.statements.get_mut(&id.0).ok_or_else(no_statement)?;
        entry.expect_free()?;
        entry.output_format(&library, output)?;
        let Statement { statement, input, output: format, natural, .. } = &mut *entry;
        let mut bound = Bound::new(input, &library, parameters)?;
        let format = format.as_ref().filter(|_| output != natural).map(|(_, metadata)| metadata);
        let rows = statement.open_cursor(transaction, bound.input(), format, flags)?;
        let stride = output.native_stride().max(1);
        let room = (BLOCK_BYTES / stride).max(1);
        entry.cursor = Some(OpenCursor {
            rows,
            layout: Arc::clone(output),
            buffer: MessageBuffer::new(room * stride),
            fetched: 0,
            given: 0,
            at_end: false,
            scroll: (flags == CursorFlags::SCROLLABLE).then(Scroll::default),
        });
        Ok(())
    }
}
