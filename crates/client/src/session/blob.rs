//! BLOBs on demand, and statistics on how they are read.

use super::Session;
use crate::arrow::{BlobPolicy, MaxBlob};
use crate::backend::{Backend, BlobId, TransactionId, Wanted};
use crate::error::{Kind, Result};
use ::arrow::array::{Array, LargeBinaryArray, LargeBinaryBuilder, UInt64Array};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// BLOBs that must have been seen before anything is concluded.
const ENOUGH: u64 = 8;
/// Contents up to this length, in bytes, are worth having with their rows when they will be read anyway.
const WORTH_SENDING: u64 = 16 << 10;
/// Longer ones never come with their rows.
const LONGEST_INLINE: usize = 65_533;

/// How the BLOBs of one statement were read in its latest executions.
#[derive(Debug, Default)]
pub(crate) struct BlobHabit {
    /// Ids that were returned.
    given: AtomicU64,
    /// Contents that were read.
    read: AtomicU64,
    /// Their bytes.
    bytes: AtomicU64,
    /// Those of them that are too long to come with their rows.
    long: AtomicU64,
}

impl BlobHabit {
    pub(super) fn given(&self, count: usize) {
        self.given.fetch_add(count as u64, Relaxed);
    }

    pub(super) fn read(&self, length: usize) {
        self.read.fetch_add(1, Relaxed);
        self.bytes.fetch_add(length as u64, Relaxed);
        self.long.fetch_add(u64::from(length > LONGEST_INLINE), Relaxed);
    }

    /// The longest BLOB that the server should send with its row in the execution that begins now; 0 = none. Earlier
    /// statistics count half from here on.
    pub(super) fn inline_limit(&self, policy: BlobPolicy) -> u32 {
        let halve = |counter: &AtomicU64| {
            let value = counter.load(Relaxed);
            counter.store(value / 2, Relaxed);
            value
        };
        let [given, read, bytes, long] = [&self.given, &self.read, &self.bytes, &self.long].map(halve);
        let is_wanted = match policy {
            BlobPolicy::Inline => true,
            BlobPolicy::Pipelined => false,
            // They will all be read. Where most are too long, the server would look at each in vain.
            BlobPolicy::Adaptive => read < ENOUGH || long * 2 <= read,
            // Nobody may want them; it takes a reader to show that somebody does.
            BlobPolicy::Lazy => given >= ENOUGH && read * 2 >= given && bytes <= read * WORTH_SENDING,
        };
        if is_wanted { u32::MAX } else { 0 }
    }
}

impl<B: Backend> Session<B> {
    /// Opens a BLOB as a stream; returns its stored length in bytes, and whether it can be positioned.
    pub(crate) async fn open_blob(
        &mut self,
        transaction: TransactionId,
        id: u64,
    ) -> Result<(BlobId, u64, bool)> {
        self.expect_open(transaction)?;
        self.backend.open_blob(transaction, id).await
    }

    pub(crate) async fn close_blob(&mut self, blob: BlobId) -> Result<()> {
        if self.backend.is_failed() { Ok(()) } else { self.backend.close_blob(blob).await }
    }

    /// Creates a BLOB to be written in pieces.
    pub(crate) async fn create_blob(&mut self, transaction: TransactionId) -> Result<BlobId> {
        self.expect_open(transaction)?;
        self.backend.create_blob(transaction).await
    }

    pub(crate) async fn cancel_blob(&mut self, blob: BlobId) -> Result<()> {
        if self.backend.is_failed() { Ok(()) } else { self.backend.cancel_blob(blob).await }
    }

    /// Returns the contents of these BLOBs, in the same order; NULL for NULL.
    pub(crate) async fn read_blobs(
        &mut self,
        transaction: TransactionId,
        ids: &UInt64Array,
        max_blob: MaxBlob,
        habit: Option<&BlobHabit>,
    ) -> Result<LargeBinaryArray> {
        self.expect_open(transaction)?;
        let wanted: Vec<Wanted> = ids.iter().flatten().map(|id| Wanted::blob(id, max_blob)).collect();
        let mut contents = LargeBinaryBuilder::with_capacity(ids.len(), 0);
        let mut row = 0;
        let mut take = |_: usize, bytes: &[u8]| {
            while ids.is_null(row) {
                contents.append_null();
                row += 1;
            }
            contents.append_value(bytes);
            row += 1;
            if let Some(habit) = habit {
                habit.read(bytes.len());
            }
            Ok(true)
        };
        let read = self.backend.read_blobs(transaction, &wanted, &mut take).await;
        read.map_err(|error| match error.kind() {
            Kind::Memory => {
                let row = (row..ids.len()).find(|&row| ids.is_valid(row)).unwrap_or(row);
                let id = ids.values().get(row).copied().unwrap_or_default();
                error.in_row(row).context(format_args!("BLOB id {id}, row {row}"))
            }
            _ => error,
        })?;
        (row..ids.len()).for_each(|_| contents.append_null());
        Ok(contents.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explicit_policies_need_no_experience() {
        let habit = BlobHabit::default();
        assert_eq!(habit.inline_limit(BlobPolicy::Inline), u32::MAX);
        assert_eq!(habit.inline_limit(BlobPolicy::Pipelined), 0);
    }

    #[test]
    fn who_reads_short_ones_gets_them_with_their_rows() {
        let habit = BlobHabit::default();
        assert_eq!(habit.inline_limit(BlobPolicy::Lazy), 0);
        habit.given(100);
        assert_eq!(habit.inline_limit(BlobPolicy::Lazy), 0, "nobody has read any");
        (0..100).for_each(|_| habit.read(100));
        assert_eq!(habit.inline_limit(BlobPolicy::Lazy), u32::MAX);
        habit.given(1000);
        assert_eq!(habit.inline_limit(BlobPolicy::Lazy), 0, "not any more");
        let habit = BlobHabit::default();
        habit.given(100);
        (0..100).for_each(|_| habit.read(40_000));
        assert_eq!(habit.inline_limit(BlobPolicy::Lazy), 0, "they are long");
    }

    #[test]
    fn blobs_that_are_too_long_are_not_asked_for_in_vain() {
        let habit = BlobHabit::default();
        assert_eq!(habit.inline_limit(BlobPolicy::Adaptive), u32::MAX);
        (0..10).for_each(|_| habit.read(100_000));
        assert_eq!(habit.inline_limit(BlobPolicy::Adaptive), 0);
        (0..100).for_each(|_| habit.read(100));
        assert_eq!(habit.inline_limit(BlobPolicy::Adaptive), u32::MAX);
    }
}
