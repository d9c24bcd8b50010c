//! BLOBs on demand.

use super::Session;
use super::blob_habit::BlobHabit;
use crate::arrow::MaxBlob;
use crate::backend::{Backend, BlobId, TransactionId, Wanted};
use crate::error::{Kind, Result};
use ::arrow::array::{Array, ArrayBuilder, LargeBinaryArray, LargeBinaryBuilder, UInt64Array};

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

    /// Returns the contents of these BLOBs, in the same order, until so many bytes have come: the rest is missing then. NULL
    /// for NULL, and for BLOBs longer than `longest`.
    pub(crate) async fn read_short_blobs(
        &mut self,
        transaction: TransactionId,
        ids: &UInt64Array,
        longest: u64,
        enough: usize,
        habit: &BlobHabit,
    ) -> Result<LargeBinaryArray> {
        self.expect_open(transaction)?;
        let rows: Vec<usize> = (0..ids.len()).filter(|&row| ids.is_valid(row)).collect();
        let wanted: Vec<Wanted> = ids.iter().flatten().map(|id| Wanted::short(id, longest)).collect();
        let mut contents = LargeBinaryBuilder::with_capacity(ids.len(), 0);
        let mut bytes = 0;
        let mut take = |index: usize, blob: &[u8]| {
            (contents.len()..rows[index]).for_each(|_| contents.append_null());
            contents.append_value(blob);
            habit.read(blob.len());
            bytes += blob.len();
            Ok(bytes < enough)
        };
        self.backend.read_blobs(transaction, &wanted, &mut take).await?;
        if bytes < enough {
            (contents.len()..ids.len()).for_each(|_| contents.append_null());
        }
        Ok(contents.finish())
    }
}
