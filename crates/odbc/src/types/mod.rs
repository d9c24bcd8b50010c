//! SQL types as ODBC describes them.

mod declared;
mod described;
mod make;
mod reading;
#[cfg(test)]
mod tests;

pub(crate) use make::{FIXED_BYTES, FRACTION, UTF8, VARYING_BYTES};
pub(crate) use reading::read_options;

use crate::abi::{Integer, Len, SmallInt, ULen, sql_type};
use crate::text::NarrowEncoding;

/// An SQL type with its sizes, of a column, a parameter, or a column of the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    /// The concise SQL type, one of [`crate::abi::sql_type`].
    pub(crate) concise: SmallInt,
    /// As `SQLGetTypeInfo` calls it.
    pub(crate) name: &'static str,
    /// Characters, digits or bits; bytes of binary types.
    pub(crate) size: ULen,
    /// Digits after the point: of numbers, or of seconds.
    pub(crate) digits: SmallInt,
    /// Bytes of the default C type, without a terminator.
    pub(crate) octets: Len,
    /// Code units of the value as text: bytes, for narrow text.
    pub(crate) display: Len,
    /// 10, 2, or 0 for what is no number.
    pub(crate) radix: SmallInt,
    /// Whether it has no sign: true for everything but numbers.
    pub(crate) is_unsigned: bool,
    pub(crate) is_case_sensitive: bool,
    /// `SQL_PRED_NONE` (0), `SQL_PRED_CHAR` (1), `SQL_PRED_BASIC` (2) or `SQL_SEARCHABLE` (3).
    pub(crate) searchable: SmallInt,
    /// What stands before and after a literal.
    pub(crate) literal: (&'static str, &'static str),
}

/// What types depend on besides the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeOptions {
    /// Text is `SQL_WVARCHAR` and the other wide types rather than `SQL_VARCHAR`.
    pub(crate) wide: bool,
    /// DECFLOAT is `SQL_DOUBLE` instead of text.
    pub(crate) decfloat_as_double: bool,
    /// BINARY(16) is `SQL_GUID`.
    pub(crate) guid: bool,
    /// The size reported for BLOBs.
    pub(crate) blob_size: u32,
    /// The encoding of narrow data.
    pub(crate) narrow: NarrowEncoding,
    /// Whether the server knows the names BINARY and VARBINARY: Firebird 4 and later.
    pub(crate) has_binary: bool,
}

impl Default for TypeOptions {
    fn default() -> Self {
        Self {
            wide: true,
            decfloat_as_double: false,
            guid: false,
            blob_size: i32::MAX as u32,
            narrow: NarrowEncoding::Utf8,
            has_binary: true,
        }
    }
}

impl Type {
    /// Returns `SQL_DATA_TYPE`, which is 9 for all datetimes, and `SQL_DATETIME_SUB`, which tells them apart.
    pub(crate) fn verbose(&self) -> (SmallInt, Option<SmallInt>) {
        match self.concise {
            sql_type::TYPE_DATE => (sql_type::DATETIME, Some(sql_type::CODE_DATE)),
            sql_type::TYPE_TIME => (sql_type::DATETIME, Some(sql_type::CODE_TIME)),
            sql_type::TYPE_TIMESTAMP => (sql_type::DATETIME, Some(sql_type::CODE_TIMESTAMP)),
            other => (other, None),
        }
    }

    /// Returns the concise type for applications of ODBC 2, whose datetimes have other numbers.
    pub(crate) fn for_odbc2(&self) -> SmallInt {
        match self.concise {
            sql_type::TYPE_DATE => sql_type::DATETIME,
            sql_type::TYPE_TIME => sql_type::TIME,
            sql_type::TYPE_TIMESTAMP => sql_type::TIMESTAMP,
            other => other,
        }
    }

    /// Returns `BUFFER_LENGTH` of the catalog functions: bytes of a value in its default C type.
    pub(crate) fn buffer_length(&self) -> Integer {
        Integer::try_from(self.octets).unwrap_or(Integer::MAX)
    }

    /// Returns `CHAR_OCTET_LENGTH` of the catalog functions, which only text and binary types have.
    pub(crate) fn char_octet_length(&self) -> Option<Integer> {
        (self.is_text() || self.is_binary()).then(|| self.buffer_length())
    }

    pub(crate) fn is_text(&self) -> bool {
        use sql_type::{CHAR, LONGVARCHAR, VARCHAR, WCHAR, WLONGVARCHAR, WVARCHAR};
        matches!(self.concise, CHAR | VARCHAR | LONGVARCHAR | WCHAR | WVARCHAR | WLONGVARCHAR)
    }

    pub(crate) fn is_binary(&self) -> bool {
        matches!(self.concise, sql_type::BINARY | sql_type::VARBINARY | sql_type::LONGVARBINARY)
    }
}
