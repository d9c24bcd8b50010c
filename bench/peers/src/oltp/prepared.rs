//! Prepared statements with parameters and rows in the engine's own messages.

use super::Session;
use firearrow_fbapi::{CursorFlags, Error, MessageBuffer, Metadata, Statement, Transaction};
use firearrow_proto::api::descriptor::{Descriptor, SqlType};
use firearrow_proto::api::dialect::Dialect;

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Int(i32),
    /// Hundredths.
    Cents(i64),
    Text(&'a str),
    Moment([i32; 2]),
    Null,
}

impl From<i32> for Value<'_> {
    fn from(value: i32) -> Self {
        Self::Int(value)
    }
}

impl From<i16> for Value<'_> {
    fn from(value: i16) -> Self {
        Self::Int(value.into())
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Where a field is in its message.
struct Field {
    descriptor: Descriptor,
    offset: usize,
    null_offset: usize,
}

fn fields(format: &Metadata) -> Result<Vec<Field>, Error> {
    let field = |(index, descriptor)| {
        Ok(Field { descriptor, offset: format.offset(index)?, null_offset: format.null_offset(index)? })
    };
    format.descriptors()?.into_iter().enumerate().map(field).collect()
}

pub(super) struct Prepared {
    statement: Statement,
    input: Metadata,
    output: Metadata,
    parameters: Vec<Field>,
    columns: Vec<Field>,
    given: MessageBuffer,
    row: MessageBuffer,
    has_cursor: bool,
}

/// A row that has arrived.
pub(super) struct Row<'a> {
    columns: &'a [Field],
    bytes: &'a [u8],
}

impl Prepared {
    pub(super) fn new(session: &Session, transaction: &Transaction, sql: &str) -> Result<Self, Error> {
        let statement = session.attachment.prepare(transaction, sql, Dialect::Three)?;
        let (input, output) = (statement.input()?, statement.output()?);
        let has_cursor = statement.flags()?.has_cursor();
        let (parameters, columns) = (fields(&input)?, fields(&output)?);
        let (given, row) = (MessageBuffer::new(input.stride()), MessageBuffer::new(output.stride()));
        Ok(Self { statement, input, output, parameters, columns, given, row, has_cursor })
    }

