//! Transaction options: what a transaction sees and locks, and the TPB that requests it.

/// Isolation levels of Firebird.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// `SNAPSHOT` (concurrency): sees the database as it was at the start.
    #[default]
    Snapshot,
    /// `SNAPSHOT TABLE STABILITY` (consistency): also locks tables.
    SnapshotTableStability,
    /// `READ COMMITTED RECORD_VERSION`: sees the last committed version.
    ReadCommittedRecordVersion,
    /// `READ COMMITTED NO RECORD_VERSION`: waits for writers of a row.
    ReadCommittedNoRecordVersion,
    /// `READ COMMITTED READ CONSISTENCY` (Firebird 4+): each statement sees one snapshot.
    ReadCommittedReadConsistency,
}

/// What happens when another transaction holds a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockResolution {
    /// Wait until that transaction ends.
    #[default]
    Wait,
    /// Fail at once.
    NoWait,
    /// Wait this many seconds (1 … 32767), then fail.
    Timeout(u16),
}

/// Options of a new transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransactionOptions {
    /// What the transaction sees.
    pub isolation: Isolation,
    /// What happens on a conflict.
    pub lock_resolution: LockResolution,
    /// Whether to refuse writes.
    pub read_only: bool,
    /// Whether the engine commits (retaining) after each successful statement. If the answer to a statement is lost,
    /// the error reports only the lost connection: check the data.
    pub auto_commit: bool,
    /// The number of a snapshot to read (Firebird 4+, `Isolation::Snapshot` only). The transaction that supplied the
    /// number must still be active.
    pub at_snapshot: Option<u64>,
    /// Whether to ignore changes of transactions in limbo.
    pub ignore_limbo: bool,
    /// Whether to keep no undo log for the transaction.
    pub no_auto_undo: bool,
}

/// `isc_tpb_*`.
mod tpb {
    pub(super) const CONSISTENCY: u8 = 1;
    pub(super) const CONCURRENCY: u8 = 2;
    pub(super) const VERSION3: u8 = 3;
    pub(super) const WAIT: u8 = 6;
    pub(super) const NOWAIT: u8 = 7;
    pub(super) const READ: u8 = 8;
    pub(super) const WRITE: u8 = 9;
    pub(super) const IGNORE_LIMBO: u8 = 14;
    pub(super) const READ_COMMITTED: u8 = 15;
    pub(super) const AUTOCOMMIT: u8 = 16;
    pub(super) const REC_VERSION: u8 = 17;
    pub(super) const NO_REC_VERSION: u8 = 18;
    pub(super) const NO_AUTO_UNDO: u8 = 20;
    pub(super) const LOCK_TIMEOUT: u8 = 21;
    pub(super) const READ_CONSISTENCY: u8 = 22;
    pub(super) const AT_SNAPSHOT_NUMBER: u8 = 23;
}

crate::setters! {
    TransactionOptions {
        read_only: bool,
        isolation: Isolation,
        lock_resolution: LockResolution,
        auto_commit: bool,
        at_snapshot: Option<u64>,
        ignore_limbo: bool,
        no_auto_undo: bool,
    }
}

impl TransactionOptions {
    /// Options of a snapshot that is only read.
    pub fn reading() -> Self {
        Self::default().read_only(true)
    }

    /// The transaction parameter buffer.
    pub fn tpb(&self) -> Vec<u8> {
        let mut out = vec![tpb::VERSION3];
        match self.isolation {
            Isolation::Snapshot => out.push(tpb::CONCURRENCY),
            Isolation::SnapshotTableStability => out.push(tpb::CONSISTENCY),
            Isolation::ReadCommittedRecordVersion => out.extend([tpb::READ_COMMITTED, tpb::REC_VERSION]),
            Isolation::ReadCommittedNoRecordVersion => out.extend([tpb::READ_COMMITTED, tpb::NO_REC_VERSION]),
            Isolation::ReadCommittedReadConsistency => {
                out.extend([tpb::READ_COMMITTED, tpb::READ_CONSISTENCY])
            }
        }
        out.push(if self.read_only { tpb::READ } else { tpb::WRITE });
        match self.lock_resolution {
            LockResolution::Wait => out.push(tpb::WAIT),
            LockResolution::NoWait => out.push(tpb::NOWAIT),
            LockResolution::Timeout(seconds) => {
                out.extend([tpb::WAIT, tpb::LOCK_TIMEOUT, 4]);
                out.extend(u32::from(seconds).to_le_bytes());
            }
        }
        for (wanted, option) in [
            (self.auto_commit, tpb::AUTOCOMMIT),
            (self.ignore_limbo, tpb::IGNORE_LIMBO),
            (self.no_auto_undo, tpb::NO_AUTO_UNDO),
        ] {
            if wanted {
                out.push(option);
            }
        }
        if let Some(number) = self.at_snapshot {
            out.extend([tpb::AT_SNAPSHOT_NUMBER, 8]);
            out.extend(number.to_le_bytes());
        }
        out
    }
}

/// Encodes the number of a transaction in limbo for its recovery: eight bytes, little-endian. Numbers have outgrown
/// four bytes.
pub fn transaction_id(number: u64) -> [u8; 8] {
    number.to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tpbs_follow_the_reference_examples() {
        assert_eq!(TransactionOptions::default().tpb(), [3, 2, 9, 6]);
        let nowait = TransactionOptions::default()
            .isolation(Isolation::ReadCommittedRecordVersion)
            .lock_resolution(LockResolution::NoWait);
        assert_eq!(nowait.tpb(), [3, 15, 17, 9, 7]);
        let shared = TransactionOptions::reading().at_snapshot(Some(258));
        assert_eq!(shared.tpb(), [3, 2, 8, 6, 23, 8, 2, 1, 0, 0, 0, 0, 0, 0]);
    }
}
