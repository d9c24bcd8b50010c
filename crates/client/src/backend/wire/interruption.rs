//! Ends a call early: because somebody cancelled it, or because its time is up.
//!
//! A server notices `op_cancel` only when no other request waits on the connection, and one that has to wait makes all
//! later ones wait, too. So it is sent once for a call, some time after the last request, and not while another one is
//! known to wait after the running one. The client looks every 50 ms, whether bytes come or not. If that has no effect,
//! the connection is closed, which servers notice immediately.

use super::Wire;
use crate::backend::link::{GLANCE, Link};
use crate::backend::milliseconds;
use crate::cancel::{Operation, interrupted};
use crate::error::{Error, Kind, Result};
use firearrow_proto::wire::ProtocolError;
use firearrow_proto::wire::packet::attach::Cancel;
use std::time::{Duration, Instant};

/// Longest wait for a server to react.
const PATIENCE: Duration = Duration::from_secs(2);

/// How much later than its time limit a statement may end where the server enforces it: its clock starts when the
/// statement arrives, and it has to notice.
const GRACE: Duration = Duration::from_secs(1);

/// A call that ends sooner, or within this many round trips, is not interrupted.
const GLANCE_BEHIND: Duration = Duration::from_millis(100);
const GLANCE_TRIPS: u32 = 4;

/// When the time of an execution is up.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeLimit {
    at: Instant,
    /// The server has promised to end it. The client does so only while it waits for that in vain.
    is_promised: bool,
}

/// The conditions that end the running call.
#[derive(Debug, Default)]
pub(super) struct Interruption {
    /// The running operation.
    operation: Operation,
    /// The limit for the next execution.
    pub(super) timeout: Option<Duration>,
    /// When the time of the running call is up.
    pub(super) limit: Option<TimeLimit>,
    /// When nobody waits any more for the result that the server works for.
    unwanted: Option<Instant>,
    /// Since when the call should have ended.
    due: Option<Instant>,
    /// `op_cancel` was sent.
    is_told: bool,
    /// `op_cancel` was sent during this operation and the server may not have noticed it: then it would interrupt the
    /// next one.
    may_be_pending: bool,
    /// When the client last looked whether the call should end.
    looked: Option<Instant>,
    /// When the last request left.
    sent: Option<Instant>,
}

impl Interruption {
    /// An operation begins, or goes on: others may have come in between.
    pub(super) fn begin_call(&mut self, operation: &Operation) {
        self.operation = operation.clone();
        (self.limit, self.unwanted, self.due, self.is_told) = (None, None, None, false);
        self.looked = None;
    }

    /// The operation is over; what happens to its tokens does not concern the next one.
    pub(super) fn end_call(&mut self) {
        self.operation = Operation::default();
    }

    /// Requests have left.
    pub(super) fn has_sent(&mut self) {
        self.sent = Some(Instant::now());
    }

    /// Whether to look if the call should end. Most calls are over before that is worth a thought.
    pub(super) fn is_time_to_look(&mut self, now: Instant) -> bool {
        let looked = *self.looked.get_or_insert(now);
        let is_time = now.duration_since(looked) >= GLANCE;
        if is_time {
            self.looked = Some(now);
        }
        is_time
    }

    /// Whether the call should have ended a while ago.
    pub(super) fn is_overdue(&mut self) -> bool {
        self.is_due() && self.due.get_or_insert_with(Instant::now).elapsed() > PATIENCE
    }

    fn is_due(&self) -> bool {
        self.operation.interruption().is_some() || self.limit.is_some_and(|limit| Instant::now() >= limit.at)
    }

    /// Whether nobody but the clock wanted the running call to end.
    pub(super) fn is_late(&self) -> bool {
        self.is_due() && !self.operation.is_cancelled()
    }

    /// The error of the interrupted call.
    fn error(&self, text: &str) -> Error {
        let kind = if self.operation.is_cancelled() { Kind::Cancelled } else { Kind::Timeout };
        interrupted(kind, text)
    }
}

