//! Small queries, one after the other.

use crate::READ_ONLY;
use crate::lap::Lap;
use firearrow_fbapi::{Attachment, CursorFlags, Error, MessageBuffer};
use firearrow_proto::api::descriptor::SqlType;
use firearrow_proto::api::dialect::Dialect;
use std::time::Duration;

/// How long the phases of one run of [`select_loop`] took.
#[derive(Clone, Copy, Debug, Default)]
pub struct SelectLoop {
    /// Rows fetched.
    pub rows: u64,
    /// Start of the transaction and prepare.
    pub prepare: Duration,
    /// All executions, each up to the end of its rows and the close of its cursor.
    pub execute: Duration,
    /// Freeing the statement and ending the transaction.
    pub release: Duration,
}

/// Runs a query with one INTEGER parameter `times` times, with the numbers from 0 on. Its first column is INTEGER and
/// must be the parameter.
pub fn select_loop(attachment: &Attachment, sql: &str, times: u64) -> Result<SelectLoop, Error> {
    let mut result = SelectLoop::default();
    let mut lap = Lap::start();
    let mut transaction = attachment.start_transaction(READ_ONLY)?;
    let mut statement = attachment.prepare(&transaction, sql, Dialect::Three)?;
    let (input, output) = (statement.input()?, statement.output()?);
    let is_integer = |format: &firearrow_fbapi::Metadata| -> Result<bool, Error> {
        Ok(format.descriptors()?.first().is_some_and(|first| first.sql_type == SqlType::LONG))
    };
    if input.count() != 1 || !is_integer(&input)? || !is_integer(&output)? {
        return Err(Error::Argument { what: "the parameter and the first column are not INTEGER".into() });
    }
    let (parameter, column) = (input.offset(0)?, output.offset(0)?);
    let mut given = MessageBuffer::new(input.stride());
    let mut row = MessageBuffer::default();
    result.prepare = lap.next();
    for number in 0..times {
        let number = number as i32;
        given.bytes_mut()[parameter..parameter + 4].copy_from_slice(&number.to_le_bytes());
        let input = Some((&input, given.bytes_mut()));
        let mut cursor = statement.open_cursor(&transaction, input, None, CursorFlags::FORWARD)?;
        row.grow(cursor.message_length());
        while cursor.fetch_next(row.bytes_mut())? {
            result.rows += 1;
            if row.bytes()[column..column + 4] != number.to_le_bytes() {
                return Err(Error::Argument { what: format!("parameter {number} gave another row") });
            }
        }
        cursor.close()?;
    }
    result.execute = lap.next();
    drop(statement);
    transaction.commit()?;
    result.release = lap.next();
    Ok(result)
}
