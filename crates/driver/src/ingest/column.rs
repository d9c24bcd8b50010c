//! Which Firebird type an Arrow column gets in a new table.
//!
//! | Arrow | Firebird |
//! |---|---|
//! | bool, arrow.bool8 | BOOLEAN |
//! | int8, int16, uint8 | SMALLINT |
//! | int32, uint16 | INTEGER |
//! | int64, uint32 | BIGINT |
//! | uint64 | NUMERIC(20, 0); before Firebird 4 NUMERIC(18, 0) |
//! | float16, float32 | FLOAT |
//! | float64 | DOUBLE PRECISION |
//! | decimals | NUMERIC(p, s); DECFLOAT(34) beyond 38 digits; before Firebird 4 at most NUMERIC(18, s) |
//! | text | VARCHAR(n) if all data was looked at and rows stay short; otherwise BLOB SUB_TYPE TEXT; or by option |
//! | binary | BLOB SUB_TYPE BINARY; or VARBINARY(n) by option |
//! | fixed_size_binary(n) | BINARY(n), a BLOB beyond 32767 bytes |
//! | date32, date64 | DATE |
//! | time32, time64 | TIME |
//! | timestamp | TIMESTAMP |
//! | timestamp with zone | TIMESTAMP WITH TIME ZONE; before Firebird 4 TIMESTAMP in UTC |
//! | dictionary, run-end encoded | as their values |
//! | null | VARCHAR(1) |
//!
//! Dialect 1 has neither BIGINT nor TIME, makes a TIMESTAMP of a DATE, and a DOUBLE PRECISION of a NUMERIC of 10 to 18
//! digits. From Firebird 4 on NUMERIC(19, s) holds all of these integers and decimals exactly.

use crate::error::{Error, Result};
use crate::option::{IngestOptions, TextAs};
use crate::sql::name;
use arrow::array::{ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Int16Type, Int32Type, Int64Type, Schema};
use firearrow::Dialect;
use firearrow::catalog::quoted;
use std::fmt;

/// Most bytes of a row with columns of text that are as long as their values; Firebird's limit is twice that.
const MOST_BYTES: usize = 32 << 10;
/// Bytes of any other column, roughly.
const OTHER_BYTES: usize = 20;
/// Least length of a column that gets its length from the data; longer values get twice theirs, so that later ones fit, too.
const LEAST_LENGTH: usize = 64;
/// Longest BINARY.
const LONGEST_BINARY: i32 = 32767;

/// The environment that decides which types exist.
#[derive(Clone, Copy)]
pub(super) struct Engine {
    /// The engine is Firebird 4 or later.
    pub(super) modern: bool,
    /// Of the connection.
    pub(super) dialect: Dialect,
}

/// A column of a new table.
pub(super) struct Declaration {
    pub(super) name: String,
    /// Its name as DDL must have it.
    identifier: String,
    pub(super) sql_type: String,
    pub(super) is_nullable: bool,
    /// The length that the data needs, if that decides about the type.
    pub(super) needed: Option<usize>,
}

impl fmt::Display for Declaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.is_nullable { "" } else { " NOT NULL" };
        write!(f, "{} {}{end}", self.identifier, self.sql_type)
    }
}

/// The columns of a table for this data. `all` are its batches, if there are no others.
pub(super) fn declarations<'a>(
    schema: &Schema,
    options: &IngestOptions,
    engine: Engine,
    all: Option<impl IntoIterator<Item = &'a RecordBatch>>,
) -> Result<Vec<Declaration>> {
    let lengths = match all {
        Some(batches) => lengths(schema, options, batches)?,
        None => vec![None; schema.fields().len()],
    };
    let declare = |(field, length): (&std::sync::Arc<Field>, Option<Length>)| {
        Ok(Declaration {
            name: field.name().clone(),
            identifier: name(engine.dialect, field.name())?,
            sql_type: sql_type(
                field,
                field.data_type(),
                options,
                engine,
                length.map(|length| length.declared),
            )?,
            is_nullable: field.is_nullable() || *field.data_type() == DataType::Null,
            needed: length.map(|length| length.needed),
        })
    };
    schema.fields().iter().zip(lengths).map(declare).collect()
}

