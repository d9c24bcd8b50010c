//! Where a fetch goes: the tables of `SQLFetchScroll`.

use crate::abi::{self, Len, SmallInt};

/// A direction with its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Next,
    First,
    Last,
    Prior,
    Absolute(i64),
    Relative(i64),
    /// From the row of a bookmark, counted from 1.
    Bookmark {
        row: u64,
        offset: i64,
    },
}

/// Where the current row set is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    BeforeStart,
    /// From this row on, counted from 0.
    Row(u64),
    AfterEnd,
}

/// Where a row set shall be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// From this row on, if it exists; otherwise the cursor is after the end. `is_moved` if it would have begun before the
    /// first row: 01S06.
    Row {
        row: u64,
        is_moved: bool,
    },
    BeforeStart,
}

impl Direction {
    /// `None` for numbers that the standard does not define, and for bookmarks.
    pub(crate) fn new(orientation: SmallInt, offset: Len) -> Option<Self> {
        let offset = offset as i64;
        Some(match orientation {
            abi::FETCH_NEXT => Self::Next,
            abi::FETCH_FIRST => Self::First,
            abi::FETCH_LAST => Self::Last,
            abi::FETCH_PRIOR => Self::Prior,
            abi::FETCH_ABSOLUTE => Self::Absolute(offset),
            abi::FETCH_RELATIVE => Self::Relative(offset),
            _ => return None,
        })
    }

    /// Whether the number of rows must be known to go there.
    pub(crate) fn needs_end(self, at: At) -> bool {
        match self {
            Self::Last => true,
            Self::Absolute(row) => row < 0,
            Self::Prior | Self::Relative(..0) => at == At::AfterEnd,
            _ => false,
        }
    }

    /// Where the row set of `size` rows begins, coming from a row set of `last_size` rows at `at`. `total` is the number of
    /// rows where it is known.
    pub(crate) fn goal(self, at: At, last_size: u64, size: u64, total: u64) -> Goal {
        let row = |row: i128| match row {
            0.. => Goal::Row { row: u64::try_from(row).unwrap_or(u64::MAX), is_moved: false },
            _ => Goal::BeforeStart,
        };
        // Row sets that would begin before the first row begin with it, unless they would end before it.
        let back = |row: i128, is_far: bool| match row {
            0.. => Goal::Row { row: u64::try_from(row).unwrap_or(u64::MAX), is_moved: false },
            _ if is_far => Goal::BeforeStart,
            _ => Goal::Row { row: 0, is_moved: true },
        };
        let (size, total) = (i128::from(size), i128::from(total));
        match (self, at) {
            (Self::Next, At::BeforeStart) | (Self::First, _) => row(0),
            (Self::Next, At::Row(start)) => row(i128::from(start) + i128::from(last_size)),
            (Self::Next, At::AfterEnd) => row(total),
            (Self::Last, _) => row((total - size).max(0)),
            (Self::Prior, At::BeforeStart) => Goal::BeforeStart,
            (Self::Prior, At::Row(0)) => Goal::BeforeStart,
            (Self::Prior, At::Row(start)) => back(i128::from(start) - size, false),
            (Self::Prior, At::AfterEnd) => back(total - size, total == 0),
            (Self::Absolute(0), _) => Goal::BeforeStart,
            (Self::Absolute(number @ 1..), _) => row(i128::from(number) - 1),
            (Self::Absolute(number), _) => back(total + i128::from(number), i128::from(number).abs() > size),
            (Self::Relative(by), At::BeforeStart) if by > 0 => row(i128::from(by) - 1),
            (Self::Relative(_), At::BeforeStart) => Goal::BeforeStart,
            (Self::Relative(by @ ..0), At::AfterEnd) => {
                back(total + i128::from(by), i128::from(by).abs() > size)
            }
            (Self::Relative(_), At::AfterEnd) => row(total),
            (Self::Relative(by), At::Row(start)) => {
                let is_far = start == 0 || i128::from(by).abs() > size;
                back(i128::from(start) + i128::from(by), is_far)
            }
            (Self::Bookmark { row: number, offset }, _) => row(i128::from(number) - 1 + i128::from(offset)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(direction: Direction, at: At) -> Goal {
        direction.goal(at, 5, 5, 12)
    }

    fn at(row: u64) -> Goal {
        Goal::Row { row, is_moved: false }
    }

    #[test]
    fn directions_follow_the_tables() {
        use Direction::*;
        let moved = Goal::Row { row: 0, is_moved: true };
        for (direction, from, expected) in [
            (Next, At::BeforeStart, at(0)),
            (Next, At::Row(5), at(10)),
            (Next, At::Row(10), at(15)),
            (Next, At::AfterEnd, at(12)),
            (First, At::AfterEnd, at(0)),
            (Last, At::BeforeStart, at(7)),
            (Prior, At::BeforeStart, Goal::BeforeStart),
            (Prior, At::Row(0), Goal::BeforeStart),
            (Prior, At::Row(3), moved),
            (Prior, At::Row(5), at(0)),
            (Prior, At::AfterEnd, at(7)),
            (Absolute(0), At::Row(3), Goal::BeforeStart),
            (Absolute(1), At::Row(3), at(0)),
            (Absolute(13), At::Row(3), at(12)),
            (Absolute(-1), At::Row(3), at(11)),
            (Absolute(-12), At::Row(3), at(0)),
            (Absolute(-13), At::Row(3), Goal::BeforeStart),
            (Relative(2), At::BeforeStart, at(1)),
            (Relative(-2), At::BeforeStart, Goal::BeforeStart),
            (Relative(0), At::Row(3), at(3)),
            (Relative(-3), At::Row(3), at(0)),
            (Relative(-4), At::Row(3), moved),
            (Relative(-6), At::Row(3), Goal::BeforeStart),
            (Relative(-1), At::Row(0), Goal::BeforeStart),
            (Relative(-2), At::AfterEnd, at(10)),
            (Relative(2), At::AfterEnd, at(12)),
            (Bookmark { row: 4, offset: 1 }, At::Row(0), at(4)),
        ] {
            assert_eq!(goal(direction, from), expected, "{direction:?} from {from:?}");
        }
        // A result that is smaller than the row set.
        assert_eq!(Absolute(-3).goal(At::BeforeStart, 5, 5, 2), moved);
        assert_eq!(Last.goal(At::BeforeStart, 5, 5, 2), at(0));
        assert_eq!(Prior.goal(At::AfterEnd, 5, 5, 2), moved);
        assert_eq!(Prior.goal(At::AfterEnd, 5, 5, 0), Goal::BeforeStart);
    }
}
