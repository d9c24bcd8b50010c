//! How connections make transactions.

use super::{bad_value, flag, number, within};
use crate::error::{Result, not_implemented};
use firearrow::{Isolation, LockResolution, TransactionOptions};

/// What the standard's isolation levels begin with.
const ISOLATION: &str = "adbc.connection.transaction.isolation.";
/// Longest wait for a lock that Firebird can be told, in seconds.
const LONGEST_WAIT: i64 = 32767;
/// Seconds that DDL waits for others who use a table, if nobody said how long. Those may never go away: perhaps it is this
/// connection itself.
const DDL_WAIT: u16 = 10;

/// Isolation as it was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Level {
    #[default]
    Default,
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Snapshot,
    Serializable,
}

const LEVELS: [(Level, &str); 6] = [
    (Level::Default, "default"),
    (Level::ReadUncommitted, "read_uncommitted"),
    (Level::ReadCommitted, "read_committed"),
    (Level::RepeatableRead, "repeatable_read"),
    (Level::Snapshot, "snapshot"),
    (Level::Serializable, "serializable"),
];

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Whatever comes until the user commits.
    Manual,
    /// One execution, which may give rows.
    Rows,
    /// One execution without rows.
    Update,
    /// Many rows into a table.
    Ingest,
    /// A statement that defines something, committed at once.
    Ddl,
}

/// Options of connections.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionOptions {
    pub(crate) autocommit: bool,
    pub(crate) readonly: bool,
    pub(crate) level: Level,
    /// Seconds; -1 = for ever.
    pub(crate) lock_timeout: i64,
    pub(crate) ddl_autocommit: bool,
    /// 0 = none.
    pub(crate) snapshot_number: u64,
    /// Milliseconds; 0 = no limit.
    pub(crate) statement_timeout: u32,
    /// Seconds; 0 = no limit.
    pub(crate) idle_timeout: u32,
}

impl Default for ConnectionOptions {
    fn default() -> Self {
        Self {
            autocommit: true,
            readonly: false,
            level: Level::Default,
            lock_timeout: -1,
            ddl_autocommit: true,
            snapshot_number: 0,
            statement_timeout: 0,
            idle_timeout: 0,
        }
    }
}

