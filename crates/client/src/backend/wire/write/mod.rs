//! Many rows of parameters for one statement: batches where the server has them, pipelined executions elsewhere.
//!
//! ```text
//!              16 and later                              15 and earlier, and what a batch refuses
//!  first       batch_create, sync       (waits)          execute with BLR and message
//!  rows        batch_msg … batch_exec   (goes on)        execute … with messages only
//!  settle      answers, batch_rls                        answers
//! ```
//!
//! Either way rows after a failed one are tried if they have been sent, and every failure is reported with its row:
//! rows not reported have been done.

mod batch;
mod execution;

use super::{Wire, handle};
use crate::backend::link::Link;
use crate::backend::{Backend, Chunk, DETAILED_ERRORS, Method, Savepoint, Writer, Writes};
use crate::error::{Error, Kind, Result};
use firearrow_proto::api::gds;
use firearrow_proto::api::layout::{FieldKind, RowLayout};
use firearrow_proto::wire::Ticket;
use firearrow_proto::wire::packet::attach::Ping;
use firearrow_proto::wire::packet::batch::{BatchOptions, CreateBatch, SyncBatch};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of messages on their way.
const BYTES_AHEAD: usize = 1 << 20;

/// Requests sent for one [`Writer`] and not yet answered.
#[derive(Debug, Default)]
pub(crate) struct Pipe {
    sent: VecDeque<Sent>,
    bytes_ahead: usize,
    /// Savepoints that are not needed any more. No request may wait after the last batch, or it could not be cancelled.
    spent: Vec<Savepoint>,
    /// Why a part of the batch that comes next did not get into it.
    missing: Option<Error>,
}

/// A request and what its answer is about.
#[derive(Debug)]
struct Sent {
    ticket: Ticket,
    what: What,
    bytes: usize,
}

#[derive(Debug)]
enum What {
    /// The execution of this row, and the question how many rows it affected.
    Execution(usize, Option<Ticket>),
    /// Messages and BLOBs of a batch, its savepoint.
    Material,
    /// The execution of a batch.
    Batch(Box<Chunk>),
}

impl Pipe {
    fn push(&mut self, ticket: Ticket, what: What, bytes: usize) {
        self.bytes_ahead += bytes;
        self.sent.push_back(Sent { ticket, what, bytes });
    }
}

impl<L: Link> Writes for Wire<L> {
    /// Data may only follow an open batch: servers crash over data for one that does not exist.
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
        let created = self.success(created).await;
        self.answer(synced).await?;
        match created {
            Ok(_) => Ok(true),
            // RETURNING and the like.
            Err(error) if error.gds_codes().contains(&gds::ISC_BATCH_TYPE) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn write(&mut self, writer: &mut Writer, chunk: Chunk) -> Result<()> {
        let owner = writer.transaction;
        self.transactions.note_change(owner);
        let handle = self.transaction(owner).await?;
        self.ask_number(owner, handle)?;
        self.check_interruption()?;
        match writer.method {
            Method::Batch => self.send_batch(writer, chunk).await,
            _ => self.send_executions(writer, &chunk).await,
        }
    }

    /// Waits for all answers. After an error the others are still taken, so that the writer ends in step.
    async fn settle(&mut self, writer: &mut Writer) -> Result<()> {
        if let Some(Sent { ticket, what: What::Execution(..), .. }) = writer.pipe.sent.back()
            && !self.connection.is_last(*ticket)
        {
            // Others have used the connection. What they sent may make the server hold back the last answers.
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
        self.release_savepoints(writer)?;
        self.release_batch(writer)?;
        result
    }
}

impl<L: Link> Wire<L> {
    /// Takes the oldest answers until no more than this is under way.
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
            What::Batch(chunk) => self.settle_batch(writer, sent.ticket, *chunk).await,
            What::Material => {
                let answer = self.answer(sent.ticket).await?;
                if answer.status.is_error() {
                    // The batch is executed with the rest.
                    writer.pipe.missing.get_or_insert(Error::engine(answer.status));
                }
                Ok(())
            }
            What::Execution(row, counts) => self.settle_execution(writer, row, sent.ticket, counts).await,
        }
    }
}

/// A message is shorter than its layout says.
pub(super) fn misfit() -> Error {
    Error::new(Kind::Parameter, "a parameter message that does not fit its layout")
}
