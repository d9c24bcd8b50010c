//! Results whose rows are fetched in any order: where they go, and how they work.

/// Where a [`ScrollCursor`](crate::ScrollCursor) goes. A cursor begins before the first row, and can move to after the
/// last row; neither position has a row to fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Position {
    /// One row on; from before the first row to the first.
    Next,
    /// One row back; from after the last row to the last.
    Prior,
    /// To the first row.
    First,
    /// To the last row.
    Last,
    /// To this row, counted from 1; from the end when negative, −1 being the last. 0 is before the first row.
    Absolute(i64),
    /// So many rows on, back when negative. 0 is the same row again.
    Relative(i64),
}

/// How a [`ScrollCursor`](crate::ScrollCursor) works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScrollOptions {
    /// Most bytes of rows in memory: of one fetch where the engine scrolls, and elsewhere of all rows read so far. What
    /// needs more fails with [`Kind::Memory`](crate::Kind::Memory). 256 MiB by default.
    pub memory: usize,
    /// Keep the rows in the client although the engine could scroll: then moves among rows already read cost nothing.
    pub keep_rows: bool,
}

firearrow_proto::setters! { ScrollOptions { memory: usize, keep_rows: bool } }

impl Default for ScrollOptions {
    fn default() -> Self {
        Self { memory: 256 << 20, keep_rows: false }
    }
}
