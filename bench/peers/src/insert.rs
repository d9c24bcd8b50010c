//! Inserting rows.

use crate::lap::Lap;
use firearrow_fbapi::{
    Attachment, BatchOptions, Completion, Error, MessageBuffer, Metadata, Statement, Transaction,
};
use firearrow_proto::api::descriptor::{Descriptor, SqlType};
use firearrow_proto::api::dialect::Dialect;
use std::time::Duration;

/// Snapshot, wait, read and write.
const READ_WRITE: &[u8] = &[3, 2, 6, 9];

/// How rows are inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// One call of execute for each row.
    One,
    /// A batch that is executed for so many rows at a time, with record counts off.
    Batch(usize),
}

/// How long the phases of one run of [`insert_loop`] took.
#[derive(Clone, Copy, Debug, Default)]
pub struct InsertLoop {
    /// Rows inserted.
    pub rows: u64,
    /// Start of the transaction, prepare and opening of the batch.
    pub prepare: Duration,
    /// Making the values and inserting them, without commit.
    pub execute: Duration,
    /// Commit.
    pub commit: Duration,
    /// Closing the batch and freeing the statement.
    pub release: Duration,
}

/// Inserts rows of integers, all in one transaction, by a statement whose parameters are all INTEGER.
pub fn insert_loop(
    attachment: &Attachment,
    sql: &str,
    rows: u64,
    method: Method,
) -> Result<InsertLoop, Error> {
    let mut result = InsertLoop { rows, ..InsertLoop::default() };
    let mut lap = Lap::start();
    let mut transaction = attachment.start_transaction(READ_WRITE)?;
    let mut statement = attachment.prepare(&transaction, sql, Dialect::Three)?;
    let format = statement.input()?;
    let mut messages = Messages::new(&format)?;
    match method {
        Method::One => {
            result.prepare = lap.next();
            insert_singly(&mut statement, &format, &mut transaction, &mut messages, rows)?;
            result.execute = lap.next();
            transaction.commit()?;
            result.commit = lap.next();
        }
        Method::Batch(chunk) => {
            // As large as can be, so that the size of a chunk is the caller's choice alone.
            let options = BatchOptions { buffer_size: Some(0), ..BatchOptions::default() };
            let mut batch = statement.create_batch(&format, &options)?;
            result.prepare = lap.next();
            let mut row = 0;
            while row < rows {
                let count = chunk.min(usize::try_from(rows - row).unwrap_or(usize::MAX));
                batch.add(messages.fill(row, count), count)?;
                check(batch.execute(&transaction)?, row, count)?;
                row += count as u64;
            }
            result.execute = lap.next();
            transaction.commit()?;
            result.commit = lap.next();
            batch.close()?;
        }
    }
    drop(statement);
    result.release = lap.next();
    Ok(result)
}

fn insert_singly(
    statement: &mut Statement,
    format: &Metadata,
    transaction: &mut Transaction,
    messages: &mut Messages,
    rows: u64,
) -> Result<(), Error> {
    for row in 0..rows {
        statement.execute(transaction, Some((format, messages.fill(row, 1))), None)?;
    }
    Ok(())
}

/// Fails unless all messages were executed.
fn check(completion: Completion, row: u64, count: usize) -> Result<(), Error> {
    let failure = completion.failures.into_iter().next();
    if let Some(status) = failure.and_then(|failure| failure.status) {
        return Err(Error::Status(status));
    }
    if completion.processed != count {
        let what = format!("{} of {count} rows from row {row} on were inserted", completion.processed);
        return Err(Error::Argument { what });
    }
    Ok(())
}

/// The value of a row and a column, both counted from 0: `row * 31 + column`, wrapping at 32 bits.
pub fn value(row: u64, column: usize) -> i32 {
    (row as i32).wrapping_mul(31).wrapping_add(column as i32)
}

/// Messages that are filled again and again.
struct Messages {
    offsets: Vec<usize>,
    stride: usize,
    buffer: MessageBuffer,
}

impl Messages {
    fn new(format: &Metadata) -> Result<Self, Error> {
        let is_other = |field: &Descriptor| field.sql_type != SqlType::LONG || field.scale != 0;
        if let Some(index) = format.descriptors()?.iter().position(is_other) {
            return Err(Error::Argument { what: format!("parameter {} is not INTEGER", index + 1) });
        }
        let offsets = (0..format.count()).map(|index| format.offset(index)).collect::<Result<_, _>>()?;
        Ok(Self { offsets, stride: format.stride(), buffer: MessageBuffer::default() })
    }

    /// The messages of `count` rows. Null indicators stay 0, as they were made.
    fn fill(&mut self, row: u64, count: usize) -> &mut [u8] {
        self.buffer.grow(count * self.stride);
        let messages = &mut self.buffer.bytes_mut()[..count * self.stride];
        for (row, message) in (row..).zip(messages.chunks_exact_mut(self.stride)) {
            for (column, offset) in self.offsets.iter().enumerate() {
                message[*offset..offset + 4].copy_from_slice(&value(row, column).to_le_bytes());
            }
        }
        messages
    }
}
