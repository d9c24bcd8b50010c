//! SQL data types: the types of columns and parameters.

use super::SmallInt;

pub(crate) const UNKNOWN: SmallInt = 0;
pub(crate) const CHAR: SmallInt = 1;
pub(crate) const NUMERIC: SmallInt = 2;
pub(crate) const DECIMAL: SmallInt = 3;
pub(crate) const INTEGER: SmallInt = 4;
pub(crate) const SMALLINT: SmallInt = 5;
pub(crate) const FLOAT: SmallInt = 6;
pub(crate) const REAL: SmallInt = 7;
pub(crate) const DOUBLE: SmallInt = 8;
/// The verbose type of all datetimes, and DATE of ODBC 2.
pub(crate) const DATETIME: SmallInt = 9;
/// TIME and TIMESTAMP of ODBC 2.
pub(crate) const TIME: SmallInt = 10;
pub(crate) const TIMESTAMP: SmallInt = 11;
pub(crate) const VARCHAR: SmallInt = 12;
pub(crate) const TYPE_DATE: SmallInt = 91;
pub(crate) const TYPE_TIME: SmallInt = 92;
pub(crate) const TYPE_TIMESTAMP: SmallInt = 93;
pub(crate) const LONGVARCHAR: SmallInt = -1;
pub(crate) const BINARY: SmallInt = -2;
pub(crate) const VARBINARY: SmallInt = -3;
pub(crate) const LONGVARBINARY: SmallInt = -4;
pub(crate) const BIGINT: SmallInt = -5;
pub(crate) const TINYINT: SmallInt = -6;
pub(crate) const BIT: SmallInt = -7;
pub(crate) const WCHAR: SmallInt = -8;
pub(crate) const WVARCHAR: SmallInt = -9;
pub(crate) const WLONGVARCHAR: SmallInt = -10;
pub(crate) const GUID: SmallInt = -11;

/// Codes of the datetimes below their verbose type.
pub(crate) const CODE_DATE: SmallInt = 1;
pub(crate) const CODE_TIME: SmallInt = 2;
pub(crate) const CODE_TIMESTAMP: SmallInt = 3;
