//! Delivers each answer to its requester.

use super::cursor::OpenCursors;
use super::kept::KeptRows;
use crate::arrow::BatchBuilder;
use crate::error::Result;
use crate::warning::Warnings;
use firearrow_proto::api::gds;
use firearrow_proto::api::status::StatusVector;
use firearrow_proto::wire::packet::batch::Completion;
use firearrow_proto::wire::packet::response::Response;
use firearrow_proto::wire::{Event, Ticket};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// Answers not yet collected, and requests whose answers will not be collected.
#[derive(Debug, Default)]
pub(super) struct Router {
    arrived: Arrived,
    completions: FxHashMap<Ticket, Completion>,
    ignored: FxHashSet<Ticket>,
    /// Executions that return one row, and the row if it arrived while the client waited for another answer.
    rows: FxHashMap<Ticket, Option<KeptRows>>,
    /// The total size of answers and rows, in bytes.
    held: usize,
    /// The latest failure among ignored answers. If the next awaited failure is only its consequence, this one is
    /// reported instead.
    ignored_failure: Option<StatusVector>,
    pub(super) warnings: Warnings,
}

impl Router {
    /// Discards the answer to `ticket` when it comes.
    pub(super) fn ignore(&mut self, ticket: Ticket) {
        if self.take(ticket).is_none() {
            self.ignored.insert(ticket);
        }
    }

    /// Returns the bytes of answers and rows not yet collected.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Whether the answer to `ticket` is outstanding and will be discarded.
    pub(super) fn ignores(&self, ticket: Ticket) -> bool {
        self.ignored.contains(&ticket)
    }

    /// Returns the number of outstanding answers that will be discarded.
    pub(super) fn ignored(&self) -> usize {
        self.ignored.len()
    }

    /// Whether the answer to `ticket` has come.
    pub(super) fn has(&self, ticket: Ticket) -> bool {
        self.arrived.position(ticket).is_some()
    }

    /// Takes the answer to `ticket` if it has come.
    pub(super) fn take(&mut self, ticket: Ticket) -> Option<Response> {
        let response = self.arrived.take(ticket)?;
        self.held -= weight(&response);
        Some(response)
    }

    /// Keeps the row of this execution until it is collected.
    pub(super) fn expect_rows(&mut self, ticket: Ticket) {
        self.rows.insert(ticket, None);
    }

    /// Moves the row that an execution returned into `builder`; `false` if it has no room.
    pub(super) fn give_rows(&mut self, ticket: Ticket, builder: &mut BatchBuilder) -> Result<bool> {
        let Some(kept) = self.rows.get_mut(&ticket) else { return Ok(true) };
        match kept.as_mut().map(|rows| rows.give(builder)).transpose()? {
            Some(false) => return Ok(false),
            Some(true) => self.held -= kept.take().map_or(0, |rows| rows.weight()),
            None => {}
        }
        Ok(true)
    }

    /// Discards the row of this execution.
    pub(super) fn forget_rows(&mut self, ticket: Ticket) {
        let kept = self.rows.remove(&ticket).flatten();
        self.held -= kept.map_or(0, |rows| rows.weight());
    }

    /// Takes the outcome of the bulk execution `ticket`, if it has come.
    pub(super) fn take_completion(&mut self, ticket: Ticket) -> Option<Completion> {
        let completion = self.completions.remove(&ticket)?;
        self.held -= completion_weight(&completion);
        Some(completion)
    }

    /// Notes the warnings of an answer that somebody collects. One that failed only because an ignored request had failed
    /// gets the status of that.
    pub(super) fn explained(&mut self, mut response: Response) -> Response {
        self.warnings.keep(&response.status);
        let ignored = self.ignored_failure.take();
        if let Some(cause) = ignored.filter(|cause| is_consequence(&response.status, cause)) {
            response.status = cause;
        }
        response
    }

