//! What terminals do, in words that a program of another client understands.

use crate::input::{Locality, Mix};
use crate::pace::Pace;
use crate::scale::Scale;
use crate::way::Mode;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What terminals do, whatever client they use.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[non_exhaustive]
pub struct Plan {
    /// The size of the database.
    pub scale: Scale,
    /// Connections that work side by side.
    pub terminals: usize,
    /// How operations reach the server.
    pub mode: Mode,
    /// Where terminals work.
    pub locality: Locality,
    /// How often each operation comes.
    pub mix: Mix,
    /// When operations begin.
    pub pace: Pace,
    /// The isolation of transactions.
    pub isolation: Level,
    /// The same seed gives the same inputs.
    pub seed: u64,
}

/// The isolation of transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// READ COMMITTED READ CONSISTENCY
    ReadConsistency,
    /// READ COMMITTED RECORD VERSION
    ReadCommitted,
    /// SNAPSHOT
    Snapshot,
}

impl Level {
    /// Its name, as in the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        ["read-consistency", "read-committed", "snapshot"][self as usize]
    }

    pub(crate) fn isolation(self) -> firearrow::Isolation {
        match self {
            Self::ReadConsistency => firearrow::Isolation::ReadCommittedReadConsistency,
            Self::ReadCommitted => firearrow::Isolation::ReadCommittedRecordVersion,
            Self::Snapshot => firearrow::Isolation::Snapshot,
        }
    }
}

/// Seconds that a transaction waits for a lock. Nobody waits for ever: a lock that is held for so long is an error worth knowing.
pub const LOCK_TIMEOUT_S: u16 = 10;

/// How long a server or another client may take to answer: connecting, or an operation that waits for locks several times.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
