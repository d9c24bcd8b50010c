//! SQL dialects.

use std::fmt;

/// The SQL dialect of a statement. The database has a dialect of its own; neither changes the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// The dialect of InterBase 5 and earlier. Double quotes delimit text, not names; dividing integers gives a DOUBLE
    /// PRECISION; DATE is a TIMESTAMP; there is no BIGINT, no TIME, and no DATE without a time.
    One,
    /// The dialect of InterBase 6 and later.
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

    /// The dialect with this number. Dialect 2 only warned of coming changes and is not supported.
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