fn sql_type(
    field: &Field,
    data_type: &DataType,
    options: &IngestOptions,
    engine: Engine,
    length: Option<u16>,
) -> Result<String> {
    use DataType::*;
    let modern = engine.modern;
    Ok(match data_type {
        Boolean => "BOOLEAN".into(),
        Int8 | Int16 | UInt8 => "SMALLINT".into(),
        Int32 | UInt16 => "INTEGER".into(),
        Int64 | UInt32 if engine.dialect == Dialect::One => return decimal(field, 19, 0, engine),
        Int64 | UInt32 => "BIGINT".into(),
        UInt64 if modern => "NUMERIC(20, 0)".into(),
        UInt64 => return decimal(field, 18, 0, engine),
        Float16 | Float32 => "FLOAT".into(),
        Float64 => "DOUBLE PRECISION".into(),
        Decimal32(precision, scale)
        | Decimal64(precision, scale)
        | Decimal128(precision, scale)
        | Decimal256(precision, scale) => return decimal(field, *precision, *scale, engine),
        Utf8 | LargeUtf8 | Utf8View => varying("VARCHAR", " CHARACTER SET UTF8", options.text, length)
            .unwrap_or_else(|| "BLOB SUB_TYPE TEXT CHARACTER SET UTF8".into()),
        Binary | LargeBinary | BinaryView => {
            let (word, end) = if modern { ("VARBINARY", "") } else { ("VARCHAR", " CHARACTER SET OCTETS") };
            varying(word, end, options.binary, length).unwrap_or_else(|| "BLOB SUB_TYPE BINARY".into())
        }
        FixedSizeBinary(size) if !(1..=LONGEST_BINARY).contains(size) => "BLOB SUB_TYPE BINARY".into(),
        FixedSizeBinary(size) if modern => format!("BINARY({size})"),
        FixedSizeBinary(size) => format!("CHAR({size}) CHARACTER SET OCTETS"),
        Date32 | Date64 => "DATE".into(),
        Time32(_) | Time64(_) if engine.dialect == Dialect::One => {
            return Err(unsupported(field, "dialect 1 has no TIME"));
        }
        Time32(_) | Time64(_) => "TIME".into(),
        Timestamp(_, Some(_)) if modern => "TIMESTAMP WITH TIME ZONE".into(),
        Timestamp(..) => "TIMESTAMP".into(),
        Struct(_) if field.extension_type_name() == Some("arrow.timestamp_with_offset") && modern => {
            "TIMESTAMP WITH TIME ZONE".into()
        }
        Dictionary(_, values) => return sql_type(field, values, options, engine, length),
        RunEndEncoded(_, values) => return sql_type(field, values.data_type(), options, engine, length),
        Null => "VARCHAR(1)".into(),
        other => return Err(unsupported(field, &format!("{other} has no counterpart in Firebird"))),
    })
}

/// NUMERIC of as many digits.
fn decimal(field: &Field, precision: u8, scale: i8, engine: Engine) -> Result<String> {
    let (precision, scale) = match u8::try_from(scale) {
        Ok(scale) => (precision.max(scale), scale),
        Err(_) => (precision.saturating_add(scale.unsigned_abs()), 0),
    };
    match precision {
        10..=18 if engine.dialect == Dialect::One && engine.modern => Ok(format!("NUMERIC(19, {scale})")),
        10.. if engine.dialect == Dialect::One && !engine.modern => {
            Err(unsupported(field, "dialect 1 of Firebird 3 has no exact numbers of more than 9 digits"))
        }
        ..=18 => Ok(format!("NUMERIC({precision}, {scale})")),
        19..=38 if engine.modern => Ok(format!("NUMERIC({precision}, {scale})")),
        _ if engine.modern => Ok("DECFLOAT(34)".into()),
        // Producers of data often declare 38. Each value that has more digits is an error.
        _ if scale <= 18 => Ok(format!("NUMERIC(18, {scale})")),
        _ => {
            Err(unsupported(field, &format!("Firebird 3 has no decimals of {scale} digits after the point")))
        }
    }
}

fn varying(word: &str, end: &str, wanted: TextAs, length: Option<u16>) -> Option<String> {
    let length = match wanted {
        TextAs::Blob => return None,
        TextAs::Varying(length) => length,
        TextAs::Auto => length?,
    };
    Some(format!("{word}({length}){end}"))
}

