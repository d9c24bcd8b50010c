//! New BLOBs, written as streams.

use super::flow;
use super::shared::Shared;
use crate::backend::{BlobId, NewBlobs, TransactionId};
use crate::error::Result;
use std::fmt;
use std::sync::Arc;

/// A new BLOB that is written in pieces, text in UTF-8. Pieces are sent without waiting for each response, so that a
/// long BLOB is written at the speed of the link; a later call may report a failure. Dropping it discards the BLOB.
pub struct BlobWriter {
    shared: Arc<Shared>,
    id: BlobId,
    is_complete: bool,
}

impl BlobWriter {
    pub(super) async fn create(shared: &Arc<Shared>, transaction: TransactionId) -> Result<Self> {
        let owner = Arc::clone(shared);
        let create = flow!(session => {
            let id = session.create_blob(transaction).await?;
            Ok(Self { shared: owner, id, is_complete: false })
        });
        shared.run(create).await
    }

    /// Appends bytes; many at a time are best. After a dropped future it is unknown how many were appended.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let (id, bytes) = (self.id, bytes.to_vec());
        self.shared.run(flow!(session => session.backend.write_blob(id, &bytes).await)).await
    }

    /// Completes the BLOB and returns its id, which one row of the same transaction can take: bound as a `u64` (UInt64)
    /// to a BLOB parameter. A BLOB that no row takes is discarded with the transaction.
    pub async fn finish(mut self) -> Result<u64> {
        let id = self.id;
        let finished = self.shared.run(flow!(session => session.backend.finish_blob(id).await)).await?;
        self.is_complete = true;
        Ok(finished)
    }
}

impl Drop for BlobWriter {
    fn drop(&mut self) {
        if !self.is_complete {
            let id = self.id;
            self.shared.discard(flow!(session => session.cancel_blob(id).await));
        }
    }
}

impl fmt::Debug for BlobWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlobWriter").field("is_complete", &self.is_complete).finish_non_exhaustive()
    }
}
