//! How sessions make transactions.

use firearrow::{Isolation, LockResolution, TransactionOptions};
use std::time::Duration;

/// Seconds that DDL waits for others who use a table, if no lock timeout is set. Those may never go away: it may be this very
/// session.
const DDL_WAIT: u16 = 10;

/// The isolation level as the standards name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Level {
    /// READ COMMITTED. Before Firebird 4, a snapshot for each query in autocommit mode, which would otherwise see what others
    /// commit while it runs.
    #[default]
    Default,
    /// READ COMMITTED, the weakest that Firebird has.
    ReadUncommitted,
    /// READ COMMITTED with READ CONSISTENCY; RECORD_VERSION before Firebird 4.
    ReadCommitted,
    /// SNAPSHOT.
    RepeatableRead,
    /// SNAPSHOT.
    Snapshot,
    /// SNAPSHOT TABLE STABILITY.
    Serializable,
}

/// The purpose of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Anything until the user commits.
    Manual,
    /// One execution, which may return rows.
    Rows,
    /// One execution without rows.
    Update,
    /// Many rows into a table.
    Ingest,
    /// DDL, committed immediately.
    Ddl,
}

/// Options of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionOptions {
    /// Whether every execution has a separate transaction.
    pub autocommit: bool,
    /// Whether new transactions refuse to write.
    pub read_only: bool,
    /// The isolation level of new transactions.
    pub level: Level,
    /// Seconds to wait for locks of other transactions: `None` = until they are gone, 0 = fail immediately.
    pub lock_timeout: Option<u16>,
    /// Whether DDL is committed immediately, in manual mode too.
    pub ddl_autocommit: bool,
    /// The snapshot that new transactions read. Firebird 4 and later.
    pub snapshot_number: Option<u64>,
    /// The time limit of each statement, enforced by the server. Firebird 4 and later.
    pub statement_timeout: Option<Duration>,
    /// The time without a call after which the server closes the session, in whole seconds. Firebird 4 and later.
    pub idle_timeout: Option<Duration>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            autocommit: true,
            read_only: false,
            level: Level::Default,
            lock_timeout: None,
            ddl_autocommit: true,
            snapshot_number: None,
            statement_timeout: None,
            idle_timeout: None,
        }
    }
}

impl SessionOptions {
    /// Whether DDL gets a separate transaction.
    pub(crate) fn commits_ddl(&self) -> bool {
        self.autocommit || self.ddl_autocommit
    }

    /// How a transaction for this purpose begins; `modern` from Firebird 4 on.
    pub fn transaction(&self, purpose: Purpose, modern: bool) -> TransactionOptions {
        let at_snapshot = self.snapshot_number.filter(|_| purpose != Purpose::Ddl);
        let committed = match modern {
            true => Isolation::ReadCommittedReadConsistency,
            false => Isolation::ReadCommittedRecordVersion,
        };
        let isolation = match self.level {
            _ if at_snapshot.is_some() => Isolation::Snapshot,
            _ if purpose == Purpose::Ddl => committed,
            // Before Firebird 4 a query would see what is committed while it runs.
            Level::Default if purpose == Purpose::Rows && !modern => Isolation::Snapshot,
            Level::Default | Level::ReadUncommitted | Level::ReadCommitted => committed,
            Level::RepeatableRead | Level::Snapshot => Isolation::Snapshot,
            Level::Serializable => Isolation::SnapshotTableStability,
        };
        let lock_resolution = match self.lock_timeout {
            Some(0) => LockResolution::NoWait,
            Some(seconds) => LockResolution::Timeout(seconds),
            None if purpose == Purpose::Ddl => LockResolution::Timeout(DDL_WAIT),
            None => LockResolution::Wait,
        };
        // Without an undo log the server can report the outcome of a commit whose response was lost. Garbage collection
        // removes what is rolled back, as it does for all large transactions anyway.
        let no_auto_undo = matches!(purpose, Purpose::Manual | Purpose::Ingest);
        let mut options = TransactionOptions::default()
            .isolation(isolation)
            .lock_resolution(lock_resolution)
            .at_snapshot(at_snapshot)
            .no_auto_undo(no_auto_undo);
        options.read_only = self.read_only;
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isolation_depends_on_purpose_and_release() {
        let mut options = SessionOptions::default();
        let of = |options: &SessionOptions, purpose, modern| options.transaction(purpose, modern).isolation;
        assert_eq!(of(&options, Purpose::Rows, true), Isolation::ReadCommittedReadConsistency);
        assert_eq!(of(&options, Purpose::Rows, false), Isolation::Snapshot);
        assert_eq!(of(&options, Purpose::Update, false), Isolation::ReadCommittedRecordVersion);
        options.level = Level::Serializable;
        assert_eq!(of(&options, Purpose::Manual, true), Isolation::SnapshotTableStability);
        assert_eq!(of(&options, Purpose::Ddl, true), Isolation::ReadCommittedReadConsistency);
        options.snapshot_number = Some(17);
        let at = options.transaction(Purpose::Rows, true);
        assert_eq!((at.isolation, at.at_snapshot), (Isolation::Snapshot, Some(17)));
        assert_eq!(options.transaction(Purpose::Ddl, true).at_snapshot, None);
    }

    #[test]
    fn locks_are_waited_for_as_told() {
        for (lock_timeout, expected, ddl) in [
            (None, LockResolution::Wait, LockResolution::Timeout(DDL_WAIT)),
            (Some(0), LockResolution::NoWait, LockResolution::NoWait),
            (Some(7), LockResolution::Timeout(7), LockResolution::Timeout(7)),
        ] {
            let options = SessionOptions { lock_timeout, ..SessionOptions::default() };
            assert_eq!(options.transaction(Purpose::Manual, true).lock_resolution, expected);
            assert_eq!(options.transaction(Purpose::Ddl, true).lock_resolution, ddl);
        }
    }
}
