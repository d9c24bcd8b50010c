//! Types of result columns and parameters, as the engine describes them.

use super::{Type, TypeOptions, UTF8, VARYING_BYTES};
use crate::abi::{SmallInt, ULen};
use firearrow::{ArrayShape, Descriptor, Dialect};
use firearrow_proto::api::charset::charset;
use firearrow_proto::api::descriptor::{SqlType, charset_id};

impl Type {
    /// Returns the type of a result column or parameter. Numbers have the digits of their storage: the engine describes
    /// no others, and stores more than were declared.
    pub(crate) fn of_descriptor(column: &Descriptor, dialect: Dialect, options: &TypeOptions) -> Self {
        let exact = |plain: fn() -> Self, precision: u8| match exact_name(column) {
            Exact::Plain => plain(),
            Exact::Numeric => Self::numeric(precision, scale(column)),
            Exact::Decimal => Self::decimal(precision, scale(column)),
        };
        match column.sql_type {
            SqlType::SHORT => exact(Self::small_int, 4),
            SqlType::LONG => exact(Self::plain_integer, 9),
            SqlType::INT64 => exact(Self::big_int, 18),
            SqlType::INT128 => exact(Self::int128, 38),
            SqlType::FLOAT => Self::float(),
            SqlType::DOUBLE | SqlType::D_FLOAT => Self::double(),
            SqlType::DEC16 => Self::decfloat(16, options),
            SqlType::DEC34 => Self::decfloat(34, options),
            SqlType::BOOLEAN => Self::boolean(),
            SqlType::DATE => Self::date(dialect),
            SqlType::TIME => Self::time(dialect),
            SqlType::TIMESTAMP => Self::timestamp(),
            SqlType::TIME_TZ | SqlType::TIME_TZ_EX => Self::time_with_zone(dialect),
            SqlType::TIMESTAMP_TZ | SqlType::TIMESTAMP_TZ_EX => Self::timestamp_with_zone(),
            SqlType::TEXT if column.is_octets() => Self::binary(column.length, options),
            SqlType::VARYING if column.is_octets() => Self::varbinary(column.length, options),
            SqlType::TEXT => with_case(column, Self::char(characters(column), options)),
            SqlType::VARYING => with_case(column, Self::varchar(characters(column), options)),
            SqlType::BLOB if column.sub_type == 1 && column.charset() != charset_id::OCTETS => {
                Self::text_blob(options)
            }
            SqlType::BLOB => Self::binary_blob(options),
            SqlType::ARRAY => {
                let rendered = column.array.as_deref().map(|shape| rendered(shape, dialect, options));
                Self::array(rendered.unwrap_or(VARYING_BYTES), options)
            }
            // A parameter that any value suits, as in `? IS NULL`.
            SqlType::NULL => Self::varchar(VARYING_BYTES / UTF8, options),
            _ => Self::unknown(),
        }
    }
}

enum Exact {
    Plain,
    Numeric,
    Decimal,
}

/// Expressions often have a scale but no sub type.
fn exact_name(column: &Descriptor) -> Exact {
    match column.sub_type {
        2 => Exact::Decimal,
        1 => Exact::Numeric,
        _ if column.scale != 0 => Exact::Numeric,
        _ => Exact::Plain,
    }
}

/// Digits after the decimal point; the engine describes a decimal exponent.
fn scale(column: &Descriptor) -> SmallInt {
    column.scale.checked_neg().and_then(|scale| SmallInt::try_from(scale).ok()).unwrap_or_default()
}

/// Characters of CHAR and VARCHAR, whose length is described in bytes. Text of CHARACTER SET NONE has as many
/// characters as bytes.
fn characters(column: &Descriptor) -> u32 {
    let bytes = match column.charset() {
        charset_id::DYNAMIC => 4,
        id => charset(id).map_or(1, |charset| charset.bytes_per_character),
    };
    column.length / u32::from(bytes.max(1))
}

/// UTF8 has two collations that ignore case, UNICODE_CI and UNICODE_CI_AI. Those that users define are not recognized.
fn with_case(column: &Descriptor, text: Type) -> Type {
    let collation = column.sub_type >> 8;
    let ignores_case = column.charset() == charset_id::UTF8 && matches!(collation, 3 | 4);
    Type { is_case_sensitive: !ignores_case, ..text }
}

/// The most characters of an array as text, such as `{{1, 2}, {3, 4}}`.
fn rendered(shape: &ArrayShape, dialect: Dialect, options: &TypeOptions) -> u32 {
    const BRACES: ULen = 2;
    const COMMA: ULen = 2;
    let element = Type::of_descriptor(shape.element(), dialect, options).display.unsigned_abs();
    let list = |item: ULen, count: ULen| {
        item.saturating_add(COMMA).saturating_mul(count).saturating_add(BRACES - COMMA)
    };
    let characters = shape.lengths().rev().fold(element, list);
    u32::try_from(characters).unwrap_or(u32::MAX).min(i32::MAX as u32)
}
