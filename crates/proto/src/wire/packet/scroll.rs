//! Scrollable cursors (protocol 18+): a flag of the execution, and a fetch with a move.

use super::statement::Fetch;
use super::{Answer, Request};
use crate::api::scroll::Move;
use crate::wire::op::Op;
use crate::wire::version::ProtocolVersion;
use crate::wire::xdr::Writer;

/// The flag of [`ExecuteOptions::cursor_flags`](super::statement::ExecuteOptions::cursor_flags) that makes a cursor
/// scrollable.
pub const SCROLLABLE: u32 = 1;

/// `op_fetch_scroll`: moves and fetches the row there. [`Move::Next`] and [`Move::Prior`] fetch up to the requested
/// number of rows; all other moves fetch one at most.
#[derive(Clone, Debug)]
pub struct FetchScroll {
    /// The fields of an `op_fetch`.
    pub fetch: Fetch,
    /// Where to go.
    pub to: Move,
}

impl Request for FetchScroll {
    const OP: Op = Op::FETCH_SCROLL;

    fn encode(&self, version: ProtocolVersion, out: &mut Writer<'_>) {
        self.fetch.encode(version, out);
        let (operation, position) = match self.to {
            Move::Next => (0, 0),
            Move::Prior => (1, 0),
            Move::First => (2, 0),
            Move::Last => (3, 0),
            Move::Absolute(row) => (4, row),
            Move::Relative(rows) => (5, rows),
        };
        out.short(operation);
        out.word(position as u32);
    }

    fn answer(&self) -> Answer {
        self.fetch.answer()
    }
}