impl<L: Link> Wire<L> {
    /// An operation ends. If `op_cancel` may have arrived too late, a reset is sent with the next request, so that it
    /// does not interrupt that one.
    pub(super) fn end_interruption(&mut self) -> Result<()> {
        self.interruption.end_call();
        if std::mem::take(&mut self.interruption.may_be_pending) && self.connection.failure().is_none() {
            for kind in [Cancel::Disable, Cancel::Enable] {
                let _ = self.connection.send(&kind)?; // no answer will come
            }
        }
        Ok(())
    }

    /// The limit for an execution, in milliseconds for the server (0 where it knows none), and for the client.
    pub(super) fn take_timeout(&mut self) -> (u32, Option<TimeLimit>) {
        let Some(timeout) = self.interruption.timeout.take() else { return (0, None) };
        let is_promised = self.connection.version().is_some_and(|version| version.has_statement_timeout());
        let grace = if is_promised { GRACE } else { Duration::ZERO };
        let at = Instant::now().checked_add(timeout.saturating_add(grace));
        let limit = at.map(|at| TimeLimit { at, is_promised });
        self.interruption.limit = limit;
        (if is_promised { milliseconds(timeout) } else { 0 }, limit)
    }

    /// Between rows, in either direction: it needs no help of the server to end there.
    pub(super) fn check_interruption(&self) -> Result<()> {
        let Interruption { operation, limit, due, .. } = &self.interruption;
        // Rows that a server has sent in time are good, however late they are read.
        let is_late =
            limit.is_some_and(|limit| Instant::now() >= limit.at && (!limit.is_promised || due.is_some()));
        if is_late || operation.interruption().is_some() {
            Err(self.interruption.error("between two rows"))
        } else {
            Ok(())
        }
    }

    /// The server shall end what it does for the only result that is still to come, unless it is about to.
    pub(super) fn want_no_more(&mut self) {
        self.want_all();
        let trips = self.round_trip.saturating_mul(GLANCE_TRIPS).min(PATIENCE);
        self.interruption.unwanted = Some(Instant::now() + GLANCE_BEHIND.max(trips));
    }

    /// All fetches of a cursor that nobody wants have been answered. After an answer servers read ahead on their own,
    /// and nothing shows whether they do. Where they do not, the operation's end makes them forget this.
    pub(super) async fn end_reading_ahead(&mut self) -> Result<()> {
        if !self.interruption.is_told {
            self.interruption.may_be_pending = true;
            let _ = self.connection.send(&Cancel::Raise)?; // no answer will come
            self.flush().await?;
        }
        self.want_all();
        Ok(())
    }

    /// From here on results are wanted again.
    pub(super) fn want_all(&mut self) {
        let interruption = &mut self.interruption;
        (interruption.unwanted, interruption.due, interruption.is_told) = (None, None, false);
    }

    /// Ends the call if it should have ended: the server is asked to stop first, then the connection is closed.
    pub(super) async fn look_for_interruption(&mut self) -> Result<()> {
        let is_due = self.interruption.is_due();
        let is_unwanted = self.interruption.unwanted.is_some_and(|time| Instant::now() >= time);
        if !is_due && !is_unwanted {
            return Ok(());
        }
        let due = *self.interruption.due.get_or_insert_with(Instant::now);
        let is_quiet = self.interruption.sent.is_none_or(|sent| sent.elapsed() >= GLANCE);
        if !self.interruption.is_told && is_quiet && self.connection.pending_results() <= 1 {
            (self.interruption.is_told, self.interruption.due) = (true, Some(Instant::now()));
            self.interruption.may_be_pending = true;
            let _ = self.connection.send(&Cancel::Raise)?; // no answer will come
            return self.flush().await;
        }
        // What nobody wants is no reason to lose the connection, and with it the transaction.
        if !is_due || due.elapsed() <= PATIENCE {
            return Ok(());
        }
        Err(self.give_up())
    }

    /// Closes the connection, which ends whatever the server does for it.
    pub(super) fn give_up(&mut self) -> Error {
        self.connection.fail(ProtocolError::Closed);
        self.link.shut_down();
        self.interruption.error("the server did not react, so that the connection was closed")
    }
}
