//! Many rows of parameters for one statement: batches where the server has them, pipelined executions elsewhere.
//!
//! ```text
//!              16 and later                              15 and earlier, and what a batch refuses
//!  first       batch_create, sync       (waits)          execute with BLR and message
//!  rows        batch_msg … batch_exec   (goes on)        execute … with messages only
//!  settle      answers, batch_rls                        answers
//! ```
//!
//! Either way rows behind a failed one are tried as long as they are under way, and every failure is reported with
//! its row: what is not reported has been done.

mod batch;
mod execution;

use super::Wire;
use crate::backend::link::Link;
use crate::backend::{Chunk, Method, Savepoint, Writer};
use crate::error::{Error, Kind, Result};
use firearrow_proto::wire::Ticket;
use firearrow_proto::wire::packet::attach::Ping;
use std::collections::VecDeque;

/// Bytes of messages on their way.
const BYTES_AHEAD: usize = 1 << 20;

/// What has been sent for one [`Writer`] and not been answered.
#[derive(Debug, Default)]
pub(crate) struct Pipe {
    sent: VecDeque<Sent>,
    bytes_ahead: usize,
    /// Savepoints that are not needed any more. Nothing may wait behind the last batch, or it could not be cancelled.
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

impl<L: Link> Wire<L> {
    /// Sends rows; waits only when too much is under way.
    pub(super) async fn send_rows(&mut self, writer: &mut Writer, chunk: Chunk) -> Result<()> {
        self.check_interruption()?;
        match writer.method {
            Method::Batch => self.send_batch(writer, chunk).await,
            _ => self.send_executions(writer, &chunk).await,
        }
    }

    /// Waits for all answers. After an error the others are still taken, so that the writer ends in step.
    pub(super) async fn settle_all(&mut self, writer: &mut Writer) -> Result<()> {
        if let Some(Sent { ticket, what: What::Execution(..), .. }) = writer.pipe.sent.back()
            && !self.connection.is_last(*ticket)
        {
            // Others have used the connection. What they sent may make the server hold back the last answers.
            self.tell(&Ping)?;
        }
        let mut result = Ok(());
        while let Some(sent) = writer.pipe.sent.pop_front() {
            let settled = self.settle(writer, sent).await;
            if self.connection.failure().is_some() {
                return result.and(settled);
            }
            result = result.and(settled);
        }
        self.release_savepoints(writer)?;
        self.release_batch(writer)?;
        result
    }

    /// Takes the oldest answers until no more than this is under way.
    async fn settle_down_to(&mut self, writer: &mut Writer, bytes: usize, requests: usize) -> Result<()> {
        while (writer.pipe.bytes_ahead > bytes || writer.pipe.sent.len() > requests)
            && let Some(sent) = writer.pipe.sent.pop_front()
        {
            self.settle(writer, sent).await?;
        }
        Ok(())
    }

    /// Takes one answer.
    async fn settle(&mut self, writer: &mut Writer, sent: Sent) -> Result<()> {
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
