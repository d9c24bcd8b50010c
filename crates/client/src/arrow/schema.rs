//! Which Arrow type a Firebird column becomes, and what its field says about where it came from.
//!
//! | Firebird | Arrow | decided by |
//! |---|---|---|
//! | SMALLINT, INTEGER, BIGINT | int16, int32, int64 | |
//! | NUMERIC, DECIMAL | decimal128(p, s) | `decimal_precision` |
//! | INT128 | decimal128(38, 0) | `int128` |
//! | FLOAT, DOUBLE PRECISION | float32, float64 | |
//! | DECFLOAT | utf8 | `decfloat` |
//! | BOOLEAN | bool | |
//! | DATE, TIME, TIMESTAMP | date32, time64\[us\], timestamp\[us\] | |
//! | TIME WITH TIME ZONE | utf8 | `timetz` |
//! | TIMESTAMP WITH TIME ZONE | timestamp\[us, UTC\] | `timestamptz` |
//! | CHAR, VARCHAR, BLOB SUB_TYPE TEXT | utf8 | `text`, `none_encoding`, `trim_char` |
//! | BINARY(n) | fixed_size_binary(n) | `binary` |
//! | VARBINARY, other BLOBs | binary | |
//! | all BLOBs, as ids | uint64 | `blobs=lazy` |
//! | arrays | list of the type of their elements, one in another for each dimension | |

use super::options::{
    BinaryAs, BlobPolicy, DecfloatAs, DecimalPrecision, Int128As, NoneEncoding, ReadOptions, TextAs,
    TimestampTzAs, TimetzAs, code_page,
};
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use firearrow_proto::api::array::ArrayShape;
use firearrow_proto::api::charset::{charset, single_byte};
use firearrow_proto::api::descriptor::{Descriptor, SqlType, charset_id};
use firearrow_proto::api::layout::{FieldKind, RowLayout};
use std::collections::HashMap;
use std::sync::Arc;
use thiserror::Error;

/// A column that has no Arrow type.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("column {} (\"{column_name}\"): {message}", column + 1)]
pub struct SchemaError {
    /// 0-based index of the column.
    pub column: usize,
    /// Its label.
    pub column_name: String,
    /// Why, with the remedy if there is one.
    pub message: String,
}

/// The Arrow schema of a result. All fields are nullable: the engine's own flag is not reliable for
/// expressions.
pub fn schema(columns: &[Descriptor], options: &ReadOptions) -> Result<SchemaRef, SchemaError> {
    let mut fields = Vec::with_capacity(columns.len());
    for (index, column) in columns.iter().enumerate() {
        let data_type = data_type(columns, index, options)?;
        let metadata = metadata(column, &data_type);
        fields.push(Field::new(column.label(), data_type, true).with_metadata(metadata));
    }
    Ok(Arc::new(Schema::new(fields)))
}

/// The layout in which results must be fetched for these options: text and displacement of a TIMESTAMP WITH
/// TIME ZONE need its EX form.
pub(crate) fn output_layout(columns: &[Descriptor], options: &ReadOptions) -> Result<RowLayout, SchemaError> {
    let layout = RowLayout::for_output(columns).map_err(|error| SchemaError {
        column: error.index,
        column_name: columns.get(error.index).map_or_else(String::new, |column| column.label().into()),
        message: error.reason,
    })?;
    if options.timestamptz == TimestampTzAs::Utc {
        return Ok(layout);
    }
    Ok(RowLayout::new(layout.fields().iter().cloned().map(|mut field| {
        if field.kind == FieldKind::TimestampTz {
            field.kind = FieldKind::TimestampTzEx;
        }
        field
    })))
}

/// The Arrow type of one column.
pub(super) fn data_type(
    columns: &[Descriptor],
    index: usize,
    options: &ReadOptions,
) -> Result<DataType, SchemaError> {
    let column = &columns[index];
    let declared = options.declared_precision_of(index);
    let data_type = match (&column.array, column.sql_type) {
        (Some(shape), SqlType::ARRAY) => list_type(shape, declared, options),
        _ => value_type(column, declared, options),
    };
    data_type.map_err(|message| SchemaError { column: index, column_name: column.label().into(), message })
}

/// Lists around the type of the elements. Items are nullable, as `list<int32>` is wherever nobody says otherwise.
fn list_type(shape: &ArrayShape, declared: Option<u8>, options: &ReadOptions) -> Result<DataType, String> {
    let element = shape.element();
    let is_text = matches!(element.sql_type, SqlType::TEXT | SqlType::VARYING);
    // Nobody converts stored arrays on their way.
    let is_readable = charset_id::is_verbatim(element.charset()) || single_byte(element.charset()).is_some();
    if is_text && !is_readable {
        let name = charset(element.charset()).map_or("an unknown one", |charset| charset.name);
        return Err(format!(
            "elements in CHARACTER SET {name} come as they are stored and cannot be decoded; select them one by one: \
             \"{}\"{}",
            shape.element().field,
            shape.subscripts(0)
        ));
    }
    let mut data_type = value_type(element, declared, options)?;
    for _ in shape.bounds() {
        data_type = DataType::List(Arc::new(Field::new_list_field(data_type, true)));
    }
    Ok(data_type)
}

