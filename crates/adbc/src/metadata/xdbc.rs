//! Column types as ODBC numbers.

use firearrow::catalog::{BaseType, ColumnType};
use firearrow::sql_types;

/// What ODBC's `SQLColumns` tells about a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// ODBC has no arrays; this is the number of ARRAY in the SQL standard.
const ARRAY: i16 = 50;

pub(super) fn xdbc(column: &ColumnType) -> Xdbc {
    use BaseType::*;
    let of_base = sql_types(u16::MAX).find(|info| info.base == column.base);
    let Some(info) = of_base.filter(|_| !column.is_array()) else {
        let data_type = if column.is_array() { ARRAY } else { 0 };
        return Xdbc { data_type, sql_data_type: data_type, ..Xdbc::default() };
    };
    let column_size = match column.base {
        Float | DoublePrecision | Boolean | Date | Time | Timestamp => i32::try_from(info.size).ok(),
        Char | VarChar => column.characters.and_then(|count| i32::try_from(count).ok()),
        Binary | VarBinary => i32::try_from(column.length).ok(),
        _ => column.digits().map(Into::into),
    };
    let decimal_digits = match column.base {
        SmallInt | Integer | BigInt | Int128 | Numeric | Decimal => Some(column.scale.into()),
        _ => info.maximum_scale,
    };
    let is_string = matches!(column.base, Char | VarChar | Binary | VarBinary);
    Xdbc {
        data_type: info.xdbc.data_type,
        sql_data_type: info.xdbc.sql_data_type,
        datetime_sub: info.xdbc.datetime_sub,
        column_size,
        decimal_digits,
        radix: info.radix.map(Into::into),
        octet_length: i32::try_from(column.length).ok().filter(|_| is_string),
    }
}
