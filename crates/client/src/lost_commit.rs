//! Commits whose response was lost.

/// The outcome of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommitOutcome {
    /// The changes are in the database.
    Committed,
    /// The changes are gone; the work can be repeated.
    RolledBack,
    /// The outcome is unknown.
    Unknown,
}

/// A commit that was sent and not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LostCommit {
    /// The number of the transaction in the database, unless the commit left together with the only statement.
    pub transaction: Option<u64>,
    /// Its outcome, as far as the server could be asked.
    pub outcome: CommitOutcome,
}
