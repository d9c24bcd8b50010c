//! Rows through the bulk interface, each chunk preceded by a savepoint in the same write.

use super::{BYTES_AHEAD, What, misfit};
use crate::backend::link::Link;
use crate::backend::wire::transaction::Handle;
use crate::backend::wire::{Wire, handle};
use crate::backend::{Chunk, Method, Outcome, Writer};
use crate::error::{Error, Result};
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::wire::Ticket;
use firearrow_proto::wire::packed::PackedFormat;
use firearrow_proto::wire::packet::batch::{
    BatchBlobs, BatchMessages, BlobPortion, Completion, ExecuteBatch, RegisterBlob, ReleaseBatch,
};
use firearrow_proto::wire::packet::statement::ExecuteImmediate;
use std::sync::Arc;

/// Bytes per `op_batch_msg`: servers decode larger ones again and again while they arrive.
const PACKET: usize = 200 << 10;
/// Bytes per `op_batch_blob_stream`, unless a single BLOB is longer.
const BLOB_PACKET: usize = 64 << 10;
/// The size in bytes charged for other requests.
const REQUEST: usize = 64;

impl<L: Link> Wire<L> {
    pub(super) async fn send_bulk(&mut self, writer: &mut Writer, chunk: Chunk) -> Result<()> {
        let rows = &chunk.rows;
        let format = PackedFormat::new(Arc::clone(&rows.layout));
        let statement = handle(writer.statement.0);
        let Handle(transaction) = self.transactions.handle(writer.transaction)?;
        self.release_savepoints(writer)?;
        let ticket = self.ask(&immediate(transaction, &chunk.savepoint.set()))?;
        writer.pipe.push(ticket, What::Material, REQUEST);
        self.send_blobs(writer, &chunk).await?;
        let stride = rows.layout.native_stride().max(1);
        let mut packed = Vec::with_capacity(PACKET + stride);
        let mut messages = rows.messages().peekable();
        let mut count = 0;
        while let Some(message) = messages.next() {
            format.pack(message, &mut packed).ok_or_else(misfit)?;
            count += 1;
            if packed.len() >= PACKET || messages.peek().is_none() {
                let ticket = self.ask(&BatchMessages { statement, count, messages: &packed })?;
                writer.pipe.push(ticket, What::Material, packed.len());
                packed.clear();
                count = 0;
                // The server can start while the next messages are packed.
                self.flush().await?;
            }
        }
        drop(messages);
        let ticket = self.ask(&ExecuteBatch { statement, transaction })?;
        writer.pipe.push(ticket, What::Bulk(Box::new(chunk)), 0);
        self.flush().await?;
        self.settle_down_to(writer, BYTES_AHEAD, usize::MAX).await
    }

    /// Sends the BLOBs under the ids used in the messages.
    async fn send_blobs(&mut self, writer: &mut Writer, chunk: &Chunk) -> Result<()> {
        let statement = handle(writer.statement.0);
        let rows = &chunk.rows;
        if chunk.has_created_blobs {
            for cell in &rows.blobs {
                let id = rows.blob_id(cell);
                let ticket = self.ask(&RegisterBlob { statement, id, batch_id: id })?;
                writer.pipe.push(ticket, What::Material, REQUEST);
            }
            return Ok(());
        }
        let mut portion = BlobPortion::default();
        let mut blobs = rows.blobs.iter().peekable();
        while let Some(cell) = blobs.next() {
            portion.push(rows.blob_id(cell), rows.blob_bytes(cell));
            if portion.len() >= BLOB_PACKET || blobs.peek().is_none() {
                let ticket = self.ask(&BatchBlobs { statement, portion: &portion })?;
                writer.pipe.push(ticket, What::Material, portion.len());
                portion.clear();
                self.flush().await?;
            }
        }
        Ok(())
    }

    pub(super) async fn settle_bulk(
        &mut self,
        writer: &mut Writer,
        ticket: Ticket,
        chunk: Chunk,
    ) -> Result<()> {
        let savepoint = chunk.savepoint;
        let mut outcome = self.completion(ticket).await.map(Outcome::from);
        if let Err(error) = &outcome
            && self.connection.failure().is_some()
        {
            return Err(error.clone());
        }
        if let Some(error) = writer.pipe.missing.take() {
            outcome = Err(error);
        }
        if writer.completed(chunk, outcome)? {
            writer.pipe.spent.push(savepoint);
        }
        Ok(())
    }

    /// Releases the savepoints of completed chunks with the next write.
    pub(super) fn release_savepoints(&mut self, writer: &mut Writer) -> Result<()> {
        // A transaction that begins with its first row has not begun if that row was refused here.
        if writer.pipe.spent.is_empty() {
            return Ok(());
        }
        let Handle(transaction) = self.transactions.handle(writer.transaction)?;
        for savepoint in std::mem::take(&mut writer.pipe.spent) {
            self.tell(&immediate(transaction, &savepoint.forget()))?;
        }
        Ok(())
    }

    /// Closes the bulk interface, if it is open, with the next write.
    pub(super) fn release_bulk(&mut self, writer: &mut Writer) -> Result<()> {
        if writer.method == Method::Bulk {
            self.tell(&ReleaseBatch { statement: handle(writer.statement.0) })?;
            writer.method = Method::Undecided;
        }
        Ok(())
    }

    /// Waits for the answer to the execution of a bulk chunk.
    async fn completion(&mut self, ticket: Ticket) -> Result<Completion> {
        loop {
            if let Some(completion) = self.router.take_completion(ticket) {
                return Ok(completion);
            }
            if let Some(response) = self.router.take(ticket) {
                return Err(Error::engine(response.status));
            }
            self.step().await?;
        }
    }
}

impl From<Completion> for Outcome {
    fn from(completion: Completion) -> Self {
        let described = completion.errors.into_iter().map(|(record, status)| (record as usize, Some(status)));
        let bare = completion.bare_errors.into_iter().map(|record| (record as usize, None));
        Self {
            records: completion.records as usize,
            // A failed record has −1.
            affected: completion.updates.into_iter().map(|count| u64::try_from(count).ok()).collect(),
            failures: described.chain(bare).collect(),
        }
    }
}

/// Builds the request. SQL for savepoints is the same in every dialect.
fn immediate(transaction: u16, sql: &str) -> ExecuteImmediate<'_> {
    ExecuteImmediate { transaction, dialect: Dialect::default(), sql }
}
