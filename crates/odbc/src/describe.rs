//! What `SQLColAttribute` and the descriptors of columns and parameters tell about a column.

use crate::abi::field::{column, descriptor as field};
use crate::abi::{Len, SmallInt, USmallInt, sql_type};
use crate::column::Column;
use crate::text::Text;
use std::borrow::Cow;

/// A field's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Text(Cow<'a, Text>),
    Number(Len),
}

const NAMED: Len = 0;
const UNNAMED: Len = 1;
const READ_ONLY: Len = 0;
const READ_WRITE_UNKNOWN: Len = 2;

/// A field of a column, by the numbers of ODBC 3. `None` if there is no such field.
pub(crate) fn describe(column: &Column, number: SmallInt, is_odbc2: bool) -> Option<Value<'_>> {
    let of = &column.sql_type;
    let concise = if is_odbc2 { of.for_odbc2() } else { of.concise };
    let (verbose, code) = of.verbose();
    let text = |text: &'static str| Value::Text(Cow::Owned(text.into()));
    Some(match number {
        field::CONCISE_TYPE => Value::Number(concise as Len),
        field::TYPE => Value::Number(verbose as Len),
        field::DATETIME_INTERVAL_CODE => Value::Number(code.unwrap_or(0) as Len),
        field::LENGTH => Value::Number(of.size as Len),
        field::OCTET_LENGTH => Value::Number(of.octets),
        field::DISPLAY_SIZE => Value::Number(of.display),
        field::PRECISION => Value::Number(precision(column)),
        field::SCALE => Value::Number(scale(column)),
        field::NUM_PREC_RADIX => Value::Number(of.radix as Len),
        field::NULLABLE => Value::Number(column.nullable as Len),
        field::UNSIGNED => Value::Number(of.is_unsigned.into()),
        field::CASE_SENSITIVE => Value::Number(of.is_case_sensitive.into()),
        field::SEARCHABLE => Value::Number(of.searchable as Len),
        field::UPDATABLE => {
            Value::Number(if column.is_expression() { READ_ONLY } else { READ_WRITE_UNKNOWN })
        }
        // Identity columns are not told apart without asking the catalog.
        field::AUTO_UNIQUE_VALUE | field::FIXED_PREC_SCALE | field::ROWVER => Value::Number(0),
        field::DATETIME_INTERVAL_PRECISION => Value::Number(0),
        field::UNNAMED => Value::Number(if column.label.as_str().is_empty() { UNNAMED } else { NAMED }),
        field::NAME | field::LABEL => Value::Text(Cow::Borrowed(&column.label)),
        field::BASE_COLUMN_NAME => Value::Text(Cow::Borrowed(&column.base_column)),
        field::BASE_TABLE_NAME | field::TABLE_NAME => Value::Text(Cow::Borrowed(&column.base_table)),
        field::SCHEMA_NAME | field::CATALOG_NAME => text(""),
        field::TYPE_NAME | field::LOCAL_TYPE_NAME => Value::Text(Cow::Borrowed(&column.type_name)),
        field::LITERAL_PREFIX => text(of.literal.0),
        field::LITERAL_SUFFIX => text(of.literal.1),
        _ => return None,
    })
}

/// A column attribute, whose numbers of ODBC 2 have meanings of their own.
pub(crate) fn attribute(described: &Column, number: USmallInt, is_odbc2: bool) -> Option<Value<'_>> {
    let of = &described.sql_type;
    match number {
        column::NAME => Some(Value::Text(Cow::Borrowed(&described.label))),
        column::LENGTH => Some(Value::Number(of.octets)),
        column::PRECISION => Some(Value::Number(of.size as Len)),
        column::SCALE => Some(Value::Number(of.digits as Len)),
        column::NULLABLE => Some(Value::Number(described.nullable as Len)),
        number => describe(described, SmallInt::try_from(number).ok()?, is_odbc2),
    }
}

/// Digits of numbers and of seconds, characters of others.
fn precision(column: &Column) -> Len {
    let of = &column.sql_type;
    match of.concise {
        sql_type::TYPE_DATE | sql_type::TYPE_TIME | sql_type::TYPE_TIMESTAMP => of.digits as Len,
        _ => of.size as Len,
    }
}

fn scale(column: &Column) -> Len {
    match column.sql_type.concise {
        sql_type::NUMERIC | sql_type::DECIMAL => column.sql_type.digits as Len,
        _ => 0,
    }
}
