//! Ends a call early, on cancellation or timeout.
//!
//! A server notices `op_cancel` only while no other request waits on the connection, and an `op_cancel` that has to
//! wait delays all later requests. So it is sent once per call, some time after the last request, and only if no other
//! request is known to wait after the running one. The client checks every 50 ms, whether bytes arrive or not. If
//! `op_cancel` has no effect, the client closes the connection, which servers notice immediately.

use super::Wire;
use super::patience::Patience;
use crate::backend::link::{GLANCE, Link};
use crate::backend::milliseconds;
use crate::cancel::{Operation, interrupted};
use crate::error::{Error, Kind, Result};
use firearrow_proto::wire::ProtocolError;
use firearrow_proto::wire::packet::attach::{Cancel, Ping};
use std::time::{Duration, Instant};

/// Longest wait for a server to react.
const REACTION: Duration = Duration::from_secs(2);

/// Longest wait for a server that goes on answering: what was asked for earlier must arrive first, and the link may be slow.
const LONGEST_REACTION: Duration = Duration::from_secs(4);

/// How long after its time limit a statement may end if the server enforces the limit: its clock starts when the
/// statement arrives, and it takes a moment to notice.
const GRACE: Duration = Duration::from_secs(1);

/// A call that ends sooner, or within this many round trips, is not interrupted.
const GLANCE_TIME: Duration = Duration::from_millis(100);
const GLANCE_TRIPS: u32 = 4;

/// When an execution times out.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeLimit {
    at: Instant,
    /// Whether the server has promised to enforce the limit. The client then does so only if the server fails to.
    is_promised: bool,
}

/// The conditions that end the running call.
#[derive(Debug, Default)]
pub(super) struct Interruption {
    /// The running operation.
    operation: Operation,
    /// The time limit for the next execution.
    pub(super) timeout: Option<Duration>,
    /// Whether nothing may be sent behind the next execution.
    pub(super) is_expected: bool,
    /// When the running call times out.
    pub(super) limit: Option<TimeLimit>,
    /// From when on the result that the server computes is unwanted.
    unwanted: Option<Instant>,
    /// Since when the call should have ended.
    due: Option<Instant>,
    /// How long the server has to react, once the call should have ended.
    reaction: Option<Patience>,
    /// When it has to have reacted, however often the wait begins anew within the call.
    end: Option<Instant>,
    /// Whether `op_cancel` was sent.
    is_told: bool,
    /// Whether `op_cancel` was sent during this operation and the server may not have noticed it: it would then
    /// interrupt the next operation.
    may_be_pending: bool,
    /// When the client last checked whether the call should end.
    looked: Option<Instant>,
    /// When the last request was sent.
    sent: Option<Instant>,
}

impl Interruption {
    /// Starts an operation, or continues it after others.
    pub(super) fn begin_call(&mut self, operation: &Operation) {
        self.operation = operation.clone();
        (self.limit, self.unwanted, self.due, self.is_told) = (None, None, None, false);
        (self.reaction, self.end, self.looked) = (None, None, None);
    }

    /// Ends the operation: its tokens no longer have an effect.
    pub(super) fn end_call(&mut self) {
        self.operation = Operation::default();
    }

    /// Tells whoever watches the operation that it waits.
    pub(super) fn waits(&self) {
        self.operation.waits();
    }

    /// Notes that requests were sent.
    pub(super) fn has_sent(&mut self, now: Instant) {
        self.sent = Some(now);
    }

    /// Whether to check now if the call should end. Most calls end before the first check.
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
        self.is_due() && self.due.get_or_insert_with(Instant::now).elapsed() > REACTION
    }

    /// By when the server has to have reacted: some time after the call should have ended.
    fn end(&mut self) -> Instant {
        *self.end.get_or_insert_with(|| Instant::now() + LONGEST_REACTION)
    }

    fn is_due(&self) -> bool {
        self.operation.interruption().is_some() || self.limit.is_some_and(|limit| Instant::now() >= limit.at)
    }

    /// Whether the running call should end because of a time limit only.
    pub(super) fn is_late(&self) -> bool {
        self.is_due() && !self.operation.is_cancelled()
    }

    /// Returns the error for the interrupted call.
    fn error(&self, text: &str) -> Error {
        let kind = if self.operation.is_cancelled() { Kind::Cancelled } else { Kind::Timeout };
        interrupted(kind, text)
    }
}

