//! The table itself. A test executes its names, sizes and literals on every engine.

use super::{Searchable, SqlTypeInfo, TypeCode};
use crate::catalog::BaseType;

/// No type in particular, for the rest of an entry.
const TYPE: SqlTypeInfo = SqlTypeInfo {
    name: "",
    base: BaseType::Other(0),
    size: 0,
    literal_prefix: None,
    literal_suffix: None,
    create_params: None,
    case_sensitive: false,
    searchable: Searchable::Full,
    minimum_scale: None,
    maximum_scale: None,
    radix: None,
    since: 3,
    until: None,
    odbc: TypeCode::plain(0),
    xdbc: TypeCode::plain(0),
};

/// One number for ODBC and XDBC.
const fn numbered(name: &'static str, base: BaseType, size: u32, code: TypeCode) -> SqlTypeInfo {
    SqlTypeInfo { name, base, size, odbc: code, xdbc: code, ..TYPE }
}

/// SMALLINT and its like, which have no fraction.
const fn integer(name: &'static str, base: BaseType, digits: u32, code: i16) -> SqlTypeInfo {
    let plain = numbered(name, base, digits, TypeCode::plain(code));
    SqlTypeInfo { minimum_scale: Some(0), maximum_scale: Some(0), radix: Some(10), ..plain }
}

const fn decimal(name: &'static str, base: BaseType, digits: i16, code: i16) -> SqlTypeInfo {
    SqlTypeInfo {
        create_params: Some("precision,scale"),
        maximum_scale: Some(digits),
        ..integer(name, base, digits.unsigned_abs() as u32, code)
    }
}

const fn binary_float(name: &'static str, base: BaseType, bits: u32, code: i16) -> SqlTypeInfo {
    SqlTypeInfo { radix: Some(2), ..numbered(name, base, bits, TypeCode::plain(code)) }
}

/// ODBC has no such type and takes it as text; in XDBC it has the number of Db2, whose type it is, too.
const fn decfloat(name: &'static str, digits: u32) -> SqlTypeInfo {
    SqlTypeInfo {
        radix: Some(10),
        since: 4,
        xdbc: TypeCode::plain(-360),
        ..numbered(name, BaseType::DecFloat, digits, TypeCode::plain(12))
    }
}

const fn text(name: &'static str, base: BaseType, size: u32, code: i16) -> SqlTypeInfo {
    SqlTypeInfo {
        literal_prefix: Some("'"),
        literal_suffix: Some("'"),
        case_sensitive: true,
        ..numbered(name, base, size, TypeCode::plain(code))
    }
}

const fn bytes(name: &'static str, base: BaseType, size: u32, code: i16) -> SqlTypeInfo {
    SqlTypeInfo {
        literal_prefix: Some("x'"),
        literal_suffix: Some("'"),
        ..numbered(name, base, size, TypeCode::plain(code))
    }
}

const fn with_length(info: SqlTypeInfo) -> SqlTypeInfo {
    SqlTypeInfo { create_params: Some("length"), ..info }
}

/// LIKE has no wildcards among bytes: `%` is that byte there.
const fn octets(name: &'static str, base: BaseType, size: u32, code: i16) -> SqlTypeInfo {
    SqlTypeInfo { searchable: Searchable::Basic, ..with_length(bytes(name, base, size, code)) }
}

const fn datetime(
    name: &'static str,
    base: BaseType,
    prefix: &'static str,
    size: u32,
    code: TypeCode,
) -> SqlTypeInfo {
    SqlTypeInfo {
        literal_prefix: Some(prefix),
        literal_suffix: Some("'"),
        ..numbered(name, base, size, code)
    }
}

/// Fractions of a second have up to four digits.
const fn with_fraction(info: SqlTypeInfo) -> SqlTypeInfo {
    SqlTypeInfo { minimum_scale: Some(0), maximum_scale: Some(4), ..info }
}

/// ODBC 3 has no time zones; XDBC has the numbers of ODBC 4.
const fn with_zone(info: SqlTypeInfo, xdbc: TypeCode) -> SqlTypeInfo {
    SqlTypeInfo { xdbc, ..since_4(with_fraction(info)) }
}

const fn since_4(info: SqlTypeInfo) -> SqlTypeInfo {
    SqlTypeInfo { since: 4, ..info }
}

const fn until_3(info: SqlTypeInfo) -> SqlTypeInfo {
    SqlTypeInfo { until: Some(3), ..info }
}

/// The largest size that ODBC can report.
const BLOB: u32 = 2_147_483_647;
/// Bytes of a CHAR; a VARCHAR needs two of them for its length. (Firebird 4 and 5 forget that when they check VARBINARY.)
const BYTES: u32 = 32_767;
/// Bytes of a character of UTF8.
const UTF8: u32 = 4;

/// All types of all releases; see [`sql_types`](super::sql_types) for their order.
pub(super) const TYPES: [SqlTypeInfo; 26] = [
    numbered("BOOLEAN", BaseType::Boolean, 1, TypeCode::plain(-7)),
    integer("BIGINT", BaseType::BigInt, 19, -5),
    bytes("BLOB SUB_TYPE BINARY", BaseType::Blob, BLOB, -4),
    until_3(octets("VARCHAR() CHARACTER SET OCTETS", BaseType::VarBinary, BYTES - 2, -3)),
    since_4(octets("VARBINARY", BaseType::VarBinary, BYTES - 2, -3)),
    until_3(octets("CHAR() CHARACTER SET OCTETS", BaseType::Binary, BYTES, -2)),
    since_4(octets("BINARY", BaseType::Binary, BYTES, -2)),
    text("BLOB SUB_TYPE TEXT", BaseType::TextBlob, BLOB, -1),
    with_length(text("CHAR", BaseType::Char, BYTES / UTF8, 1)),
    until_3(decimal("NUMERIC", BaseType::Numeric, 18, 2)),
    since_4(decimal("NUMERIC", BaseType::Numeric, 38, 2)),
    since_4(integer("INT128", BaseType::Int128, 38, 2)),
    until_3(decimal("DECIMAL", BaseType::Decimal, 18, 3)),
    since_4(decimal("DECIMAL", BaseType::Decimal, 38, 3)),
    integer("INTEGER", BaseType::Integer, 10, 4),
    integer("SMALLINT", BaseType::SmallInt, 5, 5),
    binary_float("FLOAT", BaseType::Float, 24, 7),
    binary_float("DOUBLE PRECISION", BaseType::DoublePrecision, 53, 8),
    with_length(text("VARCHAR", BaseType::VarChar, (BYTES - 2) / UTF8, 12)),
    decfloat("DECFLOAT(34)", 34),
    decfloat("DECFLOAT(16)", 16),
    datetime("DATE", BaseType::Date, "DATE '", 10, TypeCode::datetime(91, 1)),
    with_fraction(datetime("TIME", BaseType::Time, "TIME '", 13, TypeCode::datetime(92, 2))),
    with_zone(
        datetime("TIME WITH TIME ZONE", BaseType::TimeWithTimeZone, "TIME '", 13, TypeCode::datetime(92, 2)),
        TypeCode::datetime(94, 4),
    ),
    with_fraction(datetime("TIMESTAMP", BaseType::Timestamp, "TIMESTAMP '", 24, TypeCode::datetime(93, 3))),
    with_zone(
        datetime(
            "TIMESTAMP WITH TIME ZONE",
            BaseType::TimestampWithTimeZone,
            "TIMESTAMP '",
            24,
            TypeCode::datetime(93, 3),
        ),
        TypeCode::datetime(95, 5),
    ),
];
