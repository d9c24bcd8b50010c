//! Moves of a scrollable cursor as fetches (protocol 18 and later).

use firearrow_proto::api::scroll::Move;

/// A move in progress: which rows are missing, and which of those have been requested.
#[derive(Debug)]
pub(super) struct Scroll {
    /// The next move to request.
    to: Move,
    /// Rows that have not arrived yet.
    wanted: usize,
    /// How many of them have been requested.
    asked: usize,
    /// Rows of the current answer so far.
    in_answer: usize,
    /// Rows per answer, as far as is known. Servers end an answer after about 128 KB.
    per_answer: usize,
    /// Whether the next request may be sent before the previous one is answered.
    may_follow: bool,
}

impl Default for Scroll {
    fn default() -> Self {
        Self {
            to: Move::Next,
            wanted: 0,
            asked: 0,
            in_answer: 0,
            per_answer: u16::MAX.into(),
            may_follow: false,
        }
    }
}

impl Scroll {
    pub(super) fn begin(&mut self, to: Move, rows: usize) {
        *self = Self { to, wanted: rows, ..Self::default() };
    }

    /// Returns the move and the number of rows of the next request; `None` while there is nothing to request.
    ///
    /// All requests together never ask for more rows than are wanted: the server would move past those, too.
    pub(super) fn next_request(&mut self, is_first: bool) -> Option<(Move, u16)> {
        let left = self.wanted.saturating_sub(self.asked);
        if left == 0 || !(is_first || self.may_follow) {
            return None;
        }
        let rows = if self.to.is_step() { left.min(self.per_answer) } else { 1 };
        let to = self.to;
        // If the first request can miss and end before the rows, a step after it would find the first row.
        self.may_follow = to.is_step() || to.ends_behind();
        self.to = to.after();
        self.asked += rows;
        Some((to, u16::try_from(rows).unwrap_or(u16::MAX)))
    }

    /// Counts rows that have arrived.
    pub(super) fn came(&mut self, rows: usize) {
        self.wanted = self.wanted.saturating_sub(rows);
        self.asked = self.asked.saturating_sub(rows);
        self.in_answer += rows;
    }

    /// Notes that a request has been answered, perhaps with fewer rows than requested. Only when no other request is in
    /// flight is that certain; then the rest is requested again, in pieces small enough for several to be in flight.
    pub(super) fn answered(&mut self, is_last: bool) {
        if is_last && self.asked > 0 {
            self.asked = 0;
            self.per_answer = self.in_answer.max(1);
        }
        self.in_answer = 0;
    }

    /// Whether all wanted rows have arrived.
    pub(super) fn is_complete(&self) -> bool {
        self.wanted == 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::handle;
    use super::super::in_step::attach;
    use super::*;
    use crate::backend::{Cursors, Statements};
    use crate::session::ready;
    use firearrow_proto::api::layout::RowLayout;
    use firearrow_proto::wire::Event;
    use firearrow_proto::wire::packed::PackedFormat;
    use firearrow_proto::wire::packet::scroll::FetchScroll;
    use firearrow_proto::wire::packet::statement::Fetch;
    use std::sync::Arc;

    firearrow_testkit::matrix!(
        [firebird_5_0],
        fn servers_take_a_count_for_steps_alone(target: &firearrow_testkit::Target) {
            let session = &mut attach(&target.fresh_url());
            let transaction = ready(session.begin(&Default::default())).expect("it starts");
            let sql = "WITH RECURSIVE n AS (
                           SELECT 1 i FROM RDB$DATABASE UNION ALL SELECT i + 1 FROM n WHERE i < 10
                       ) SELECT i FROM n";
            let wire = &mut session.backend;
            let (statement, info) = ready(wire.prepare(transaction, sql.into())).expect("valid SQL");
            let layout = Arc::new(RowLayout::for_descriptors(&info.columns).expect("a known type"));
            ready(wire.open_scrollable(statement, transaction, None, &layout)).expect("it runs");
            let output = Arc::new(PackedFormat::new(layout));
            // Requests four rows each time. Expected: how many arrive, and whether the end is reported.
            let moves = [
                (Move::Next, 4, false),
                (Move::Prior, 3, true),
                (Move::Prior, 0, true),
                (Move::Next, 4, false),
                (Move::Next, 4, false),
                (Move::Next, 2, true),
                (Move::Prior, 4, false),
                (Move::First, 1, false),
                (Move::Last, 1, false),
                (Move::Absolute(5), 1, false),
                (Move::Relative(2), 1, false),
                (Move::Relative(4), 0, true),
            ];
            for (index, (to, expected, is_end)) in moves.into_iter().enumerate() {
                let (output, first) = (Arc::clone(&output), index == 0);
                let fetch = Fetch { statement: handle(statement.0), output, first, rows: 4 };
                let ticket = wire.connection.send(&FetchScroll { fetch, to }).expect("it is attached");
                let mut found = 0;
                let end = loop {
                    match wire.connection.next_event().expect("a good answer") {
                        None => ready(wire.exchange()).expect("it answers"),
                        Some(Event::Rows { rows, .. }) => found += rows.rows,
                        Some(Event::FetchEnd { ticket: of, cursor_end }) if of == ticket => break cursor_end,
                        Some(_) => {} // what preparing left over
                    }
                };
                assert_eq!((found, end), (expected, is_end), "{index}: {to:?}");
            }
        }
    );

