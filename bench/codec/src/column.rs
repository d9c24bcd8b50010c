//! Columns whose values follow from the number of the row.

use arrow::array::*;
use arrow::datatypes::DataType;
use firearrow_proto::api::decfloat::{Decimal, encode128};
use firearrow_proto::api::descriptor::{Descriptor, SqlType, charset_id};
use firearrow_proto::api::value::unix_days_to_date;
use std::sync::Arc;

/// A column, by the type of its values.
#[derive(Clone, Debug)]
pub enum Column {
    /// SMALLINT.
    Short,
    /// INTEGER.
    Long,
    /// BIGINT.
    Int64,
    /// BOOLEAN.
    Boolean,
    /// DOUBLE PRECISION.
    Double,
    /// DATE.
    Date,
    /// TIMESTAMP.
    Timestamp,
    /// TIMESTAMP WITH TIME ZONE.
    TimestampTz,
    /// NUMERIC of 18 digits with this many after the decimal point.
    Numeric18(u8),
    /// NUMERIC of 38 digits with this many after the decimal point.
    Numeric38(u8),
    /// DECFLOAT(34).
    DecFloat,
    /// VARCHAR of this many characters.
    Varchar(u16, Text),
    /// A column in which every other value is NULL.
    Nullable(Box<Column>),
    /// A column in which every value is NULL.
    Null(Box<Column>),
}

/// What a text consists of.
#[derive(Clone, Copy, Debug)]
pub enum Text {
    /// `row_` and the number of the row.
    Name,
    /// This many ASCII characters.
    Ascii(usize),
    /// This many characters, some of them accented, in UTF-8.
    Accented(usize),
    /// The same in CHARACTER SET NONE, stored as Windows-1252.
    Stored(usize),
}

/// Microseconds of 2026-05-04 12:30:45.
const NOON: i64 = 1_777_897_845_000_000;
/// Days of 2026-05-04.
const DAY: i32 = 20_577;
/// The zone of the values WITH TIME ZONE: +00:00, as an offset.
const GMT: u16 = 1439;

impl Column {
    /// Returns how the engine describes the column.
    pub fn descriptor(&self, name: &str) -> Descriptor {
        let (sql_type, length, scale, sub_type) = match self {
            Self::Short => (SqlType::SHORT, 2, 0, 0),
            Self::Long => (SqlType::LONG, 4, 0, 0),
            Self::Int64 => (SqlType::INT64, 8, 0, 0),
            Self::Boolean => (SqlType::BOOLEAN, 1, 0, 0),
            Self::Double => (SqlType::DOUBLE, 8, 0, 0),
            Self::Date => (SqlType::DATE, 4, 0, 0),
            Self::Timestamp => (SqlType::TIMESTAMP, 8, 0, 0),
            Self::TimestampTz => (SqlType::TIMESTAMP_TZ, 12, 0, 0),
            Self::Numeric18(digits) => (SqlType::INT64, 8, -i32::from(*digits), 1),
            Self::Numeric38(digits) => (SqlType::INT128, 16, -i32::from(*digits), 1),
            Self::DecFloat => (SqlType::DEC34, 16, 0, 0),
            Self::Varchar(characters, Text::Stored(_)) => {
                (SqlType::VARYING, u32::from(*characters), 0, charset_id::NONE.into())
            }
            Self::Varchar(characters, _) => {
                (SqlType::VARYING, u32::from(*characters) * 4, 0, charset_id::UTF8.into())
            }
            Self::Nullable(column) | Self::Null(column) => return column.descriptor(name),
        };
        let alias = name.to_owned();
        Descriptor { sql_type, nullable: true, sub_type, scale, length, alias, ..Default::default() }
    }

