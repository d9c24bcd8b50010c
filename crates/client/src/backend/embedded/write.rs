//! Writes many parameter rows with one statement: through the engine's bulk interface, or row by row without it.

use super::statement::cached;
use super::{Embedded, no_statement, no_transaction};
use crate::backend::{Chunk, DETAILED_ERRORS, Message, Method, Outcome, Statements, Writer, Writes};
use crate::error::{Error, Result};
use firearrow_fbapi as fbapi;
use firearrow_fbapi::{Batch, BatchOptions, BlobPolicy, BlobStream, Completion, MessageBuffer, RecordState};
use firearrow_proto::api::describe::RecordCounts;
use firearrow_proto::api::gds;
use firearrow_proto::api::layout::{FieldKind, RowLayout};
use std::sync::Arc;

impl Writes for Embedded {
    async fn open_bulk(&mut self, writer: &Writer, layout: &Arc<RowLayout>) -> Result<bool> {
        let library = Arc::clone(self.attachment()?.library());
        let entry = self.statement(writer.statement)?;
        let format = cached(&mut entry.input, &library, layout)?;
        let has_blobs = layout.fields().iter().any(|field| field.kind == FieldKind::Blob);
        let options = BatchOptions {
            multi_error: true,
            record_counts: true,
            detailed_errors: Some(DETAILED_ERRORS),
            buffer_size: None,
            blobs: if has_blobs { BlobPolicy::Stream } else { BlobPolicy::None },
        };
        match entry.statement.create_batch(format, &options) {
            Ok(bulk) => {
                entry.bulk = Some(bulk);
                Ok(true)
            }
            Err(fbapi::Error::Unsupported { .. }) => Ok(false),
            Err(fbapi::Error::Status(status)) if status.contains(gds::ISC_BATCH_TYPE) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    async fn write(&mut self, writer: &mut Writer, chunk: Chunk) -> Result<()> {
        match writer.method {
            Method::Bulk => self.write_bulk(writer, chunk).await,
            _ => self.write_one_by_one(writer, &chunk).await,
        }
    }

    async fn settle(&mut self, writer: &mut Writer) -> Result<()> {
        if writer.method == Method::Bulk {
            writer.method = Method::Undecided;
            if let Some(bulk) = self.statement(writer.statement)?.bulk.take() {
                bulk.close()?;
            }
        }
        Ok(())
    }
}

impl Embedded {
    async fn write_bulk(&mut self, writer: &mut Writer, chunk: Chunk) -> Result<()> {
        self.check_interruption()?;
        let savepoint = chunk.savepoint;
        self.execute_immediate(writer.transaction, savepoint.set().as_str().into()).await?;
        let transaction = self.transactions.get(&writer.transaction).ok_or_else(no_transaction)?;
        let entry = self.statements.get_mut(&writer.statement.0).ok_or_else(no_statement)?;
        let bulk = entry.bulk.as_mut().ok_or_else(no_statement)?;
        let executed = fill(bulk, &chunk).and_then(|()| bulk.execute(transaction));
        let outcome = executed.map(Outcome::from).map_err(Error::from);
        if writer.completed(chunk, outcome)? {
            self.execute_immediate(writer.transaction, savepoint.forget().as_str().into()).await?;
        }
        Ok(())
    }

    async fn write_one_by_one(&mut self, writer: &mut Writer, chunk: &Chunk) -> Result<()> {
        let rows = &chunk.rows;
        let messages = rows.messages();
        for (row, bytes) in (chunk.first..).zip(messages) {
            if writer.should_stop() {
                break;
            }
            self.check_interruption()?;
            let message = Message { layout: &rows.layout, bytes };
            let executed = self
                .execute(writer.statement, writer.transaction, Some(message), None, writer.asks_counts)
                .await;
            let one = (!writer.asks_counts).then_some(RecordCounts::ONE_INSERTED);
            writer.executed(row, executed.map(|executed| executed.counts.or(one)))?;
        }
        Ok(())
    }
}

/// Adds rows and their BLOBs to the bulk interface.
fn fill(bulk: &mut Batch, chunk: &Chunk) -> Result<(), fbapi::Error> {
    let rows = &chunk.rows;
    let mut stream = BlobStream::new();
    for cell in &rows.blobs {
        let id = rows.blob_id(cell);
        if chunk.has_created_blobs {
            bulk.register_blob(id, Some(id))?;
        } else {
            stream.push(id, rows.blob_bytes(cell))?;
        }
    }
    if !stream.is_empty() {
        bulk.add_blob_stream(&stream)?;
    }
    // The engine requires aligned messages.
    let mut messages = MessageBuffer::new(rows.bytes.len());
    messages.bytes_mut()[..rows.bytes.len()].copy_from_slice(&rows.bytes);
    bulk.add(messages.bytes(), rows.rows)
}

impl From<Completion> for Outcome {
    fn from(completion: Completion) -> Self {
        let affected = completion.records.into_iter().map(|state| match state {
            RecordState::Changed(rows) => Some(rows.into()),
            RecordState::Done | RecordState::Failed => None,
        });
        Self {
            records: completion.processed,
            affected: affected.collect(),
            failures: completion
                .failures
                .into_iter()
                .map(|failure| (failure.record, failure.status))
                .collect(),
        }
    }
}
