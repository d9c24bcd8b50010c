//! The conversion of Arrow columns into an application's buffers.
//!
//! ```text
//!  plan: column type × C type ─► Writer ─► write: rows of an array ─► Slots of a bound column
//!                                      └─► get: one cell, in pieces ─► the buffer of SQLGetData
//! ```
//!
//! Each pair of types has its own compiled loop, which [`plan`] picks once; running it down a column decides nothing
//! about types any more. [`cell`] defines what such a loop needs: how a value is read, and how it is written.
//!
//! What the standard leaves to drivers:
//! - `SQL_C_BINARY` receives numbers and datetimes as their native C types have them, exact numerics as
//!   `SQL_NUMERIC_STRUCT`.
//! - `SQL_C_NUMERIC` has scale 0 unless the application or the column sets one. Digits that are dropped are
//!   truncated, not rounded, here as everywhere.
//! - Text from numbers and datetimes is handed out in pieces too, where only the fraction did not fit.
//! - `Infinity` and `NaN`, which DECFLOAT has, are literals of `SQL_C_FLOAT` and `SQL_C_DOUBLE`.

mod binary;
mod calendar;
mod cell;
mod datetime;
mod decimal;
mod fault;
mod float;
mod guid;
mod integer;
mod literal;
mod long;
mod moment;
mod number;
mod numeric;
mod paged;
mod piece;
mod plan;
mod rendered;
mod slots;
#[cfg(test)]
mod speed;
#[cfg(test)]
mod testing;
mod text;
mod today;
mod unit;
mod writer;

pub(crate) use long::Form;
pub(crate) use piece::Piece;
pub(crate) use plan::{Wanted, plan};
pub(crate) use slots::Slots;
pub(crate) use writer::{Got, Writer};

use crate::abi::{self, SmallInt, c_type, sql_type};

/// Returns the C type that `SQL_C_DEFAULT` stands for.
pub(crate) fn default_c_type(sql_type: SmallInt) -> SmallInt {
    match sql_type {
        sql_type::SMALLINT => c_type::SSHORT,
        sql_type::INTEGER => c_type::SLONG,
        sql_type::BIGINT => c_type::SBIGINT,
        sql_type::TINYINT => c_type::STINYINT,
        sql_type::REAL => c_type::FLOAT,
        sql_type::FLOAT | sql_type::DOUBLE => c_type::DOUBLE,
        sql_type::BIT => c_type::BIT,
        sql_type::DATETIME => c_type::DATE,
        sql_type::TIME => c_type::TIME,
        sql_type::TIMESTAMP => c_type::TIMESTAMP,
        sql_type::TYPE_DATE => c_type::TYPE_DATE,
        sql_type::TYPE_TIME => c_type::TYPE_TIME,
        sql_type::TYPE_TIMESTAMP => c_type::TYPE_TIMESTAMP,
        sql_type::WCHAR | sql_type::WVARCHAR | sql_type::WLONGVARCHAR => c_type::WCHAR,
        sql_type::BINARY | sql_type::VARBINARY | sql_type::LONGVARBINARY => c_type::BINARY,
        sql_type::GUID => c_type::GUID,
        _ => c_type::CHAR,
    }
}

/// Returns the bytes of a value of this C type; `None` where the buffer's length decides.
pub(crate) fn fixed_size(c_type: SmallInt) -> Option<usize> {
    Some(match c_type {
        c_type::BIT | c_type::TINYINT | c_type::STINYINT | c_type::UTINYINT => 1,
        c_type::SHORT | c_type::SSHORT | c_type::USHORT => 2,
        c_type::LONG | c_type::SLONG | c_type::ULONG | c_type::FLOAT => 4,
        c_type::SBIGINT | c_type::UBIGINT | c_type::DOUBLE => 8,
        c_type::NUMERIC => size_of::<abi::Numeric>(),
        c_type::DATE | c_type::TYPE_DATE => size_of::<abi::Date>(),
        c_type::TIME | c_type::TYPE_TIME => size_of::<abi::Time>(),
        c_type::TIMESTAMP | c_type::TYPE_TIMESTAMP => size_of::<abi::Timestamp>(),
        c_type::GUID => size_of::<abi::Guid>(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_fit_their_columns() {
        let all = [
            (sql_type::SMALLINT, c_type::SSHORT, Some(2)),
            (sql_type::INTEGER, c_type::SLONG, Some(4)),
            (sql_type::BIGINT, c_type::SBIGINT, Some(8)),
            (sql_type::TINYINT, c_type::STINYINT, Some(1)),
            (sql_type::NUMERIC, c_type::CHAR, None),
            (sql_type::DECIMAL, c_type::CHAR, None),
            (sql_type::REAL, c_type::FLOAT, Some(4)),
            (sql_type::FLOAT, c_type::DOUBLE, Some(8)),
            (sql_type::DOUBLE, c_type::DOUBLE, Some(8)),
            (sql_type::BIT, c_type::BIT, Some(1)),
            (sql_type::DATETIME, c_type::DATE, Some(6)),
            (sql_type::TIME, c_type::TIME, Some(6)),
            (sql_type::TIMESTAMP, c_type::TIMESTAMP, Some(16)),
            (sql_type::TYPE_DATE, c_type::TYPE_DATE, Some(6)),
            (sql_type::TYPE_TIME, c_type::TYPE_TIME, Some(6)),
            (sql_type::TYPE_TIMESTAMP, c_type::TYPE_TIMESTAMP, Some(16)),
            (sql_type::VARCHAR, c_type::CHAR, None),
            (sql_type::LONGVARCHAR, c_type::CHAR, None),
            (sql_type::WVARCHAR, c_type::WCHAR, None),
            (sql_type::WLONGVARCHAR, c_type::WCHAR, None),
            (sql_type::LONGVARBINARY, c_type::BINARY, None),
            (sql_type::GUID, c_type::GUID, Some(16)),
        ];
        for (sql_type, c_type, size) in all {
            assert_eq!((default_c_type(sql_type), fixed_size(c_type)), (c_type, size), "{sql_type}");
        }
        assert_eq!(fixed_size(c_type::NUMERIC), Some(19));
        assert_eq!(fixed_size(c_type::DEFAULT), None);
    }
}