fn unsupported(field: &Field, why: &str) -> Error {
    Error::unsupported(format!("column {}: {why}", quoted(field.name())))
}

/// The length of a column that gets it from the data.
#[derive(Clone, Copy)]
struct Length {
    needed: usize,
    declared: u16,
}

/// The lengths of the columns that get them from the data. Short ones get room first; those for which a row has no bytes left
/// get none, and become BLOBs.
fn lengths<'a>(
    schema: &Schema,
    options: &IngestOptions,
    batches: impl IntoIterator<Item = &'a RecordBatch>,
) -> Result<Vec<Option<Length>>> {
    let widths: Vec<_> = schema.fields().iter().map(|field| width(options, field.data_type())).collect();
    let mut longest = vec![0; widths.len()];
    for batch in batches {
        for ((column, width), longest) in batch.columns().iter().zip(&widths).zip(&mut longest) {
            if width.is_some() {
                *longest = (*longest).max(longest_value(column)?);
            }
        }
    }
    let mut left =
        MOST_BYTES.saturating_sub(schema.fields().iter().map(|field| other_bytes(field.data_type())).sum());
    let mut lengths = vec![None; widths.len()];
    let mut measured: Vec<usize> = (0..widths.len()).filter(|&column| widths[column].is_some()).collect();
    measured.sort_by_key(|&column| longest[column]);
    // What each needs comes before more room for any.
    let bytes = |length: usize, column: usize| 2 + length * widths[column].unwrap_or(1);
    measured.retain(|&column| {
        let needed = bytes(longest[column].max(1), column);
        let fits = needed <= left && u16::try_from(longest[column]).is_ok();
        left -= if fits { needed } else { 0 };
        fits
    });
    for column in measured {
        let needed = longest[column];
        let most = if widths[column] == Some(1) { TextAs::LONGEST_BINARY } else { TextAs::LONGEST_TEXT };
        let room = (2 * needed).next_power_of_two().clamp(LEAST_LENGTH, most.into()).max(needed);
        let more = bytes(room, column) - bytes(needed.max(1), column);
        let declared = if more <= left { room } else { needed.max(1) };
        left -= if more <= left { more } else { 0 };
        lengths[column] = u16::try_from(declared).ok().map(|declared| Length { needed, declared });
    }
    Ok(lengths)
}

/// Bytes of a column in a row, roughly, beside those of a text that is counted by itself.
fn other_bytes(data_type: &DataType) -> usize {
    match data_type {
        DataType::FixedSizeBinary(size) if *size <= LONGEST_BINARY => usize::try_from(*size).unwrap_or(0),
        _ => OTHER_BYTES,
    }
}

/// Bytes of a character, or 1 for binary values, of columns that get their length from the data.
fn width(options: &IngestOptions, data_type: &DataType) -> Option<usize> {
    match data_type {
        DataType::Dictionary(_, values) => width(options, values),
        DataType::RunEndEncoded(_, values) => width(options, values.data_type()),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            (options.text == TextAs::Auto).then_some(4)
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            (options.binary == TextAs::Auto).then_some(1)
        }
        _ => None,
    }
}

