//! Commits whose answer was lost.

/// What became of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommitOutcome {
    /// The changes are in the database.
    Committed,
    /// The changes are gone; the work can be repeated.
    RolledBack,
    /// It cannot be told.
    Unknown,
}

/// A commit that was sent and not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LostCommit {
    /// The number of the transaction in the database, unless the commit left together with the only statement.
    pub transaction: Option<u64>,
    /// What became of it, as far as the server could be asked.
    pub outcome: CommitOutcome,
}
