//! The backend operations as exchanges over a link.

mod array;
mod attachment;
mod blob;
mod blob_cost;
mod blob_window;
mod connect;
mod cursor;
mod event;
mod fetch_window;
mod formats;
#[cfg(test)]
mod in_step;
mod inline;
mod interruption;
mod kept;
mod known_links;
mod known_plugins;
mod link_estimate;
mod new_blob;
mod open_blob;
mod open_cursor;
mod patience;
mod router;
mod scroll;
mod series;
mod statement;
#[cfg(test)]
mod stuck;
mod transaction;
pub(crate) mod write;

use super::link::Link;
use crate::error::{Error, Kind, Result};
use crate::warning::{Warning, Warnings};
pub(crate) use blob_cost::BlobTraffic;
use blob_window::BlobWindow;
use cursor::OpenCursors;
use event::EventChannel;
use firearrow_proto::wire::packet::Request;
use firearrow_proto::wire::packet::response::Response;
use firearrow_proto::wire::{Connection, Event, Limits, ProtocolError, Ticket};
use formats::Formats;
use interruption::Interruption;
use known_links::RememberedLink;
pub(crate) use link_estimate::LinkEstimate;
use new_blob::NewBlobStreams;
use open_blob::OpenBlobs;
use patience::{Patience, Writing};
use router::Router;
pub(crate) use series::Lanes;
use statement::StatementHandles;
use std::io::ErrorKind;
use std::time::Instant;
use transaction::OpenTransactions;

/// A database attached over a link.
pub(crate) struct Wire<L> {
    connection: Connection,
    limits: Limits,
    link: L,
    router: Router,
    cursors: OpenCursors,
    statements: StatementHandles,
    formats: Formats,
    /// The room of the last message.
    message: Vec<u8>,
    transactions: OpenTransactions,
    open_blobs: OpenBlobs,
    new_blobs: NewBlobStreams,
    blob_window: BlobWindow,
    interruption: Interruption,
    patience: Patience,
    remembered: RememberedLink,
    events: EventChannel,
    /// Warnings about the connection itself.
    pub(crate) warnings: Vec<Warning>,
}

impl<L: Link> Wire<L> {
    /// Writes what is queued, then reads once.
    async fn exchange(&mut self) -> Result<()> {
        self.flush().await?;
        loop {
            let now = Instant::now();
            if self.patience.is_over(self.connection.answers(), now) {
                return Err(self.link_failed(ErrorKind::TimedOut.into()));
            }
            // Checked whether bytes arrive or not: a peer may send some now and then, but never an answer.
            if self.interruption.is_time_to_look(now) {
                self.look_for_interruption().await?;
            }
            let space = self.connection.space()?;
            match self.link.read(space).await {
                Ok(count) => {
                    self.remembered.estimate.received(count, Instant::now());
                    return Ok(self.connection.received(count)?);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => self.interruption.waits(),
                Err(error) => return Err(self.link_failed(error)),
            }
        }
    }

    /// Writes what is queued.
    async fn flush(&mut self) -> Result<()> {
        let is_quiet = !self.connection.is_awaiting();
        let bytes = self.connection.outgoing()?;
        if bytes.is_empty() {
            return Ok(());
        }
        if let Some(time) = self.events.settling() {
            L::pause(time).await;
        }
        let (mut taken, mut writing) = (0, Writing::default());
        let failed = loop {
            match self.link.write(&bytes[taken..]).await {
                Ok(0) => break Some(ErrorKind::WriteZero.into()),
                Ok(count) => taken += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => self.interruption.waits(),
                Err(error) => break Some(error),
            }
            if taken == bytes.len() {
                break None;
            }
            if writing.is_over(taken, &self.patience) {
                break Some(ErrorKind::TimedOut.into());
            }
            // In the middle of a packet, the call can only end by closing the connection.
            if self.interruption.is_overdue() {
                return Err(self.give_up());
            }
        };
        match failed {
            None => {
                self.connection.sent();
                let now = Instant::now();
                self.remembered.estimate.sent(is_quiet, now);
                self.interruption.has_sent(now);
                self.statements.has_sent();
                Ok(())
            }
            Some(error) => Err(self.link_failed(error)),
        }
    }

    /// Returns the error for a failed link, which cannot be used again: it may have failed in the middle of a packet.
    #[cold]
    fn link_failed(&mut self, error: std::io::Error) -> Error {
        self.connection.fail(ProtocolError::Closed);
        match error.kind() {
            ErrorKind::TimedOut => {
                Error::new(Kind::Timeout, "the server did not answer in time; the connection was closed")
            }
            _ => Error::new(Kind::Closed, format!("the connection to the server broke: {error}")),
        }
    }

    /// Queues a request whose answer will be collected.
    fn ask<R: Request>(&mut self, request: &R) -> Result<Ticket> {
        self.transactions.sends(R::OP);
        Ok(self.connection.send(request)?)
    }

    /// Queues a request whose answer will not be collected; the server may delay that answer. Logs failures.
    fn tell<R: Request>(&mut self, request: &R) -> Result<()> {
        self.transactions.sends(R::OP);
        let ticket = self.connection.send(request)?;
        self.router.ignore(ticket);
        Ok(())
    }

    /// Waits for the answer to `ticket`, which may be an error status.
    async fn answer(&mut self, ticket: Ticket) -> Result<Response> {
        if let Some(response) = self.router.take(ticket) {
            return Ok(response);
        }
        loop {
            self.check_held()?;
            match self.connection.next_event()? {
                // The usual case: returned at once, not stored. Nobody waits for the answer to a fetch by its ticket.
                Some(Event::Response { ticket: of, response }) if of == ticket => {
                    return Ok(self.router.explained(response));
                }
                Some(event) => self.router.route(event, &mut self.cursors),
                None => self.exchange().await?,
            }
        }
    }

    /// Waits for the answer to `ticket`; turns an error status into an error.
    async fn success(&mut self, ticket: Ticket) -> Result<Response> {
        success(self.answer(ticket).await?)
    }

    /// Handles one event; exchanges bytes if there is none.
    async fn step(&mut self) -> Result<()> {
        self.check_held()?;
        match self.connection.next_event()? {
            Some(event) => {
                self.router.route(event, &mut self.cursors);
                Ok(())
            }
            None => self.exchange().await,
        }
    }

    /// Limits the memory held by answers and rows that nobody collects. Must be called before each event.
    fn check_held(&mut self) -> Result<()> {
        let (held, limit) = (self.router.held() + self.cursors.held(), self.limits.held);
        if held <= limit {
            return Ok(());
        }
        let (length, limit) = (held as u64, limit as u64);
        let what = "uncollected rows and answers";
        Err(self.connection.fail(ProtocolError::TooLong { what, length, limit }).into())
    }

    pub(crate) fn statement_warnings(&self) -> Warnings {
        self.router.warnings.clone()
    }

    async fn call<R: Request>(&mut self, request: &R) -> Result<Response> {
        let ticket = self.ask(request)?;
        self.success(ticket).await
    }
}

/// Turns an error status into an error.
fn success(response: Response) -> Result<Response> {
    if response.status.is_error() { Err(Error::engine(response.status)) } else { Ok(response) }
}

/// Converts an id of this crate back to the 16-bit handle of a statement or BLOB.
fn handle(id: u32) -> u16 {
    id as u16
}
