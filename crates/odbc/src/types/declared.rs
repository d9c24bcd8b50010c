//! Types of columns and arguments, as the catalog has them.

use super::{Type, TypeOptions, VARYING_BYTES};
use crate::abi::SmallInt;
use firearrow::Dialect;
use firearrow::catalog::{BaseType, ColumnType};

impl Type {
    /// Returns the type that a column or an argument was declared with.
    pub(crate) fn of_declared(column: &ColumnType, dialect: Dialect, options: &TypeOptions) -> Self {
        if column.is_array() {
            return Self::array(VARYING_BYTES, options);
        }
        let digits = column.digits().unwrap_or_default();
        let scale = SmallInt::from(column.scale);
        match column.base {
            BaseType::SmallInt => Self::small_int(),
            BaseType::Integer => Self::plain_integer(),
            BaseType::BigInt => Self::big_int(),
            BaseType::Int128 => Self::int128(),
            BaseType::Numeric => Self::numeric(digits, scale),
            BaseType::Decimal => Self::decimal(digits, scale),
            BaseType::Float => Self::float(),
            BaseType::DoublePrecision => Self::double(),
            BaseType::DecFloat => Self::decfloat(digits, options),
            BaseType::Boolean => Self::boolean(),
            BaseType::Date => Self::date(dialect),
            BaseType::Time => Self::time(dialect),
            BaseType::TimeWithTimeZone => Self::time_with_zone(dialect),
            BaseType::Timestamp => Self::timestamp(),
            BaseType::TimestampWithTimeZone => Self::timestamp_with_zone(),
            BaseType::Char => Self::char(column.characters.unwrap_or(column.length), options),
            BaseType::VarChar => Self::varchar(column.characters.unwrap_or(column.length), options),
            BaseType::Binary => Self::binary(column.length, options),
            BaseType::VarBinary => Self::varbinary(column.length, options),
            BaseType::TextBlob if column.charset.as_deref() != Some("OCTETS") => Self::text_blob(options),
            BaseType::TextBlob | BaseType::Blob => Self::binary_blob(options),
            BaseType::Other(_) => Self::unknown(),
        }
    }
}
