//! Firebird generations, and why one may be missing.

use std::error::Error;
use std::fmt;

/// A Firebird generation, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Generation {
    /// Firebird 3.0: protocol 15, packed rows, SRP.
    V3_0,
    /// Firebird 4.0: protocols 16 and 17, DECFLOAT, INT128, time zones, batches.
    V4_0,
    /// Firebird 5.0: protocols 18 and 19, scrollable cursors, inline blobs.
    V5_0,
}

impl Generation {
    /// All generations that firearrow supports.
    pub const ALL: [Self; 3] = [Self::V3_0, Self::V4_0, Self::V5_0];

    /// The first number of the version.
    pub fn major(self) -> u8 {
        match self {
            Self::V3_0 => 3,
            Self::V4_0 => 4,
            Self::V5_0 => 5,
        }
    }

    /// The number as Firebird writes it, `3.0`.
    pub fn number(self) -> &'static str {
        match self {
            Self::V3_0 => "3.0",
            Self::V4_0 => "4.0",
            Self::V5_0 => "5.0",
        }
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Firebird {}", self.number())
    }
}

/// Something that a test needs and that is missing on this machine, with the reason and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// What the test would have run on, `Firebird 4.0`.
    pub name: String,
    /// Why, and what would change it.
    pub reason: String,
}

/// Why a server is missing.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// It is not installed: its tests are skipped by name.
    Missing(Skip),
    /// It is installed, or the environment says so, but does not work: its tests fail.
    Broken(String),
}

impl Skip {
    pub(crate) fn new(name: impl ToString, reason: impl Into<String>) -> Self {
        Self { name: name.to_string(), reason: reason.into() }
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.reason)
    }
}

impl Error for Skip {}
