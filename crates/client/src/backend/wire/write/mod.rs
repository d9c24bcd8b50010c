//! Writes many parameter rows with one statement: through the bulk interface where the server has it, otherwise by
//! pipelined executions.
//!
//! ```text
//!              16 and later                              15 and earlier, and what a bulk chunk refuses
//!  first       batch_create, sync       (waits)          execute with BLR and message
//!  rows        batch_msg … batch_exec   (goes on)        execute … with messages only
//!  settle      answers, batch_rls                        answers
//! ```
//!
//! In both cases, rows already sent after a failed one are tried, and every failure is reported with its row; all other
//! rows have succeeded.

mod bulk;
mod execution;

use super::{Wire, handle};
use crate::backend::link::Link;
use crate::backend::{Backend, Chunk, DETAILED_ERRORS, Method, Savepoint, Writer, Writes};
use crate::error::{Error, Kind, Result};
use firearrow_proto::api::gds;
use firearrow_proto::api::layout::{FieldKind, RowLayout};
use firearrow_proto::wire::Ticket;
use firearrow_proto::wire::packet::attach::Ping;
use firearrow_proto::wire::packet::batch::{BatchOptions, CreateBatch, ReleaseBatch, SyncBatch};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of messages in flight.
const BYTES_AHEAD: usize = 1 << 20;

/// Requests for one [`Writer`] that have not been answered yet.
#[derive(Debug, Default)]
pub(crate) struct Pipe {
    sent: VecDeque<Sent>,
    bytes_ahead: usize,
    /// Savepoints that are no longer needed. They are not released right after the last chunk: a waiting request would
    /// prevent its cancellation.
    spent: Vec<Savepoint>,
    /// Why a part of the next bulk chunk is missing.
    missing: Option<Error>,
}

/// A request and the meaning of its answer.
#[derive(Debug)]
struct Sent {
    ticket: Ticket,
    what: What,
    bytes: usize,
}

#[derive(Debug)]
enum What {
    /// The execution of this row, and the request for its affected rows.
    Execution(usize, Option<Ticket>),
    /// The messages, BLOBs and savepoint of a bulk chunk.
    Material,
    /// The execution of a bulk chunk.
    Bulk(Box<Chunk>),
}

impl Pipe {
    fn push(&mut self, ticket: Ticket, what: What, bytes: usize) {
        self.bytes_ahead += bytes;
        self.sent.push_back(Sent { ticket, what, bytes });
    }
}

impl<L: Link> Writes for Wire<L> {
    /// Waits for the confirmation before any data is sent: servers crash on data for a batch that does not exist.
    async fn open_bulk(&mut self, writer: &Writer, layout: &Arc<RowLayout>) -> Result<bool> {
        let version = self.connection.version();
        if !self.is_firebird4() {
            return Ok(false);
        }
        let options = BatchOptions {
            multi_error: true,
            record_counts: true,
            detailed_errors: Some(DETAILED_ERRORS),
            buffer_bytes: None,
            has_blobs: layout.fields().iter().any(|field| field.kind == FieldKind::Blob),
        };
        let create = CreateBatch {
            statement: handle(writer.statement.0),
            blr: &layout.blr(),
            message_length: layout.native_length() as u32,
            options: &options.block(),
        };
        let created = self.ask(&create)?;
        let has_sync = version.is_some_and(|version| version.has_batch_sync());
        let synced = if has_sync { self.ask(&SyncBatch)? } else { self.ask(&Ping)? };
        // The statement may have been prepared again at the end of its last use.
        let confirmed = self.confirm(handle(writer.statement.0), writer.transaction).await;
        let created = self.success(created).await;
        self.answer(synced).await?;
        match confirmed {
            // There is no output that could be misread: the server converts the parameters, or refuses them.
            Err(error) if error.kind() != Kind::Changed => {
                if created.is_ok() {
                    self.tell(&ReleaseBatch { statement: handle(writer.statement.0) })?;
                }
                return Err(error);
            }
            _ => (),
        }
        match created {
            Ok(_) => Ok(true),
            // For example RETURNING.
            Err(error) if error.gds_codes().contains(&gds::ISC_BATCH_TYPE) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn write(&mut self, writer: &mut Writer, chunk: Chunk) -> Result<()> {
        let owner = writer.transaction;
        self.transactions.note_change(owner, self.connection.latest());
        let handle = self.transaction(owner).await?;
        self.ask_number(owner, handle)?;
        self.check_interruption()?;
        match writer.method {
            Method::Bulk => self.send_bulk(writer, chunk).await,
            _ => self.send_executions(writer, &chunk).await,
        }
    }

    /// Waits for all answers. After an error, the remaining answers are still taken, so that the writer ends in step.
    async fn settle(&mut self, writer: &mut Writer) -> Result<()> {
        if let Some(Sent { ticket, what: What::Execution(..), .. }) = writer.pipe.sent.back()
            && !self.connection.is_last(*ticket)
        {
            // Requests of other calls may make the server hold back the last answers.
            self.tell(&Ping)?;
        }
        let mut result = Ok(());
        while let Some(sent) = writer.pipe.sent.pop_front() {
            let settled = self.settle_one(writer, sent).await;
            if self.connection.failure().is_some() {
                return result.and(settled);
            }
            result = result.and(settled);
        }
        // If the statement could not be prepared, that is why its rows were refused.
        if !writer.written.failures.is_empty()
            && let Err(error) = self.confirm(handle(writer.statement.0), writer.transaction).await
            && error.kind() != Kind::Changed
        {
            result = Err(error);
        }
        self.release_savepoints(writer)?;
        self.release_bulk(writer)?;
        result
    }
}

impl<L: Link> Wire<L> {
    /// Takes the oldest answers until at most this much is in flight.
    async fn settle_down_to(&mut self, writer: &mut Writer, bytes: usize, requests: usize) -> Result<()> {
        while (writer.pipe.bytes_ahead > bytes || writer.pipe.sent.len() > requests)
            && let Some(sent) = writer.pipe.sent.pop_front()
        {
            self.settle_one(writer, sent).await?;
        }
        Ok(())
    }

    /// Takes one answer.
    async fn settle_one(&mut self, writer: &mut Writer, sent: Sent) -> Result<()> {
        writer.pipe.bytes_ahead -= sent.bytes;
        match sent.what {
            What::Bulk(chunk) => self.settle_bulk(writer, sent.ticket, *chunk).await,
            What::Material => {
                let answer = self.answer(sent.ticket).await?;
                if answer.status.is_error() {
                    // The chunk is executed with the rest.
                    writer.pipe.missing.get_or_insert(Error::engine(answer.status));
                }
                Ok(())
            }
            What::Execution(row, counts) => self.settle_execution(writer, row, sent.ticket, counts).await,
        }
    }
}

/// Returns the error for a message shorter than its layout.
pub(super) fn misfit() -> Error {
    Error::new(Kind::Parameter, "a parameter message does not match its layout")
}
