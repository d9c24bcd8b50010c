//! The sizes and other facts of each type.

use super::{Type, TypeOptions};
use crate::abi::{Len, SmallInt, ULen, sql_type};
use firearrow::Dialect;

/// `SQL_PRED_NONE`
const NONE: SmallInt = 0;
/// `SQL_PRED_BASIC`: all predicates but LIKE.
const BASIC: SmallInt = 2;
/// `SQL_SEARCHABLE`
const ALL: SmallInt = 3;

/// Most bytes of a character of UTF-8, the encoding of the connection.
pub(crate) const UTF8: u32 = 4;
/// Bytes of a code unit of UTF-16.
const UTF16: ULen = 2;

/// Digits of the fraction of a second.
pub(crate) const FRACTION: SmallInt = 4;
/// Bytes of a VARCHAR or VARBINARY.
pub(crate) const VARYING_BYTES: u32 = 32_765;
/// Bytes of a CHAR or BINARY.
pub(crate) const FIXED_BYTES: u32 = 32_767;

/// Many applications keep sizes in 32 bits, so none is larger.
fn length(size: ULen) -> Len {
    Len::try_from(size.min(i32::MAX as ULen)).unwrap_or(Len::MAX)
}

/// No type in particular, for the rest of one.
const TYPE: Type = Type {
    concise: sql_type::UNKNOWN,
    name: "UNKNOWN",
    size: 0,
    digits: 0,
    octets: 0,
    display: 0,
    radix: 0,
    is_unsigned: true,
    is_case_sensitive: false,
    searchable: BASIC,
    literal: ("", ""),
};

impl Type {
    /// A type that the driver does not know.
    pub(super) fn unknown() -> Self {
        Self { searchable: NONE, ..TYPE }
    }

    pub(crate) fn small_int() -> Self {
        Self::integer(sql_type::SMALLINT, "SMALLINT", 5, 2)
    }

    pub(crate) fn plain_integer() -> Self {
        Self::integer(sql_type::INTEGER, "INTEGER", 10, 4)
    }

    pub(crate) fn big_int() -> Self {
        Self::integer(sql_type::BIGINT, "BIGINT", 19, 8)
    }

    fn integer(concise: SmallInt, name: &'static str, digits: ULen, octets: Len) -> Self {
        let display = length(digits + 1);
        Self { concise, name, size: digits, octets, display, radix: 10, is_unsigned: false, ..TYPE }
    }

    /// ODBC counts 38 digits, but some values have 39.
    pub(crate) fn int128() -> Self {
        Self::exact(sql_type::NUMERIC, "INT128", 38, 0)
    }

    pub(crate) fn numeric(precision: u8, scale: SmallInt) -> Self {
        Self::exact(sql_type::NUMERIC, "NUMERIC", precision, scale)
    }

    pub(crate) fn decimal(precision: u8, scale: SmallInt) -> Self {
        Self::exact(sql_type::DECIMAL, "DECIMAL", precision, scale)
    }

    /// Numbers whose default C type is text. The engine stores one digit more than `precision`; besides there may be a
    /// sign, a point, and a zero before it if all digits are after it.
    fn exact(concise: SmallInt, name: &'static str, precision: u8, scale: SmallInt) -> Self {
        let size = ULen::from(precision).max(ULen::from(scale.max(0).unsigned_abs()));
        let text = length(size + 2 + ULen::from(scale > 0));
        let number = Self { radix: 10, is_unsigned: false, ..TYPE };
        Self { concise, name, size, digits: scale, octets: text, display: text, ..number }
    }

    pub(crate) fn float() -> Self {
        Self::binary_float(sql_type::REAL, "FLOAT", 24, 4, 14)
    }

    pub(crate) fn double() -> Self {
        Self::binary_float(sql_type::DOUBLE, "DOUBLE PRECISION", 53, 8, 24)
    }

    fn binary_float(concise: SmallInt, name: &'static str, bits: ULen, octets: Len, display: Len) -> Self {
        Self { concise, name, size: bits, octets, display, radix: 2, is_unsigned: false, ..TYPE }
    }

    /// DECFLOAT of 16 or 34 digits. As text it has a sign, a point and an exponent, and is always plain ASCII.
    pub(crate) fn decfloat(digits: u8, options: &TypeOptions) -> Self {
        if options.decfloat_as_double {
            return Self { name: "DECFLOAT", ..Self::double() };
        }
        let size = if digits <= 16 { 23 } else { 42 };
        Self {
            concise: sql_type::VARCHAR,
            name: "DECFLOAT",
            size,
            octets: length(size),
            display: length(size),
            // Text becomes a DECFLOAT of all its digits; a number with a point becomes a NUMERIC first.
            literal: ("'", "'"),
            ..TYPE
        }
    }

    pub(crate) fn boolean() -> Self {
        Self { concise: sql_type::BIT, name: "BOOLEAN", size: 1, octets: 1, display: 1, ..TYPE }
    }

