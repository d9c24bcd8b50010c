//! Moves of a scrollable cursor.

/// Where a scrollable cursor goes. A result has a position before its first row, where the cursor begins, and one after
/// its last row; neither has a row to fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// To the next row; from before the first row, to the first.
    Next,
    /// To the previous row; from after the last row, to the last.
    Prior,
    /// To the first row.
    First,
    /// To the last row.
    Last,
    /// To this row, counted from 1, or from the end when negative (−1 is the last). 0 is before the first.
    Absolute(i32),
    /// Forward by this many rows, or back if negative. 0 is the same row again.
    Relative(i32),
}

impl Move {
    /// Whether the move goes to an adjacent row. Engines fetch many such rows for one request.
    pub fn is_step(self) -> bool {
        matches!(self, Self::Next | Self::Prior)
    }

    /// The move that continues after this one: back after [`Prior`](Self::Prior), otherwise forward.
    #[must_use]
    pub fn after(self) -> Self {
        if self == Self::Prior { Self::Prior } else { Self::Next }
    }

    /// Whether a move that finds no row has ended after the last row. A subsequent [`Next`](Self::Next) then finds
    /// nothing.
    pub fn ends_behind(self) -> bool {
        match self {
            Self::Next | Self::First => true,
            Self::Absolute(by) | Self::Relative(by) => by > 0,
            Self::Prior | Self::Last => false,
        }
    }

    /// Whether a move that finds no row has ended before the first row.
    pub fn ends_before(self) -> bool {
        match self {
            Self::Prior | Self::Last => true,
            Self::Absolute(row) => row <= 0,
            Self::Relative(by) => by < 0,
            Self::Next | Self::First => false,
        }
    }
}