    /// Returns a value as it is in the engine's messages; `None` for NULL.
    pub(crate) fn native(&self, row: usize) -> Option<Vec<u8>> {
        let number = number(row);
        let moment = || {
            let micros = moment(row);
            let date = i32::try_from(micros.div_euclid(86_400_000_000)).expect("of this century");
            let ticks = u32::try_from(micros.rem_euclid(86_400_000_000) / 100).expect("within a day");
            [engine_date(date).to_le_bytes(), ticks.to_le_bytes()].concat()
        };
        Some(match self {
            Self::Short => (number as i16).to_le_bytes().to_vec(),
            Self::Long => (number as i32).to_le_bytes().to_vec(),
            Self::Int64 => large(row).to_le_bytes().to_vec(),
            Self::Boolean => vec![u8::from(row.is_multiple_of(3))],
            Self::Double => (row as f64 * 1.5).to_le_bytes().to_vec(),
            Self::Date => engine_date(day(row)).to_le_bytes().to_vec(),
            Self::Timestamp => moment(),
            Self::TimestampTz => [moment(), GMT.to_le_bytes().to_vec()].concat(),
            Self::Numeric18(_) => large(row).to_le_bytes().to_vec(),
            Self::Numeric38(_) => huge(row).to_le_bytes().to_vec(),
            Self::DecFloat => {
                let value = Decimal::from_i128_scaled(large(row).into(), -4);
                encode128(&value).expect("of 34 digits").to_le_bytes().to_vec()
            }
            Self::Varchar(_, text) => {
                let shown = text.value(row);
                let stored = match text {
                    Text::Stored(_) => encoding_rs::WINDOWS_1252.encode(&shown).0.into_owned(),
                    _ => shown.into_bytes(),
                };
                let length = u16::try_from(stored.len()).expect("a VARCHAR");
                [length.to_le_bytes().to_vec(), stored].concat()
            }
            Self::Nullable(column) => return column.native(row).filter(|_| !row.is_multiple_of(2)),
            Self::Null(_) => return None,
        })
    }

    /// Returns the first `rows` values.
    pub(crate) fn array(&self, rows: usize, data_type: &DataType) -> ArrayRef {
        let all = 0..rows;
        match self {
            Self::Short => Arc::new(Int16Array::from_iter_values(all.map(|row| number(row) as i16))),
            Self::Long => Arc::new(Int32Array::from_iter_values(all.map(|row| number(row) as i32))),
            Self::Int64 => Arc::new(Int64Array::from_iter_values(all.map(large))),
            Self::Boolean => Arc::new(BooleanArray::from_iter(all.map(|row| Some(row.is_multiple_of(3))))),
            Self::Double => Arc::new(Float64Array::from_iter_values(all.map(|row| row as f64 * 1.5))),
            Self::Date => Arc::new(Date32Array::from_iter_values(all.map(day))),
            Self::Timestamp | Self::TimestampTz => {
                let array = TimestampMicrosecondArray::from_iter_values(all.map(moment));
                Arc::new(array.with_data_type(data_type.clone()))
            }
            Self::Numeric18(_) => decimals(all.map(|row| large(row).into()), data_type),
            Self::Numeric38(_) => decimals(all.map(huge), data_type),
            Self::DecFloat => Arc::new(StringArray::from_iter_values(all.map(|row| {
                let value = large(row);
                format!("{}.{:04}", value / 10_000, value % 10_000)
            }))),
            Self::Varchar(_, text) => Arc::new(StringArray::from_iter_values(all.map(|row| text.value(row)))),
            Self::Nullable(column) => {
                let array = column.array(rows, data_type);
                let nulls = BooleanArray::from_iter(all.map(|row| Some(row.is_multiple_of(2))));
                arrow::compute::nullif(&array, &nulls).expect("as many")
            }
            Self::Null(_) => new_null_array(data_type, rows),
        }
    }
}

impl Text {
    fn value(self, row: usize) -> String {
        let filled = |pattern: &str, characters: usize| {
            let number = row.to_string();
            number.chars().chain(pattern.chars().cycle()).take(characters).collect()
        };
        match self {
            Self::Name => format!("row_{row:04}"),
            Self::Ascii(characters) => filled("the quick brown fox ", characters),
            Self::Accented(characters) | Self::Stored(characters) => {
                filled("Grüße aus Köln, à bientôt ", characters)
            }
        }
    }
}

fn number(row: usize) -> i64 {
    row as i64 * 7 - 1000
}

/// Some 15 digits.
fn large(row: usize) -> i64 {
    1_234_567_890_123 * (row as i64 + 1)
}

/// Some 30 digits.
fn huge(row: usize) -> i128 {
    i128::from(large(row)) * 1_000_000_000_000_007
}

fn moment(row: usize) -> i64 {
    NOON + row as i64 * 86_399_000_100
}

fn day(row: usize) -> i32 {
    DAY - row as i32
}

fn engine_date(days: i32) -> i32 {
    unix_days_to_date(days).expect("in the calendar")
}

fn decimals(values: impl Iterator<Item = i128>, data_type: &DataType) -> ArrayRef {
    Arc::new(Decimal128Array::from_iter_values(values).with_data_type(data_type.clone()))
}