impl<L: Link> Wire<L> {
    /// Ends an operation. If `op_cancel` may have arrived too late, sends a reset with the next request, so that it
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

    /// Takes the limit for an execution: in milliseconds for the server (0 if it supports none), and for the client.
    pub(super) fn take_timeout(&mut self) -> (u32, Option<TimeLimit>) {
        let Some(timeout) = self.interruption.timeout.take() else { return (0, None) };
        let is_promised = self.connection.version().is_some_and(|version| version.has_statement_timeout());
        let grace = if is_promised { GRACE } else { Duration::ZERO };
        let at = Instant::now().checked_add(timeout.saturating_add(grace));
        let limit = at.map(|at| TimeLimit { at, is_promised });
        self.interruption.limit = limit;
        (if is_promised { milliseconds(timeout) } else { 0 }, limit)
    }

    /// Checks between rows, in either direction; ending there needs no help from the server.
    pub(super) fn check_interruption(&self) -> Result<()> {
        let Interruption { operation, limit, due, .. } = &self.interruption;
        // Rows that the server has sent in time are valid, however late they are read.
        let is_late =
            limit.is_some_and(|limit| Instant::now() >= limit.at && (!limit.is_promised || due.is_some()));
        if is_late || operation.interruption().is_some() {
            Err(self.interruption.error("between two rows"))
        } else {
            Ok(())
        }
    }

    /// Marks the only outstanding result as unwanted: the server should stop computing it, unless it is about to
    /// finish.
    pub(super) fn want_no_more(&mut self) {
        self.want_all();
        let trips = self.remembered.estimate.round_trip().saturating_mul(GLANCE_TRIPS).min(REACTION);
        self.interruption.unwanted = Some(Instant::now() + GLANCE_TIME.max(trips));
    }

    /// Interrupts the server's read-ahead once all fetches of an unwanted cursor have been answered. A server may start
    /// reading ahead after an answer, and the client cannot tell. If it has not, the cancellation may hit the next
    /// request.
    pub(super) async fn end_reading_ahead(&mut self) -> Result<()> {
        if !self.interruption.is_told {
            let _ = self.connection.send(&Cancel::Raise)?; // no answer will come
            self.flush().await?;
        }
        self.want_all();
        Ok(())
    }

    /// If somebody wants this call to end: waits until the server answers, or closes the connection. A server that was
    /// between two fetches may have missed the cancellation, and the next call would wait without knowing of it. The time
    /// since `begin` counts, but the server has at least half of [`REACTION`] for this answer.
    pub(super) async fn see_it_answer(&mut self, begin: Instant) -> Result<()> {
        if !self.interruption.is_due() {
            return Ok(());
        }
        let due = Instant::now().checked_sub(REACTION / 2).map_or(begin, |least| begin.max(least));
        // Another `op_cancel` would wait behind the requests that close the cursor.
        (self.interruption.is_told, self.interruption.due) = (true, Some(due));
        let end = self.interruption.end().max(due + REACTION);
        self.interruption.reaction = Some(Patience::since(due, self.connection.answers(), REACTION, end));
        let ticket = self.ask(&Ping)?;
        self.answer(ticket).await.map(|_| ())
    }

    /// Marks results as wanted again.
    pub(super) fn want_all(&mut self) {
        let interruption = &mut self.interruption;
        (interruption.unwanted, interruption.due, interruption.is_told) = (None, None, false);
        interruption.reaction = None;
    }

    /// Ends the call if it should have ended: first asks the server to stop, later closes the connection.
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
            self.interruption.reaction = None;
            self.interruption.may_be_pending = true;
            let _ = self.connection.send(&Cancel::Raise)?; // no answer will come
            return self.flush().await;
        }
        // An unwanted result is no reason to lose the connection, and the transaction with it.
        let answers = self.connection.answers();
        let mut has_time = || {
            let end = self.interruption.end();
            let reaction = &mut self.interruption.reaction;
            let reaction = reaction.get_or_insert_with(|| Patience::since(due, answers, REACTION, end));
            !reaction.is_over(answers, Instant::now())
        };
        if !is_due || has_time() { Ok(()) } else { Err(self.give_up()) }
    }

    /// Closes the connection, which ends all its work on the server.
    #[cold]
    pub(super) fn give_up(&mut self) -> Error {
        self.connection.fail(ProtocolError::Closed);
        self.link.shut_down();
        self.interruption.error("the server did not react, so the connection was closed")
    }
}