/// The length of the longest value, in characters or bytes. Of a dictionary or of runs the values count, used or not.
fn longest_value(column: &ArrayRef) -> Result<usize> {
    fn characters<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> usize {
        texts.flatten().map(|text| text.chars().count()).max().unwrap_or(0)
    }
    fn bytes<'a>(values: impl Iterator<Item = Option<&'a [u8]>>) -> usize {
        values.flatten().map(<[u8]>::len).max().unwrap_or(0)
    }
    Ok(match column.data_type() {
        DataType::Utf8 => characters(column.as_string::<i32>().iter()),
        DataType::LargeUtf8 => characters(column.as_string::<i64>().iter()),
        DataType::Utf8View => characters(column.as_string_view().iter()),
        DataType::Binary => bytes(column.as_binary::<i32>().iter()),
        DataType::LargeBinary => bytes(column.as_binary::<i64>().iter()),
        DataType::BinaryView => bytes(column.as_binary_view().iter()),
        DataType::Dictionary(..) => return longest_value(column.as_any_dictionary().values()),
        DataType::RunEndEncoded(ends, _) => {
            return longest_value(match ends.data_type() {
                DataType::Int16 => column.as_run::<Int16Type>().values(),
                DataType::Int32 => column.as_run::<Int32Type>().values(),
                _ => column.as_run::<Int64Type>().values(),
            });
        }
        other => return Err(Error::unsupported(format!("{other} has no lengths"))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::TimeUnit;

    fn declared(name: &str, data_type: DataType, engine: Engine) -> Result<String> {
        let schema = Schema::new(vec![Field::new(name, data_type, true)]);
        let declared = declarations(&schema, &IngestOptions::default(), engine, None::<[&RecordBatch; 0]>)?;
        Ok(declared[0].to_string())
    }

    fn of(data_type: DataType, modern: bool) -> Result<String> {
        declared("a\"b", data_type, Engine { modern, dialect: Dialect::Three })
    }

    #[test]
    fn dialect_1_rounds_nothing() {
        let old = Engine { modern: false, dialect: Dialect::One };
        let new = Engine { modern: true, ..old };
        for (data_type, modern, old_type) in [
            (DataType::Int32, "INTEGER", Some("INTEGER")),
            (DataType::Int64, "NUMERIC(19, 0)", None),
            (DataType::UInt32, "NUMERIC(19, 0)", None),
            (DataType::UInt64, "NUMERIC(20, 0)", None),
            (DataType::Decimal128(9, 2), "NUMERIC(9, 2)", Some("NUMERIC(9, 2)")),
            (DataType::Decimal128(18, 2), "NUMERIC(19, 2)", None),
            (DataType::Decimal128(38, 2), "NUMERIC(38, 2)", None),
            (DataType::Date32, "DATE", Some("DATE")),
        ] {
            assert_eq!(declared("A", data_type.clone(), new).expect("a type"), format!("A {modern}"));
            assert_eq!(declared("A", data_type, old).ok(), old_type.map(|old| format!("A {old}")));
        }
        declared("A", DataType::Time64(TimeUnit::Microsecond), new).expect_err("no TIME");
        let error = declared("a", DataType::Int32, new).expect_err("no such name");
        assert!(error.message().contains("upper-case"), "{}", error.message());
    }

    #[test]
    fn types_follow_the_table() {
        let zoned = DataType::Timestamp(TimeUnit::Nanosecond, Some("Europe/Berlin".into()));
        for (data_type, modern, old) in [
            (DataType::UInt64, "NUMERIC(20, 0)", Some("NUMERIC(18, 0)")),
            (DataType::Decimal128(38, 10), "NUMERIC(38, 10)", Some("NUMERIC(18, 10)")),
            (DataType::Decimal128(38, 20), "NUMERIC(38, 20)", None),
            (DataType::Decimal128(5, -3), "NUMERIC(8, 0)", Some("NUMERIC(8, 0)")),
            (DataType::Decimal128(2, 5), "NUMERIC(5, 5)", Some("NUMERIC(5, 5)")),
            (DataType::Decimal256(76, 0), "DECFLOAT(34)", Some("NUMERIC(18, 0)")),
            (DataType::FixedSizeBinary(16), "BINARY(16)", Some("CHAR(16) CHARACTER SET OCTETS")),
            (DataType::FixedSizeBinary(40_000), "BLOB SUB_TYPE BINARY", Some("BLOB SUB_TYPE BINARY")),
            (zoned, "TIMESTAMP WITH TIME ZONE", Some("TIMESTAMP")),
            (DataType::Null, "VARCHAR(1)", Some("VARCHAR(1)")),
            (
                DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8)),
                "BLOB SUB_TYPE TEXT CHARACTER SET UTF8",
                Some("BLOB SUB_TYPE TEXT CHARACTER SET UTF8"),
            ),
        ] {
            assert_eq!(of(data_type.clone(), true).expect("a type"), format!("\"a\"\"b\" {modern}"));
            assert_eq!(of(data_type, false).ok(), old.map(|old| format!("\"a\"\"b\" {old}")));
        }
        let refused = of(DataType::new_list(DataType::Int32, true), true).expect_err("no lists");
        assert!(refused.message().contains("a\"\"b"), "{}", refused.message());
    }
}
