//! New BLOBs, written as streams.

use super::shared::Shared;
use crate::backend::{BlobId, NewBlobs, TransactionId};
use crate::error::Result;
use std::fmt;
use std::io::{self, Write};
use std::mem;
use std::sync::Arc;

/// Bytes that are gathered before they are sent.
const GATHERED: usize = 32 << 10;

/// A new BLOB that is written in pieces, text in UTF-8. Pieces are sent without waiting for each response, so that a
/// long BLOB is written at the speed of the link; a later call may report a failure. Dropping it discards the BLOB.
///
/// ```no_run
/// use firearrow::{Connection, params};
/// use std::fs::File;
/// use std::io;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let connection = Connection::connect("firebird://db.example/employee")?;
/// let mut transaction = connection.begin(Default::default())?;
/// let mut photo = transaction.create_blob()?;
/// io::copy(&mut File::open("ada.jpg")?, &mut photo)?;
/// let photo = photo.finish()?;
/// transaction.execute_with("UPDATE staff SET photo = ? WHERE id = 1", params![photo])?;
/// transaction.commit()?;
/// # Ok(())
/// # }
/// ```
pub struct BlobWriter {
    shared: Arc<Shared>,
    id: BlobId,
    is_complete: bool,
    /// Bytes that have not been sent.
    buffer: Vec<u8>,
}

impl BlobWriter {
    pub(super) fn create(shared: &Arc<Shared>, transaction: TransactionId) -> Result<Self> {
        let id = shared.run(async |session| session.create_blob(transaction).await)?;
        Ok(Self { shared: Arc::clone(shared), id, is_complete: false, buffer: Vec::new() })
    }

    /// Completes the BLOB and returns its id, which one row of the same transaction can take: bound as a `u64` (UInt64)
    /// to a BLOB parameter. A BLOB that no row takes is discarded with the transaction.
    pub fn finish(mut self) -> Result<u64> {
        self.send()?;
        let finished = self.shared.run(async |session| session.backend.finish_blob(self.id).await)?;
        self.is_complete = true;
        Ok(finished)
    }

    fn send(&mut self) -> Result<()> {
        let bytes = mem::take(&mut self.buffer);
        if bytes.is_empty() { Ok(()) } else { self.put(&bytes) }
    }

    fn put(&self, bytes: &[u8]) -> Result<()> {
        self.shared.run(async |session| session.backend.write_blob(self.id, bytes).await)
    }
}

impl Write for BlobWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > GATHERED {
            self.send().map_err(io::Error::other)?;
        }
        if bytes.len() > GATHERED {
            self.put(bytes).map_err(io::Error::other)?;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send().map_err(io::Error::other)
    }
}

impl Drop for BlobWriter {
    fn drop(&mut self) {
        if !self.is_complete {
            let id = self.id;
            self.shared.discard("discarding a BLOB", async |session| session.cancel_blob(id).await);
        }
    }
}

impl fmt::Debug for BlobWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlobWriter").field("is_complete", &self.is_complete).finish_non_exhaustive()
    }
}