impl ConnectionOptions {
    /// Sets the option that has this key; `false` if there is none.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<bool> {
        match key {
            "adbc.connection.autocommit" => self.autocommit = flag(key, value)?,
            "adbc.connection.readonly" => self.readonly = flag(key, value)?,
            "adbc.connection.transaction.isolation_level" => self.level = level(key, value)?,
            "adbc.firebird.lock_timeout" => {
                self.lock_timeout = within(key, value, -1..=LONGEST_WAIT, "-1, or seconds from 0 to 32767")?;
            }
            "adbc.firebird.ddl_autocommit" => self.ddl_autocommit = flag(key, value)?,
            "adbc.firebird.snapshot_number" => {
                self.snapshot_number = number(key, value, "the number of a snapshot, or 0")?;
            }
            "adbc.firebird.statement_timeout" => {
                self.statement_timeout = number(key, value, "milliseconds from 0 to 4294967295")?;
            }
            "adbc.firebird.idle_timeout" => {
                self.idle_timeout = number(key, value, "seconds from 0 to 4294967295")?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(crate) fn get(&self, key: &str) -> Option<Result<String>> {
        Some(Ok(match key {
            "adbc.connection.autocommit" => self.autocommit.to_string(),
            "adbc.connection.readonly" => self.readonly.to_string(),
            "adbc.connection.transaction.isolation_level" => {
                let name =
                    LEVELS.iter().find(|(level, _)| *level == self.level).map_or("default", |(_, name)| name);
                format!("{ISOLATION}{name}")
            }
            "adbc.firebird.lock_timeout" => self.lock_timeout.to_string(),
            "adbc.firebird.ddl_autocommit" => self.ddl_autocommit.to_string(),
            "adbc.firebird.snapshot_number" => self.snapshot_number.to_string(),
            "adbc.firebird.statement_timeout" => self.statement_timeout.to_string(),
            "adbc.firebird.idle_timeout" => self.idle_timeout.to_string(),
            _ => return None,
        }))
    }

    /// How a transaction for this purpose begins; `modern` from Firebird 4 on.
    pub(crate) fn transaction(&self, purpose: Purpose, modern: bool) -> TransactionOptions {
        let at_snapshot =
            (self.snapshot_number > 0 && purpose != Purpose::Ddl).then_some(self.snapshot_number);
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
        let lock_resolution = match u16::try_from(self.lock_timeout) {
            Ok(0) => LockResolution::NoWait,
            Ok(seconds) => LockResolution::Timeout(seconds),
            Err(_) if purpose == Purpose::Ddl => LockResolution::Timeout(DDL_WAIT),
            Err(_) => LockResolution::Wait,
        };
        TransactionOptions {
            isolation,
            lock_resolution,
            read_only: self.readonly,
            at_snapshot,
            // So that the server can tell what became of a commit whose answer was lost. What is rolled back is left for
            // garbage collection, as everything large is anyway.
            no_auto_undo: matches!(purpose, Purpose::Manual | Purpose::Ingest),
            ..TransactionOptions::default()
        }
    }
}

fn level(key: &str, value: &str) -> Result<Level> {
    let name = value.strip_prefix(ISOLATION).unwrap_or(value);
    if name == "linearizable" {
        return Err(not_implemented("Firebird has no linearizable transactions"));
    }
    let level = LEVELS.iter().find(|(_, known)| *known == name).map(|(level, _)| *level);
    let expected = "default, read_committed, repeatable_read, snapshot or serializable behind their prefix";
    level.ok_or_else(|| bad_value(key, value, expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isolation_depends_on_purpose_and_release() {
        let mut options = ConnectionOptions::default();
        let of =
            |options: &ConnectionOptions, purpose, modern| options.transaction(purpose, modern).isolation;
        assert_eq!(of(&options, Purpose::Rows, true), Isolation::ReadCommittedReadConsistency);
        assert_eq!(of(&options, Purpose::Rows, false), Isolation::Snapshot);
        assert_eq!(of(&options, Purpose::Update, false), Isolation::ReadCommittedRecordVersion);
        options.set("adbc.connection.transaction.isolation_level", "serializable").expect("known");
        assert_eq!(of(&options, Purpose::Manual, true), Isolation::SnapshotTableStability);
        assert_eq!(of(&options, Purpose::Ddl, true), Isolation::ReadCommittedReadConsistency);
        options.set("adbc.firebird.snapshot_number", "17").expect("a number");
        let at = options.transaction(Purpose::Rows, true);
        assert_eq!((at.isolation, at.at_snapshot), (Isolation::Snapshot, Some(17)));
        assert_eq!(options.transaction(Purpose::Ddl, true).at_snapshot, None);
    }

    #[test]
    fn locks_are_waited_for_as_told() {
        let mut options = ConnectionOptions::default();
        for (value, expected, ddl) in [
            ("-1", LockResolution::Wait, LockResolution::Timeout(DDL_WAIT)),
            ("0", LockResolution::NoWait, LockResolution::NoWait),
            ("7", LockResolution::Timeout(7), LockResolution::Timeout(7)),
        ] {
            options.set("adbc.firebird.lock_timeout", value).expect("in bounds");
            assert_eq!(options.transaction(Purpose::Manual, true).lock_resolution, expected);
            assert_eq!(options.transaction(Purpose::Ddl, true).lock_resolution, ddl);
        }
        for value in ["-2", "32768", "x", ""] {
            assert!(options.set("adbc.firebird.lock_timeout", value).is_err(), "{value}");
        }
    }
}