    /// Executes it, and reads every row.
    pub(super) fn rows<T>(
        &mut self,
        transaction: &mut Transaction,
        values: &[Value<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        self.fill(values)?;
        let input = (self.input.count() > 0).then_some((&self.input, self.given.bytes_mut()));
        let mut all = Vec::new();
        if self.has_cursor {
            let mut cursor = self.statement.open_cursor(transaction, input, None, CursorFlags::FORWARD)?;
            while cursor.fetch_next(self.row.bytes_mut())? {
                all.push(read(&Row { columns: &self.columns, bytes: self.row.bytes() })?);
            }
            cursor.close()?;
        } else {
            let output = (self.output.count() > 0).then_some((&self.output, self.row.bytes_mut()));
            self.statement.execute(transaction, input, output)?;
            let row = Row { columns: &self.columns, bytes: self.row.bytes() };
            // RETURNING gives a row of NULLs where there was none.
            if !self.columns.is_empty() && !row.is_null(0) {
                all.push(read(&row)?);
            }
        }
        Ok(all)
    }

    /// Executes it, and reads its only row if there is one.
    pub(super) fn row<T>(
        &mut self,
        transaction: &mut Transaction,
        values: &[Value<'_>],
        read: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        Ok(self.rows(transaction, values, read)?.pop())
    }

    /// Executes it.
    pub(super) fn execute(
        &mut self,
        transaction: &mut Transaction,
        values: &[Value<'_>],
    ) -> Result<(), Error> {
        self.rows(transaction, values, |_| Ok(())).map(drop)
    }

    /// Rows that the last execution changed.
    pub(super) fn affected(&self) -> Result<u64, Error> {
        self.statement.affected_records()
    }

    fn fill(&mut self, values: &[Value<'_>]) -> Result<(), Error> {
        if values.len() != self.parameters.len() {
            return Err(wrong(format!("{} parameters for {}", values.len(), self.parameters.len())));
        }
        let message = self.given.bytes_mut();
        for (field, value) in self.parameters.iter().zip(values) {
            let is_null: i16 = if matches!(value, Value::Null) { -1 } else { 0 };
            message[field.null_offset..field.null_offset + 2].copy_from_slice(&is_null.to_le_bytes());
            put(field, *value, message)?;
        }
        Ok(())
    }
}

impl Row<'_> {
    pub(super) fn is_null(&self, column: usize) -> bool {
        let at = self.columns[column].null_offset;
        self.bytes[at..at + 2] != [0, 0]
    }

    /// A number without its decimal point.
    pub(super) fn number(&self, column: usize) -> Result<i64, Error> {
        let Field { descriptor, offset, .. } = &self.columns[column];
        let bytes = |length: usize| &self.bytes[*offset..offset + length];
        if self.is_null(column) {
            return Err(wrong(format!("column {column} is NULL")));
        }
        match descriptor.sql_type {
            SqlType::SHORT => Ok(i16::from_le_bytes(bytes(2).try_into().expect("two")).into()),
            SqlType::LONG => Ok(i32::from_le_bytes(bytes(4).try_into().expect("four")).into()),
            SqlType::INT64 => Ok(i64::from_le_bytes(bytes(8).try_into().expect("eight"))),
            other => Err(wrong(format!("column {column} is no number but {other:?}"))),
        }
    }

    pub(super) fn int(&self, column: usize) -> Result<i32, Error> {
        i32::try_from(self.number(column)?).map_err(|_| wrong(format!("column {column} is too large")))
    }

    pub(super) fn text(&self, column: usize) -> Result<String, Error> {
        let Field { descriptor, offset, .. } = &self.columns[column];
        let (start, length) = match descriptor.sql_type {
            SqlType::VARYING => {
                let length = u16::from_le_bytes([self.bytes[*offset], self.bytes[offset + 1]]);
                (offset + 2, usize::from(length))
            }
            SqlType::TEXT => (*offset, descriptor.length as usize),
            other => return Err(wrong(format!("column {column} is no text but {other:?}"))),
        };
        Ok(String::from_utf8_lossy(&self.bytes[start..start + length]).into_owned())
    }
}

fn put(field: &Field, value: Value<'_>, message: &mut [u8]) -> Result<(), Error> {
    let Field { descriptor, offset, .. } = field;
    let unfit = || wrong(format!("{value:?} does not fit into {:?}", descriptor.sql_type));
    let number = match value {
        Value::Null => return Ok(()),
        Value::Int(number) if descriptor.scale == 0 => number.into(),
        Value::Cents(cents) if descriptor.scale == -2 => cents,
        Value::Moment(parts) if descriptor.sql_type == SqlType::TIMESTAMP => {
            for (at, part) in parts.iter().enumerate() {
                let at = offset + 4 * at;
                message[at..at + 4].copy_from_slice(&part.to_le_bytes());
            }
            return Ok(());
        }
        Value::Text(text) => return put_text(descriptor, *offset, text, message).ok_or_else(unfit),
        Value::Int(_) | Value::Cents(_) | Value::Moment(_) => return Err(unfit()),
    };
    match descriptor.sql_type {
        SqlType::SHORT => {
            let number = i16::try_from(number).map_err(|_| unfit())?;
            message[*offset..offset + 2].copy_from_slice(&number.to_le_bytes());
        }
        SqlType::LONG => {
            let number = i32::try_from(number).map_err(|_| unfit())?;
            message[*offset..offset + 4].copy_from_slice(&number.to_le_bytes());
        }
        SqlType::INT64 => message[*offset..offset + 8].copy_from_slice(&number.to_le_bytes()),
        _ => return Err(unfit()),
    }
    Ok(())
}

fn put_text(descriptor: &Descriptor, offset: usize, text: &str, message: &mut [u8]) -> Option<()> {
    let room = descriptor.length as usize;
    if text.len() > room {
        return None;
    }
    match descriptor.sql_type {
        SqlType::VARYING => {
            let length = u16::try_from(text.len()).ok()?;
            message[offset..offset + 2].copy_from_slice(&length.to_le_bytes());
            message[offset + 2..offset + 2 + text.len()].copy_from_slice(text.as_bytes());
        }
        SqlType::TEXT => {
            let place = &mut message[offset..offset + room];
            place.fill(b' ');
            place[..text.len()].copy_from_slice(text.as_bytes());
        }
        _ => return None,
    }
    Some(())
}

fn wrong(what: String) -> Error {
    Error::Argument { what }
}