/// The Arrow type of a column that is no array.
fn value_type(column: &Descriptor, declared: Option<u8>, options: &ReadOptions) -> Result<DataType, String> {
    let exact = |plain: DataType, nominal: u8, full: u8| {
        if !is_decimal(column) {
            return Ok(plain);
        }
        decimal(column, declared, nominal, full, options)
    };
    Ok(match column.sql_type {
        SqlType::SHORT => exact(DataType::Int16, 4, 5)?,
        SqlType::LONG => exact(DataType::Int32, 9, 10)?,
        SqlType::INT64 => exact(DataType::Int64, 18, 19)?,
        SqlType::INT128 => {
            let plain = match options.int128 {
                Int128As::Decimal128 => DataType::Decimal128(38, 0),
                Int128As::Decimal256 => DataType::Decimal256(39, 0),
                Int128As::Utf8 => DataType::Utf8,
            };
            exact(plain, 38, 39)?
        }
        SqlType::FLOAT => DataType::Float32,
        SqlType::DOUBLE | SqlType::D_FLOAT => DataType::Float64,
        SqlType::DEC16 | SqlType::DEC34 => match options.decfloat {
            DecfloatAs::Utf8 => DataType::Utf8,
            DecfloatAs::Float64 => DataType::Float64,
            DecfloatAs::Decimal128(precision, scale) => {
                if !(1..=38).contains(&precision) || !(0..=precision as i8).contains(&scale) {
                    return Err(format!("there is no decimal128({precision},{scale})"));
                }
                DataType::Decimal128(precision, scale)
            }
        },
        SqlType::BOOLEAN => DataType::Boolean,
        SqlType::DATE => DataType::Date32,
        SqlType::TIME => DataType::Time64(TimeUnit::Microsecond),
        SqlType::TIMESTAMP => DataType::Timestamp(TimeUnit::Microsecond, None),
        SqlType::TIME_TZ | SqlType::TIME_TZ_EX => match options.timetz {
            TimetzAs::Utf8 => DataType::Utf8,
            TimetzAs::Time64Utc => DataType::Time64(TimeUnit::Microsecond),
        },
        SqlType::TIMESTAMP_TZ | SqlType::TIMESTAMP_TZ_EX => match options.timestamptz {
            TimestampTzAs::Utc => utc_timestamp(),
            TimestampTzAs::WithOffset => DataType::Struct(offset_fields()),
            TimestampTzAs::Utf8 => DataType::Utf8,
        },
        // A BINARY(0) cannot be declared, and Arrow readers differ about values of no width.
        SqlType::TEXT if column.is_octets() => match (options.binary, i32::try_from(column.length)) {
            (BinaryAs::Fixed, Ok(length)) if length > 0 => DataType::FixedSizeBinary(length),
            _ => DataType::Binary,
        },
        SqlType::VARYING if column.is_octets() => DataType::Binary,
        SqlType::BLOB if options.blobs == BlobPolicy::Lazy => DataType::UInt64,
        SqlType::BLOB if !is_text_blob(column) => DataType::Binary,
        SqlType::TEXT | SqlType::VARYING | SqlType::BLOB => match (encoding(column, options), options.text) {
            (NoneEncoding::Binary, _) => DataType::Binary,
            (_, TextAs::Utf8) => DataType::Utf8,
            (_, TextAs::LargeUtf8) => DataType::LargeUtf8,
            (_, TextAs::Utf8View) => DataType::Utf8View,
        },
        SqlType::NULL => DataType::Null,
        SqlType::ARRAY | SqlType::QUAD => {
            return Err(
                "the engine does not say which column of a table this array comes from; select from the \
                        table itself, or single elements"
                    .into(),
            );
        }
        other => return Err(format!("unknown SQL type {}", other.0)),
    })
}

/// How the text of a column is encoded as it arrives.
pub(super) fn encoding(column: &Descriptor, options: &ReadOptions) -> NoneEncoding {
    match column.charset() {
        charset_id::ASCII | charset_id::UNICODE_FSS | charset_id::UTF8 | charset_id::DYNAMIC => {
            NoneEncoding::Utf8
        }
        // On a UTF8 attachment this is only ever NONE: everything else arrives converted.
        other => charset(other)
            .and_then(|charset| code_page(charset.name))
            .map_or(options.none_encoding, NoneEncoding::CodePage),
    }
}

/// Most bytes per character of a text column.
pub(super) fn bytes_per_character(column: &Descriptor) -> u32 {
    match column.charset() {
        charset_id::UTF8 | charset_id::DYNAMIC => 4,
        charset_id::UNICODE_FSS => 3,
        other => charset(other).map_or(1, |charset| u32::from(charset.bytes_per_character).max(1)),
    }
}

/// The instant of a TIMESTAMP WITH TIME ZONE.
pub(super) fn utc_timestamp() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

/// The fields of the extension type `arrow.timestamp_with_offset`.
pub(super) fn offset_fields() -> Fields {
    Fields::from(vec![
        Field::new("timestamp", utc_timestamp(), false),
        Field::new("offset_minutes", DataType::Int16, false),
    ])
}

