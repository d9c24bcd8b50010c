//! An open BLOB.

use crate::Error;
use crate::abi::{IBlob, IStatus, Owned};
use crate::attachment::length;
use crate::info::answer;
use crate::status::Status;
use crate::transaction::TransactionCore;
use std::sync::Arc;

/// Most bytes that one call transfers. The engine reads the length as 16 bits: with 65536 it would return nothing,
/// forever.
pub const SEGMENT: usize = 65535;

/// `IStatus::RESULT_NO_DATA`.
const END: i32 = 1;

/// A BLOB open for reading or writing. Dropping one open for writing discards it.
pub struct Blob {
    interface: Owned<IBlob>,
    status: Status,
    id: u64,
    is_new: bool,
    is_open: bool,
    _transaction: Arc<TransactionCore>,
}

impl Blob {
    pub(crate) fn new(
        transaction: &Arc<TransactionCore>,
        interface: Owned<IBlob>,
        id: u64,
        is_new: bool,
    ) -> Result<Self, Error> {
        let status = transaction.attachment.status()?;
        Ok(Self { interface, status, id, is_new, is_open: true, _transaction: Arc::clone(transaction) })
    }

    /// The id to store in a row.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Reads at most [`SEGMENT`] bytes, fewer at the end of a segment; `None` at the end of the BLOB.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, Error> {
        let size = buffer.len().min(SEGMENT);
        // SAFETY: the buffer has at least the length given.
        unsafe { read_raw(&self.interface, &self.status, buffer.as_mut_ptr(), size) }
    }

    /// Appends the rest of the BLOB to `target` and returns its length. Fails as soon as that exceeds
    /// `limit`; `target` then ends with what came before.
    pub fn read_to_end(&mut self, target: &mut Vec<u8>, limit: usize) -> Result<usize, Error> {
        read_to_end(&self.interface, &self.status, target, limit)
    }

    /// Seeks to this offset in bytes and returns it, or the length if that is less. Works only for stream BLOBs.
    pub fn seek_from_start(&mut self, offset: i32) -> Result<i32, Error> {
        // SAFETY: plain numbers; mode 0 counts from the start.
        self.call(|this, status| unsafe { IBlob::seek(this, status, 0, offset) })
    }

    /// Writes all bytes, in as few segments as possible.
    pub fn write_all(&mut self, bytes: &[u8]) -> Result<(), Error> {
        for piece in bytes.chunks(SEGMENT) {
            // SAFETY: the piece has the length given, which fits into 16 bits.
            self.call(|this, status| unsafe {
                IBlob::put_segment(this, status, piece.len() as u32, piece.as_ptr())
            })?;
        }
        Ok(())
    }

    /// Requests information items; see [`Attachment::info`](crate::Attachment::info).
    pub fn info(&self, items: &[u8], size: usize) -> Result<Vec<u8>, Error> {
        let length = length(items)?;
        answer(size, |buffer, size| {
            // SAFETY: items and buffer have the lengths given.
            self.call(|this, status| unsafe {
                IBlob::info(this, status, length, items.as_ptr(), size, buffer)
            })
        })
    }

    /// Closes the BLOB; a new one then exists.
    pub fn close(mut self) -> Result<(), Error> {
        self.end(IBlob::close)
    }

    /// Closes the BLOB; a new one is discarded.
    pub fn cancel(mut self) -> Result<(), Error> {
        self.end(IBlob::cancel)
    }

    /// Makes a closing call, which takes one reference if it succeeds.
    fn end(&mut self, call: unsafe fn(*mut IBlob, *mut IStatus)) -> Result<(), Error> {
        self.is_open = false;
        let reference = self.interface.clone();
        // SAFETY: the interface is alive, and one reference is the call's to take.
        self.status.call(|status| unsafe { call(reference.raw(), status) })?;
        reference.was_taken();
        Ok(())
    }

    fn call<T>(&self, call: impl FnOnce(*mut IBlob, *mut IStatus) -> T) -> Result<T, Error> {
        self.status.call(|status| call(self.interface.raw(), status))
    }
}

/// Reads a BLOB to its end and closes it. Such a short life needs no [`Blob`] and no status of its own.
pub(crate) fn read_and_close(
    interface: Owned<IBlob>,
    status: &Status,
    target: &mut Vec<u8>,
    limit: usize,
) -> Result<usize, Error> {
    let read = read_to_end(&interface, status, target, limit);
    // SAFETY: the interface is alive; its reference is the call's to take.
    status.call(|status| unsafe { IBlob::close(interface.raw(), status) })?;
    interface.was_taken();
    read
}

fn read_to_end(
    interface: &Owned<IBlob>,
    status: &Status,
    target: &mut Vec<u8>,
    limit: usize,
) -> Result<usize, Error> {
    let start = target.len();
    loop {
        target.reserve(SEGMENT);
        let spare = target.spare_capacity_mut().as_mut_ptr();
        // SAFETY: there is spare capacity for that many bytes.
        let Some(length) = (unsafe { read_raw(interface, status, spare.cast(), SEGMENT) })? else {
            return Ok(target.len() - start);
        };
        if target.len() - start + length > limit {
            return Err(Error::BlobTooLong { limit });
        }
        // SAFETY: the engine has just written that many bytes there.
        unsafe { target.set_len(target.len() + length) };
    }
}

/// # Safety
/// `buffer` must have room for `size` bytes, at most [`SEGMENT`].
unsafe fn read_raw(
    interface: &Owned<IBlob>,
    status: &Status,
    buffer: *mut u8,
    size: usize,
) -> Result<Option<usize>, Error> {
    let mut length = 0;
    // SAFETY: the interface is alive; the caller vouches for the buffer.
    let code = status.call(|status| unsafe {
        IBlob::get_segment(interface.raw(), status, size as u32, buffer, &mut length)
    })?;
    // The difference between a partial and a complete segment does not matter here.
    Ok(if code == END { None } else { Some((length as usize).min(size)) })
}

impl Drop for Blob {
    fn drop(&mut self) {
        if self.is_open {
            // No caller is left to report this to; releasing the interface closes the BLOB in any case.
            let _ = self.end(if self.is_new { IBlob::cancel } else { IBlob::close });
        }
    }
}

impl std::fmt::Debug for Blob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blob").field("id", &self.id).field("is_new", &self.is_new).finish_non_exhaustive()
    }
}
