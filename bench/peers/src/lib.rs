//! The loop that a C++ program would write, as the measure for everything else.
//!
//! Rows are fetched one by one into one buffer, in the format that the library has them in, and nothing is
//! made of them. A client that delivers columns has to do more than this in less time.
#![forbid(unsafe_code)]

pub mod cpu;

use firearrow_fbapi::{Attachment, CursorFlags, Error, MessageBuffer};
use std::time::{Duration, Instant};

/// Snapshot, wait, read only.
const READ_ONLY: &[u8] = &[3, 2, 6, 8];

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
    let mut lap = Lap(Instant::now());
    let mut transaction = attachment.start_transaction(READ_ONLY)?;
    let mut statement = attachment.prepare(&transaction, sql)?;
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

/// A watch that starts anew with each reading.
struct Lap(Instant);

impl Lap {
    fn next(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.0, now)
    }
}

/// The first eight bytes, or fewer of a shorter message.
#[inline]
fn first_word(message: &[u8]) -> u64 {
    match message.first_chunk::<8>() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => message.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}
