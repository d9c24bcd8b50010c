//! Fetching rows and reading their BLOBs.

use crate::READ_ONLY;
use crate::lap::Lap;
use firearrow_fbapi::{Attachment, CursorFlags, Error, MessageBuffer, Metadata, Transaction};
use firearrow_proto::api::descriptor::SqlType;
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::row::{Native, ValueFormat};
use std::time::Duration;

/// What one run of [`blob_loop`] saw, and how long its phases took.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlobLoop {
    /// Rows fetched.
    pub rows: u64,
    /// Bytes of all messages.
    pub bytes: u64,
    /// BLOBs read: all that are not NULL.
    pub blobs: u64,
    /// Bytes of their contents.
    pub blob_bytes: u64,
    /// The sum of [`checksum`] over their contents, modulo 2^64.
    pub checksum: u64,
    /// Start of the transaction, prepare and opening of the cursor.
    pub execute: Duration,
    /// The first fetch, without its BLOBs.
    pub first_row: Duration,
    /// All other fetches, and all BLOBs.
    pub drain: Duration,
    /// Closing the cursor, freeing the statement and ending the transaction.
    pub release: Duration,
}

/// Runs a query, fetches all its rows, and reads each row's BLOBs before it fetches the next row: open,
/// read up to the end, close.
pub fn blob_loop(attachment: &Attachment, sql: &str) -> Result<BlobLoop, Error> {
    let mut result = BlobLoop::default();
    let mut lap = Lap::start();
    let mut transaction = attachment.start_transaction(READ_ONLY)?;
    let mut statement = attachment.prepare(&transaction, sql, Dialect::Three)?;
    let columns = blob_columns(&statement.output()?)?;
    let mut cursor = statement.open_cursor(&transaction, None, None, CursorFlags::FORWARD)?;
    result.execute = lap.next();
    let length = cursor.message_length();
    let mut buffer = MessageBuffer::new(length);
    let message = buffer.bytes_mut();
    let mut content = Vec::new();
    let mut has_row = cursor.fetch_next(message)?;
    result.first_row = lap.next();
    while has_row {
        result.rows += 1;
        for id in columns.iter().filter_map(|column| column.id(message)) {
            read(attachment, &transaction, id, &mut content)?;
            result.blobs += 1;
            result.blob_bytes += content.len() as u64;
            result.checksum = result.checksum.wrapping_add(checksum(&content));
        }
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

fn read(
    attachment: &Attachment,
    transaction: &Transaction,
    id: u64,
    content: &mut Vec<u8>,
) -> Result<(), Error> {
    content.clear();
    let mut blob = attachment.open_blob(transaction, id, &[])?;
    blob.read_to_end(content, usize::MAX)?;
    blob.close()
}

/// The contents of a BLOB as little-endian words of 64 bits, the last one filled up with zeroes, added
/// modulo 2^64.
///
/// A checksum by bytes would cost as much as reading does.
pub fn checksum(content: &[u8]) -> u64 {
    let (words, rest) = content.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    words.iter().chain([&last]).fold(0, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)))
}

/// Where the id of a BLOB is in a message.
struct Column {
    offset: usize,
    null_offset: usize,
}

impl Column {
    fn id(&self, message: &[u8]) -> Option<u64> {
        let is_null = message[self.null_offset..self.null_offset + 2] != [0, 0];
        if is_null { None } else { Native::quad(&message[self.offset..self.offset + 8]) }
    }
}

fn blob_columns(format: &Metadata) -> Result<Vec<Column>, Error> {
    let descriptors = format.descriptors()?;
    let blobs = descriptors.iter().enumerate().filter(|(_, column)| column.sql_type == SqlType::BLOB);
    blobs
        .map(|(index, _)| {
            Ok(Column { offset: format.offset(index)?, null_offset: format.null_offset(index)? })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_a_checksum_is_filled_with_zeroes() {
        assert_eq!(checksum(b""), 0);
        assert_eq!(checksum(&[1, 2]), 0x0201);
        assert_eq!(checksum(&[0xff; 8]), u64::MAX);
        assert_eq!(checksum(&[&[0xff; 8][..], &[3]].concat()), 2);
    }
}
