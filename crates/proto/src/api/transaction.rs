//! How a transaction sees and locks data, and the TPB that says so.

/// Isolation levels of Firebird.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// `SNAPSHOT` (concurrency): sees the database as it was at the start.
    #[default]
    Snapshot,
    /// `SNAPSHOT TABLE STABILITY` (consistency): locks tables as well.
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
    /// Wait until it ends.
    #[default]
    Wait,
    /// Fail at once.
    NoWait,
    /// Wait this many seconds (1 … 32767), then fail.
    Timeout(u16),
}

/// Options of a new transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransactionOptions {
    /// What it sees.
    pub isolation: Isolation,
    /// How it treats conflicts.
    pub lock_resolution: LockResolution,
    /// Refuses writes.
    pub read_only: bool,
    /// Each successful statement is committed (retaining) by the engine. If the answer to one is lost, the error tells of
    /// the lost connection only: look into the data.
    pub auto_commit: bool,
    /// Reads the snapshot of this number (Firebird 4+, `Isolation::Snapshot` only). The transaction that the
    /// number comes from must still be active.
    pub at_snapshot: Option<u64>,
    /// Ignores changes of limbo transactions.
    pub ignore_limbo: bool,
    /// Keeps no undo log for the transaction.
    pub no_auto_undo: bool,
}

const TPB_VERSION3: u8 = 3;

impl TransactionOptions {
    /// A read-only snapshot.
    pub fn read_only() -> Self {
        Self { read_only: true, ..Self::default() }
    }

    /// The transaction parameter buffer.
    pub fn tpb(&self) -> Vec<u8> {
        let mut tpb = vec![TPB_VERSION3];
        match self.isolation {
            Isolation::Snapshot => tpb.push(2),
            Isolation::SnapshotTableStability => tpb.push(1),
            Isolation::ReadCommittedRecordVersion => tpb.extend([15, 17]),
            Isolation::ReadCommittedNoRecordVersion => tpb.extend([15, 18]),
            Isolation::ReadCommittedReadConsistency => tpb.extend([15, 22]),
        }
        tpb.push(if self.read_only { 8 } else { 9 });
        match self.lock_resolution {
            LockResolution::Wait => tpb.push(6),
            LockResolution::NoWait => tpb.push(7),
            LockResolution::Timeout(seconds) => {
                tpb.extend([6, 21, 4]);
                tpb.extend(u32::from(seconds).to_le_bytes());
            }
        }
        for (wanted, option) in [(self.auto_commit, 16), (self.ignore_limbo, 14), (self.no_auto_undo, 20)] {
            if wanted {
                tpb.push(option);
            }
        }
        if let Some(number) = self.at_snapshot {
            tpb.extend([23, 8]);
            tpb.extend(number.to_le_bytes());
        }
        tpb
    }
}

/// The number of a transaction as engines take it when one in limbo is recovered: little-endian, and of eight bytes
/// since numbers have outgrown four.
pub fn transaction_id(number: u64) -> [u8; 8] {
    number.to_le_bytes()
}

/// Transaction info item: the transaction id.
pub const INFO_ID: u8 = 4;
/// Transaction info item: the snapshot number (Firebird 4+).
pub const INFO_SNAPSHOT_NUMBER: u8 = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tpbs_follow_the_reference_examples() {
        assert_eq!(TransactionOptions::default().tpb(), [3, 2, 9, 6]);
        let nowait = TransactionOptions {
            isolation: Isolation::ReadCommittedRecordVersion,
            lock_resolution: LockResolution::NoWait,
            ..Default::default()
        };
        assert_eq!(nowait.tpb(), [3, 15, 17, 9, 7]);
        let shared = TransactionOptions { at_snapshot: Some(258), ..TransactionOptions::read_only() };
        assert_eq!(shared.tpb(), [3, 2, 8, 6, 23, 8, 2, 1, 0, 0, 0, 0, 0, 0]);
    }
}