    /// Starts a move of `rows` rows.
    fn begun(to: Move, rows: usize) -> Scroll {
        let mut scroll = Scroll::default();
        scroll.begin(to, rows);
        scroll
    }

    #[test]
    fn no_more_rows_are_asked_for_than_are_wanted() {
        let mut scroll = begun(Move::Next, 100_000);
        assert_eq!(scroll.next_request(true), Some((Move::Next, 65535)));
        assert_eq!(scroll.next_request(false), Some((Move::Next, 34465)));
        assert_eq!(scroll.next_request(false), None);
        // The first answer is short: the missing rows are requested after the second one.
        scroll.came(400);
        scroll.answered(false);
        assert_eq!(scroll.next_request(false), None);
        scroll.came(300);
        scroll.came(200);
        scroll.answered(true);
        // Later requests use that size.
        assert_eq!(scroll.next_request(true), Some((Move::Next, 500)));
        assert_eq!(scroll.next_request(false), Some((Move::Next, 500)));
        for _ in 0..2 {
            scroll.came(500);
            scroll.answered(false);
        }
        assert_eq!((scroll.wanted, scroll.asked), (98_100, 0));
        scroll.begin(Move::Prior, 700);
        assert_eq!(scroll.next_request(true), Some((Move::Prior, 700)));
        scroll.came(700);
        assert!(scroll.is_complete());
        assert_eq!(scroll.next_request(true), None);
    }

    #[test]
    fn steps_wait_for_a_move_that_may_miss_in_front_of_the_rows() {
        for (to, may_follow) in [
            (Move::First, true),
            (Move::Absolute(7), true),
            (Move::Relative(1), true),
            (Move::Last, false),
            (Move::Absolute(-3), false),
            (Move::Absolute(0), false),
            (Move::Relative(0), false),
            (Move::Relative(-1), false),
        ] {
            let mut scroll = begun(to, 10);
            assert_eq!(scroll.next_request(true), Some((to, 1)));
            let next = Some((Move::Next, 9));
            assert_eq!(scroll.next_request(false), next.filter(|_| may_follow), "{to:?}");
            if !may_follow {
                scroll.came(1);
                scroll.answered(true);
                assert_eq!(scroll.next_request(true), next, "{to:?}");
            }
        }
    }

    #[test]
    fn a_server_that_sends_too_much_breaks_nothing() {
        let mut scroll = begun(Move::Next, 2);
        assert_eq!(scroll.next_request(true), Some((Move::Next, 2)));
        scroll.came(1000);
        scroll.answered(true);
        assert!(scroll.is_complete());
        assert_eq!(scroll.next_request(true), None);
    }
}
