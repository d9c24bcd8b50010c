//! The state of one open cursor.

use super::fetch_window::FetchWindow;
use super::interruption::TimeLimit;
use super::kept::KeptRows;
use super::scroll::Scroll;
use crate::arrow::BatchBuilder;
use crate::error::{Error, Result};
use firearrow_proto::api::gds;
use firearrow_proto::api::row::PackedRows;
use firearrow_proto::api::scroll::Move;
use firearrow_proto::api::status::StatusVector;
use firearrow_proto::wire::Ticket;
use firearrow_proto::wire::packed::PackedFormat;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// If a fetch takes longer than this, and longer than [`SLOW_TRIPS`] round trips, no other one is queued after it, so
/// that the server can be interrupted. The extra round trip is a small part of that time.
pub(super) const SLOW_FETCH: Duration = Duration::from_millis(500);
const SLOW_TRIPS: u32 = 20;

/// How many rows of a cursor have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// No rows were requested: the server does not know the format yet.
    Opened,
    /// Rows were requested, and none has arrived.
    Asked,
    /// Rows of the first fetch have arrived. After a move of a scrollable cursor: rows of any fetch.
    Started,
    /// A whole fetch has arrived, and it was not the last.
    Long {
        /// Nobody has waited for the next fetch yet.
        is_between: bool,
    },
    /// No more rows will arrive.
    Ended,
}

#[derive(Debug)]
pub(super) struct OpenCursor {
    pub(super) format: Arc<PackedFormat>,
    pub(super) in_flight: VecDeque<Ticket>,
    /// Rows that arrived unrequested by the caller, or for which its batch had no room.
    pub(super) kept: VecDeque<KeptRows>,
    /// The size of `kept` in bytes.
    pub(super) held: usize,
    pub(super) stream: Stream,
    /// Why reading stopped. The server may continue: it does not know that the client cannot read a row.
    pub(super) failed: Option<Error>,
    /// Fetches to keep in flight.
    pub(super) window: FetchWindow,
    /// Since when the oldest fetch has been the server's oldest work for this cursor.
    pub(super) busy_since: Instant,
    /// How long the last fetch took, or its first rows.
    pub(super) pace: Duration,
    /// Whether the cursor is one of many in a row. Most of them end with their first fetch, so the second fetch waits
    /// for the end of the first.
    pub(super) is_one_of_many: bool,
    /// Whether the link has been told of its stream.
    pub(super) gathers: bool,
    pub(super) limit: Option<TimeLimit>,
    /// The current move, if the server supports scrolling.
    pub(super) scroll: Option<Scroll>,
}

impl OpenCursor {
    pub(super) fn new(format: Arc<PackedFormat>) -> Self {
        Self {
            format,
            in_flight: VecDeque::new(),
            kept: VecDeque::new(),
            held: 0,
            stream: Stream::Opened,
            failed: None,
            window: FetchWindow::new(),
            busy_since: Instant::now(),
            pace: Duration::ZERO,
            is_one_of_many: false,
            gathers: false,
            limit: None,
            scroll: None,
        }
    }

    /// Whether fetches are in flight.
    pub(super) fn is_asked(&self) -> bool {
        !self.in_flight.is_empty()
    }

    pub(super) fn failure(&self) -> Option<Error> {
        self.failed.clone()
    }

    /// Counts rows that have arrived.
    pub(super) fn count(&mut self, rows: usize) {
        if matches!(self.stream, Stream::Opened | Stream::Asked) {
            self.pace = self.busy_since.elapsed();
            self.stream = Stream::Started;
        }
        if let Some(scroll) = &mut self.scroll {
            scroll.came(rows);
        }
    }

    /// Notes that a fetch has been answered.
    pub(super) fn fetch_ended(&mut self, ticket: Ticket, cursor_end: bool) {
        self.in_flight.retain(|each| *each != ticket);
        // The first answer began with its first rows; another one when the one before it had ended.
        let waited =
            if self.stream == Stream::Started && self.scroll.is_none() { self.pace } else { Duration::ZERO };
        let now = Instant::now();
        self.window.answered(self.busy_since + waited, now);
        if cursor_end {
            self.stream = Stream::Ended;
        } else if !self.has_ended() {
            self.stream = Stream::Long { is_between: true };
        }
        self.pace = now.duration_since(self.busy_since);
        self.busy_since = now;
        if let Some(scroll) = &mut self.scroll {
            scroll.answered(self.in_flight.is_empty());
        }
    }

    /// Notes that a fetch has failed.
    pub(super) fn fetch_failed(&mut self, ticket: Ticket, status: StatusVector) {
        self.in_flight.retain(|each| *each != ticket);
        // A fetch after the end of the cursor is refused; that is how a pipeline of fetches ends.
        let is_after_end = self.has_ended() && status.contains(gds::ISC_REQ_SYNC);
        if !is_after_end && self.failed.is_none() {
            self.failed = Some(Error::engine(status));
        }
    }

    /// Starts a move of a scrollable cursor; `false` if the cursor does not scroll.
    pub(super) fn set_out(&mut self, to: Move, rows: usize) -> bool {
        let Some(scroll) = &mut self.scroll else { return false };
        scroll.begin(to, rows);
        self.stream = match self.stream {
            Stream::Opened | Stream::Asked => self.stream,
            Stream::Started | Stream::Long { .. } | Stream::Ended => Stream::Started,
        };
        true
    }

    /// Returns how many fetches may be in flight.
    pub(super) fn wanted(&self, round_trip: Duration) -> usize {
        let is_slow = self.pace > SLOW_FETCH && self.pace > round_trip.saturating_mul(SLOW_TRIPS);
        match self.stream {
            _ if self.failed.is_some() => 0,
            Stream::Ended => 0,
            // The server may be busy for long, and can be interrupted only while no other request waits.
            Stream::Opened | Stream::Asked => 1,
            Stream::Started if self.is_one_of_many => 1,
            Stream::Started | Stream::Long { .. } if is_slow => 1,
            Stream::Started | Stream::Long { .. } => self.window.size(),
        }
    }

    /// Whether the server has sent the last row.
    pub(super) fn has_ended(&self) -> bool {
        self.stream == Stream::Ended
    }

    /// Whether no more rows will arrive.
    pub(super) fn is_done(&self) -> bool {
        match &self.scroll {
            None => self.has_ended(),
            // A late answer must not be mistaken for an answer to the next move.
            Some(scroll) => self.in_flight.is_empty() && (self.has_ended() || scroll.is_complete()),
        }
    }

    pub(super) fn keep(&mut self, rows: &PackedRows<'_>, start: usize) {
        if start >= rows.rows || self.failed.is_some() {
            return;
        }
        let kept = KeptRows::new(rows, start);
        self.held += kept.weight();
        self.kept.push_back(kept);
    }

    /// Moves kept rows into `builder`; `true` if all of them fitted.
    pub(super) fn give_kept(&mut self, builder: &mut BatchBuilder) -> Result<bool> {
        while let Some(kept) = self.kept.front_mut() {
            if !kept.give(builder)? {
                return Ok(false);
            }
            self.held -= kept.weight();
            self.kept.pop_front();
        }
        Ok(true)
    }
}
