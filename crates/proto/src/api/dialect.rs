//! SQL dialects.

use std::fmt;

/// How the engine understands SQL text. The database has a dialect, too; neither changes the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// That of InterBase 5 and before: text may stand in double quotes, so that names cannot; dividing integers gives a
    /// DOUBLE PRECISION, DATE is a TIMESTAMP, and there are no BIGINT, DATE without a time, and TIME.
    One,
    /// That of InterBase 6 and after.
    #[default]
    Three,
}

impl Dialect {
    /// Its number.
    pub const fn number(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Three => 3,
        }
    }

    /// The dialect of this number. Dialect 2, which only warned of what would change, is none.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::One),
            3 => Some(Self::Three),
            _ => None,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(f)
    }
}
