//! Column types as ODBC numbers.

use firearrow::catalog::{BaseType, ColumnType};

/// ODBC's `SQLColumns` description of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Xdbc {
    /// `DATA_TYPE`.
    pub(super) data_type: i16,
    /// `SQL_DATA_TYPE`: the same except for dates and times, which are all 9.
    pub(super) sql_data_type: i16,
    /// `SQL_DATETIME_SUB`.
    pub(super) datetime_sub: Option<i16>,
    /// Digits, bits of floating-point numbers, characters, or bytes of binary strings.
    pub(super) column_size: Option<i32>,
    /// Digits after the decimal point.
    pub(super) decimal_digits: Option<i16>,
    /// The base in which digits are counted.
    pub(super) radix: Option<i16>,
    /// Bytes of a string.
    pub(super) octet_length: Option<i32>,
}

/// Fractional seconds have four digits.
const SECOND_DIGITS: i16 = 4;

pub(super) fn xdbc(column: &ColumnType) -> Xdbc {
    use BaseType::*;
    // ODBC has no arrays; 50 is the number of ARRAY in the SQL standard. DECFLOAT is -360 in Db2, which has the same
    // type.
    let (data_type, datetime_sub) = match column.base {
        _ if column.is_array() => (50, None),
        SmallInt => (5, None),
        Integer => (4, None),
        BigInt => (-5, None),
        Int128 | Numeric => (2, None),
        Decimal => (3, None),
        Float => (7, None),
        DoublePrecision => (8, None),
        DecFloat => (-360, None),
        Boolean => (-7, None),
        Date => (91, Some(1)),
        Time => (92, Some(2)),
        Timestamp => (93, Some(3)),
        // ODBC 4.0 defines these.
        TimeWithTimeZone => (94, Some(4)),
        TimestampWithTimeZone => (95, Some(5)),
        Char => (1, None),
        VarChar => (12, None),
        Binary => (-2, None),
        VarBinary => (-3, None),
        TextBlob => (-1, None),
        Blob => (-4, None),
        Other(_) => (0, None),
    };
    let (radix, column_size) = match column.base {
        _ if column.is_array() => (None, None),
        Float => (Some(2), Some(24)),
        DoublePrecision => (Some(2), Some(53)),
        Boolean => (None, Some(1)),
        Date => (None, Some(10)),
        Time => (None, Some(13)),
        Timestamp => (None, Some(24)),
        Char | VarChar => (None, column.characters.and_then(|count| i32::try_from(count).ok())),
        Binary | VarBinary => (None, i32::try_from(column.length).ok()),
        _ => match column.digits() {
            Some(digits) => (Some(10), Some(digits.into())),
            None => (None, None),
        },
    };
    let decimal_digits = match column.base {
        _ if column.is_array() => None,
        SmallInt | Integer | BigInt | Int128 | Numeric | Decimal => Some(column.scale.into()),
        Time | Timestamp | TimeWithTimeZone | TimestampWithTimeZone => Some(SECOND_DIGITS),
        _ => None,
    };
    let is_string = matches!(column.base, Char | VarChar | Binary | VarBinary) && !column.is_array();
    Xdbc {
        data_type,
        sql_data_type: if datetime_sub.is_some() { 9 } else { data_type },
        datetime_sub,
        column_size,
        decimal_digits,
        radix,
        octet_length: i32::try_from(column.length).ok().filter(|_| is_string),
    }
}