    /// Stores an event that nobody is waiting for now.
    pub(super) fn route(&mut self, event: Event<'_>, cursors: &mut OpenCursors) {
        match event {
            Event::Response { ticket, response } => {
                if self.ignored.remove(&ticket) {
                    self.warnings.keep(&response.status);
                    if response.status.is_error() {
                        // Usually harmless, such as closing a cursor that its transaction has already closed. Kept
                        // in case the next answer fails because of it.
                        tracing::debug!(status = %response.status, "a request whose answer is ignored failed");
                        self.ignored_failure = Some(response.status);
                    }
                    return;
                }
                let response = self.explained(response);
                if let Some(response) = cursors.fetch_failed(ticket, response) {
                    self.held += weight(&response);
                    self.arrived.insert(ticket, response);
                }
            }
            Event::Rows { ticket, rows } => match self.rows.get_mut(&ticket) {
                Some(kept) => {
                    let rows = KeptRows::new(&rows, 0);
                    self.held += rows.weight();
                    self.held -= kept.replace(rows).map_or(0, |rows| rows.weight());
                }
                None => cursors.keep(ticket, &rows, 0),
            },
            Event::FetchEnd { ticket, cursor_end } => {
                self.ignored.remove(&ticket);
                cursors.fetch_ended(ticket, cursor_end);
            }
            Event::InlineBlob { ticket, blob } => cursors.inline.keep(ticket, &blob),
            Event::Completion { ticket, completion } => {
                if !self.ignored.remove(&ticket) {
                    self.held += completion_weight(&completion);
                    self.completions.insert(ticket, completion);
                }
            }
            Event::Attached(_) | Event::KeyCallback(_) => {}
        }
    }
}

/// Answers in the order of their requests, which is that of their arrival. Most are collected in that order, too.
#[derive(Debug, Default)]
struct Arrived(VecDeque<(Ticket, Response)>);

impl Arrived {
    fn insert(&mut self, ticket: Ticket, response: Response) {
        let is_last = self.0.back().is_none_or(|(last, _)| *last < ticket);
        let at = if is_last { self.0.len() } else { self.0.partition_point(|(other, _)| *other < ticket) };
        self.0.insert(at, (ticket, response));
    }

    fn position(&self, ticket: Ticket) -> Option<usize> {
        match self.0.front()? {
            (first, _) if *first == ticket => Some(0),
            _ => self.0.binary_search_by_key(&ticket, |(other, _)| *other).ok(),
        }
    }

    fn take(&mut self, ticket: Ticket) -> Option<Response> {
        self.position(ticket).and_then(|at| self.0.remove(at)).map(|(_, response)| response)
    }
}

/// Whether a request failed only because an earlier one had failed: a cursor that could not be closed is still open, and
/// after a shutdown only the first failure names the cause.
fn is_consequence(status: &StatusVector, cause: &StatusVector) -> bool {
    let is_shut = [gds::ISC_SHUTDOWN, gds::ISC_ATT_SHUTDOWN].into_iter().any(|code| cause.contains(code));
    status.contains(gds::ISC_DSQL_CURSOR_OPEN_ERR) || (is_shut && status.is_error())
}

/// Returns the size of a kept answer in bytes.
fn weight(response: &Response) -> usize {
    ENTRY + response.data.len() + response.status.weight()
}

fn completion_weight(completion: &Completion) -> usize {
    let errors: usize = completion.errors.iter().map(|(_, status)| ENTRY + status.weight()).sum();
    ENTRY + size_of::<u32>() * (completion.updates.len() + completion.bare_errors.len()) + errors
}

/// The overhead of an entry.
const ENTRY: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use firearrow_proto::api::status::StatusArg;

    #[test]
    fn the_first_of_two_failures_is_the_cause_of_the_second() {
        let of = |codes: &[i32]| StatusVector(codes.iter().map(|code| StatusArg::Gds(*code)).collect());
        let (shut, cancelled) = (of(&[gds::ISC_ATT_SHUTDOWN]), of(&[gds::ISC_CANCELLED]));
        let (still_open, other) =
            (of(&[gds::ISC_SQLERR, gds::ISC_DSQL_CURSOR_OPEN_ERR]), of(&[gds::ISC_DEADLOCK]));
        for (status, cause, expected) in [
            (&still_open, &shut, true),
            (&still_open, &cancelled, true),
            (&other, &shut, true),
            (&other, &cancelled, false),
            (&of(&[]), &shut, false),
        ] {
            assert_eq!(is_consequence(status, cause), expected, "{status:?}, {cause:?}");
        }
    }
}
