//! The FIFO of answers that are still to come. Packets carry no length and no request id: an answer can be read only
//! with its request known, so this queue is the decoder's context.

use crate::wire::packed::PackedFormat;
use crate::wire::packet::Answer;
use std::collections::VecDeque;
use std::sync::Arc;

/// Identifies a request until its answer has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[must_use]
pub struct Ticket(pub(super) u64);

/// The form that the next packet from the server may have.
#[derive(Clone, Debug)]
pub(super) enum Expected {
    /// `op_response` with at most this many bytes of data.
    Response(Ticket, usize),
    /// `op_fetch_response` for at most this many more rows, or `op_response` with an error; whether rows have arrived.
    Rows(Ticket, Arc<PackedFormat>, u16, bool),
    /// `op_sql_response`, then `op_response`; or only the latter.
    Singleton(Ticket, Arc<PackedFormat>),
    /// `op_batch_cs`, or `op_response` with an error.
    Completion(Ticket),
}

impl Expected {
    pub(super) fn ticket(&self) -> Ticket {
        match self {
            Self::Response(ticket, _)
            | Self::Rows(ticket, ..)
            | Self::Singleton(ticket, _)
            | Self::Completion(ticket) => *ticket,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Response(..) => "op_response",
            Self::Rows(..) => "op_fetch_response",
            Self::Singleton(..) => "op_sql_response",
            Self::Completion(_) => "op_batch_cs",
        }
    }

    /// The most bytes of data that an `op_response` may contain here.
    pub(super) fn most_data(&self) -> usize {
        match self {
            Self::Response(_, most) => *most,
            _ => MOST_DATA,
        }
    }
}

/// For an `op_response` without significant data.
const MOST_DATA: usize = u16::MAX as usize;

/// The sender pushes, the reader pops; there is no separate counter.
#[derive(Debug, Default)]
pub(super) struct Pending {
    queue: VecDeque<Expected>,
    last: u64,
    /// The last request whose bytes have been handed out for writing.
    handed_out: u64,
}

impl Pending {
    pub(super) fn push(&mut self, answer: Answer, most_data: usize) -> Ticket {
        self.last += 1;
        let ticket = Ticket(self.last);
        match answer {
            Answer::Response => self.queue.push_back(Expected::Response(ticket, most_data)),
            Answer::Rows(format, rows) => self.queue.push_back(Expected::Rows(ticket, format, rows, false)),
            Answer::Singleton(format) => self.queue.push_back(Expected::Singleton(ticket, format)),
            Answer::Completion => self.queue.push_back(Expected::Completion(ticket)),
            Answer::None => {}
        }
        ticket
    }

    /// What the next packet must be; `None` also if the server cannot have seen any request.
    pub(super) fn front(&self) -> Option<&Expected> {
        self.queue.front().filter(|expected| expected.ticket().0 <= self.handed_out)
    }

    /// Everything queued so far is being written.
    pub(super) fn hand_out(&mut self) {
        self.handed_out = self.last;
    }

    pub(super) fn pop(&mut self) {
        self.queue.pop_front();
    }

    /// Marks the first half of a singleton's answer as received: only its `op_response` is left.
    pub(super) fn reduce_front(&mut self) {
        if let Some(front) = self.queue.front_mut() {
            *front = Expected::Response(front.ticket(), MOST_DATA);
        }
    }

    /// Records rows of the front request.
    pub(super) fn count_rows(&mut self, rows: usize) {
        if let Some(Expected::Rows(_, _, left, any)) = self.queue.front_mut() {
            *left = left.saturating_sub(u16::try_from(rows).unwrap_or(u16::MAX));
            *any = true;
        }
    }

    /// The last request.
    pub(super) fn last(&self) -> Ticket {
        Ticket(self.last)
    }

    /// Answers that are more than `op_response`.
    pub(super) fn results(&self) -> usize {
        self.queue.iter().filter(|expected| !matches!(expected, Expected::Response(..))).count()
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }
}