    pub(crate) fn date(dialect: Dialect) -> Self {
        Self::datetime(sql_type::TYPE_DATE, "DATE", 0, (10, 6), literal("DATE '", dialect))
    }

    pub(crate) fn time(dialect: Dialect) -> Self {
        Self::datetime(sql_type::TYPE_TIME, "TIME", FRACTION, (13, 6), literal("TIME '", dialect))
    }

    pub(crate) fn timestamp() -> Self {
        Self::datetime(sql_type::TYPE_TIMESTAMP, "TIMESTAMP", FRACTION, (24, 16), ("TIMESTAMP '", "'"))
    }

    /// In the session's time zone, which is not part of the value.
    pub(crate) fn time_with_zone(dialect: Dialect) -> Self {
        Self { name: "TIME WITH TIME ZONE", ..Self::time(dialect) }
    }

    pub(crate) fn timestamp_with_zone() -> Self {
        Self { name: "TIMESTAMP WITH TIME ZONE", ..Self::timestamp() }
    }

    fn datetime(
        concise: SmallInt,
        name: &'static str,
        digits: SmallInt,
        (size, octets): (ULen, Len),
        literal: (&'static str, &'static str),
    ) -> Self {
        Self { concise, name, size, digits, octets, display: length(size), literal, ..TYPE }
    }

    pub(crate) fn char(characters: u32, options: &TypeOptions) -> Self {
        Self::text(if options.wide { sql_type::WCHAR } else { sql_type::CHAR }, "CHAR", characters, options)
    }

    pub(crate) fn varchar(characters: u32, options: &TypeOptions) -> Self {
        let concise = if options.wide { sql_type::WVARCHAR } else { sql_type::VARCHAR };
        Self::text(concise, "VARCHAR", characters, options)
    }

    pub(crate) fn text_blob(options: &TypeOptions) -> Self {
        let concise = if options.wide { sql_type::WLONGVARCHAR } else { sql_type::LONGVARCHAR };
        Self::text(concise, "BLOB SUB_TYPE TEXT", options.blob_size, options)
    }

    /// The values of an array as text, which cannot be written.
    pub(super) fn array(characters: u32, options: &TypeOptions) -> Self {
        Self { name: "ARRAY", searchable: NONE, literal: ("", ""), ..Self::varchar(characters, options) }
    }

    fn text(concise: SmallInt, name: &'static str, characters: u32, options: &TypeOptions) -> Self {
        let size = characters as ULen;
        let most = if options.wide { UTF16 } else { ULen::from(options.narrow.most_bytes()) };
        let octets = length(size.saturating_mul(most));
        Self {
            concise,
            name,
            size,
            octets,
            // PHP and Perl make buffers of this size, in bytes, for narrow text.
            display: if options.wide { length(size) } else { octets },
            is_case_sensitive: true,
            searchable: ALL,
            literal: ("'", "'"),
            ..TYPE
        }
    }

    /// BINARY, which may be `SQL_GUID` if it has 16 bytes.
    pub(crate) fn binary(bytes: u32, options: &TypeOptions) -> Self {
        if options.guid && bytes == 16 {
            return Self::guid();
        }
        let name = if options.has_binary { "BINARY" } else { "CHAR() CHARACTER SET OCTETS" };
        Self::bytes(sql_type::BINARY, name, bytes)
    }

    pub(crate) fn varbinary(bytes: u32, options: &TypeOptions) -> Self {
        let name = if options.has_binary { "VARBINARY" } else { "VARCHAR() CHARACTER SET OCTETS" };
        Self::bytes(sql_type::VARBINARY, name, bytes)
    }

    pub(crate) fn binary_blob(options: &TypeOptions) -> Self {
        let bytes = Self::bytes(sql_type::LONGVARBINARY, "BLOB SUB_TYPE BINARY", options.blob_size);
        Self { searchable: NONE, ..bytes }
    }

    /// Values as text are hexadecimal.
    fn bytes(concise: SmallInt, name: &'static str, bytes: u32) -> Self {
        let size = bytes as ULen;
        Self {
            concise,
            name,
            size,
            octets: length(size),
            display: length(size.saturating_mul(2)),
            literal: ("x'", "'"),
            ..TYPE
        }
    }

    pub(crate) fn guid() -> Self {
        Self {
            concise: sql_type::GUID,
            name: "CHAR(16) CHARACTER SET OCTETS",
            size: 36,
            octets: 16,
            display: 36,
            ..TYPE
        }
    }
}

/// Dialect 1 has no literals of DATE and TIME, but reads text as such.
fn literal(prefix: &'static str, dialect: Dialect) -> (&'static str, &'static str) {
    match dialect {
        Dialect::One => ("'", "'"),
        Dialect::Three => (prefix, "'"),
    }
}
