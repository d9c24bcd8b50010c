//! SQL types as ODBC describes them.

use crate::abi::{Len, SmallInt, ULen};

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
    /// Characters of the value as text.
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
    /// Text is `SQL_WVARCHAR` and its kind rather than `SQL_VARCHAR`.
    pub(crate) wide: bool,
    /// DECFLOAT is `SQL_DOUBLE` instead of text.
    pub(crate) decfloat_as_double: bool,
    /// BINARY(16) is `SQL_GUID`.
    pub(crate) guid: bool,
    /// The size that BLOBs are said to have.
    pub(crate) blob_size: u32,
}

impl Default for TypeOptions {
    fn default() -> Self {
        Self { wide: true, decfloat_as_double: false, guid: false, blob_size: i32::MAX as u32 }
    }
}