/// NUMERIC or DECIMAL: by sub type, or by scale in expressions, which often have no sub type.
fn is_decimal(column: &Descriptor) -> bool {
    matches!(column.sub_type, 1 | 2) || column.scale != 0
}

pub(super) fn is_text_blob(column: &Descriptor) -> bool {
    column.sql_type == SqlType::BLOB && column.sub_type == 1
}

fn decimal(
    column: &Descriptor,
    declared: Option<u8>,
    nominal: u8,
    full: u8,
    options: &ReadOptions,
) -> Result<DataType, String> {
    let scale = u8::try_from(-i64::from(column.scale)).ok().filter(|&scale| scale <= 38);
    let scale = scale.ok_or_else(|| format!("a decimal exponent of {} has no Arrow type", column.scale))?;
    let precision = match options.decimal_precision {
        DecimalPrecision::Range => full,
        _ => declared.filter(|precision| (1..=38).contains(precision)).unwrap_or(nominal),
    };
    // 0.00001 is described as a BIGINT; digits behind the point need not fit its nominal precision.
    let precision = precision.max(scale);
    Ok(match precision {
        ..=38 => DataType::Decimal128(precision, scale as i8),
        _ => DataType::Decimal256(precision, scale as i8),
    })
}

fn metadata(column: &Descriptor, data_type: &DataType) -> HashMap<String, String> {
    let relation = column;
    let column = column.array.as_ref().map_or(column, |shape| shape.element());
    let mut entries = vec![("FIREBIRD:type", sql_name(column).to_owned())];
    if let Some(shape) = &relation.array {
        let bounds: Vec<String> =
            shape.bounds().iter().map(|(lower, upper)| format!("{lower}:{upper}")).collect();
        entries.push(("FIREBIRD:array_bounds", bounds.join(",")));
    }
    match column.sql_type {
        SqlType::TEXT | SqlType::VARYING => {
            entries.push(("FIREBIRD:length", (column.length / bytes_per_character(column)).to_string()));
        }
        SqlType::DEC16 => entries.push(("FIREBIRD:precision", "16".into())),
        SqlType::DEC34 => entries.push(("FIREBIRD:precision", "34".into())),
        SqlType::BLOB if !matches!(column.sub_type, 0 | 1) => {
            entries.push(("FIREBIRD:subtype", column.sub_type.to_string()));
        }
        _ => {}
    }
    let has_charset = matches!(column.sql_type, SqlType::TEXT | SqlType::VARYING) || is_text_blob(column);
    let ordinary = [charset_id::OCTETS, charset_id::UTF8, charset_id::DYNAMIC];
    if has_charset && !ordinary.contains(&column.charset()) {
        let name = charset(column.charset()).map(|charset| charset.name);
        entries.push(("FIREBIRD:charset", name.map_or_else(|| column.charset().to_string(), str::to_owned)));
    }
    if !relation.relation.is_empty() {
        entries.push(("FIREBIRD:relation", relation.relation.clone()));
        entries.push(("FIREBIRD:column", relation.field.clone()));
    }
    if matches!(data_type, DataType::Struct(_)) {
        entries.push(("ARROW:extension:name", "arrow.timestamp_with_offset".into()));
        entries.push(("ARROW:extension:metadata", String::new()));
    }
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The SQL name of the type, without parameters.
pub(super) fn sql_name(column: &Descriptor) -> &'static str {
    match column.sql_type {
        SqlType::SHORT | SqlType::LONG | SqlType::INT64 | SqlType::INT128 if is_decimal(column) => {
            if column.sub_type == 2 { "DECIMAL" } else { "NUMERIC" }
        }
        SqlType::SHORT => "SMALLINT",
        SqlType::LONG => "INTEGER",
        SqlType::INT64 => "BIGINT",
        SqlType::INT128 => "INT128",
        SqlType::FLOAT => "FLOAT",
        SqlType::DOUBLE | SqlType::D_FLOAT => "DOUBLE PRECISION",
        SqlType::DEC16 | SqlType::DEC34 => "DECFLOAT",
        SqlType::BOOLEAN => "BOOLEAN",
        SqlType::DATE => "DATE",
        SqlType::TIME => "TIME",
        SqlType::TIMESTAMP => "TIMESTAMP",
        SqlType::TIME_TZ | SqlType::TIME_TZ_EX => "TIME WITH TIME ZONE",
        SqlType::TIMESTAMP_TZ | SqlType::TIMESTAMP_TZ_EX => "TIMESTAMP WITH TIME ZONE",
        SqlType::TEXT if column.is_octets() => "BINARY",
        SqlType::VARYING if column.is_octets() => "VARBINARY",
        SqlType::TEXT => "CHAR",
        SqlType::VARYING => "VARCHAR",
        SqlType::BLOB if is_text_blob(column) => "BLOB SUB_TYPE TEXT",
        SqlType::BLOB => "BLOB SUB_TYPE BINARY",
        SqlType::ARRAY | SqlType::QUAD => "ARRAY",
        SqlType::NULL => "NULL",
        _ => "UNKNOWN",
    }
}
