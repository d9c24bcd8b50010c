//! Fetching rows.

use crate::READ_ONLY;
use crate::lap::Lap;
use firearrow_fbapi::{Attachment, CursorFlags, Error, MessageBuffer};
use firearrow_proto::api::dialect::Dialect;
use std::time::Duration;

/// What one run of [`raw_loop`] saw, and how long its phases took.
#[derive(Clone, Copy, Debug, Default)]
pub struct RawLoop {
    /// Rows fetched.
    pub rows: u64,
    /// Bytes of all messages.
    pub bytes: u64,
    /// All rows' first eight bytes, combined; it keeps the rows from being optimised away.
    pub checksum: u64,
    /// Start of the transaction, prepare and opening of the cursor.
    pub execute: Duration,
    /// The first fetch.
    pub first_row: Duration,
    /// All other fetches.
    pub drain: Duration,
    /// Closing the cursor, freeing the statement and ending the transaction.
    pub release: Duration,
}

/// Runs a query and fetches all its rows.
pub fn raw_loop(attachment: &Attachment, sql: &str) -> Result<RawLoop, Error> {
    let mut result = RawLoop::default();
    let mut lap = Lap::start();
    let mut transaction = attachment.start_transaction(READ_ONLY)?;
    let mut statement = attachment.prepare(&transaction, sql, Dialect::Three)?;
    let mut cursor = statement.open_cursor(&transaction, None, None, CursorFlags::FORWARD)?;
    result.execute = lap.next();
    let length = cursor.message_length();
    let mut buffer = MessageBuffer::new(length);
    let message = buffer.bytes_mut();
    let mut has_row = cursor.fetch_next(message)?;
    result.first_row = lap.next();
    while has_row {
        result.rows += 1;
        result.checksum ^= first_word(message);
        has_row = cursor.fetch_next(message)?;
    }
    result.drain = lap.next();
    cursor.close()?;
    drop(statement);
    transaction.commit()?;
    result.release = lap.next();
    result.bytes = result.rows * length as u64;
    Ok(result)
}

/// The first eight bytes, or fewer of a shorter message.
#[inline]
fn first_word(message: &[u8]) -> u64 {
    match message.first_chunk::<8>() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => message.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}
