//! Moving about in a result.

/// Where a scrollable cursor goes. A result has a place before its first row, where a cursor begins, and one behind its
/// last row; there is no row to fetch in either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// One row on; from before the first to the first.
    Next,
    /// One row back; from behind the last to the last.
    Prior,
    /// To the first row.
    First,
    /// To the last row.
    Last,
    /// To this row, counted from 1, or from the end when negative (−1 is the last). 0 is before the first.
    Absolute(i32),
    /// So many rows on, or back when negative. 0 is the same row again.
    Relative(i32),
}

impl Move {
    /// Whether it goes by single rows, so that engines fetch many of them for one request.
    pub fn is_step(self) -> bool {
        matches!(self, Self::Next | Self::Prior)
    }

    /// How to go on from the row that was reached: back after [`Prior`](Self::Prior), else on.
    #[must_use]
    pub fn after(self) -> Self {
        if self == Self::Prior { Self::Prior } else { Self::Next }
    }

    /// Whether it can miss only behind the last row. A [`Next`](Self::Next) after it finds nothing then.
    pub fn ends_behind(self) -> bool {
        match self {
            Self::Next | Self::First => true,
            Self::Absolute(by) | Self::Relative(by) => by > 0,
            Self::Prior | Self::Last => false,
        }
    }

    /// Whether it can miss only before the first row.
    pub fn ends_before(self) -> bool {
        match self {
            Self::Prior | Self::Last => true,
            Self::Absolute(row) => row <= 0,
            Self::Relative(by) => by < 0,
            Self::Next | Self::First => false,
        }
    }
}
