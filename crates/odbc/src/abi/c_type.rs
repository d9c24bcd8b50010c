//! C data types: the types of an application's buffers.

use super::SmallInt;

pub(crate) const CHAR: SmallInt = 1;
pub(crate) const NUMERIC: SmallInt = 2;
pub(crate) const LONG: SmallInt = 4;
pub(crate) const SHORT: SmallInt = 5;
pub(crate) const FLOAT: SmallInt = 7;
pub(crate) const DOUBLE: SmallInt = 8;
/// The datetime types of ODBC 2.
pub(crate) const DATE: SmallInt = 9;
pub(crate) const TIME: SmallInt = 10;
pub(crate) const TIMESTAMP: SmallInt = 11;
pub(crate) const TYPE_DATE: SmallInt = 91;
pub(crate) const TYPE_TIME: SmallInt = 92;
pub(crate) const TYPE_TIMESTAMP: SmallInt = 93;
pub(crate) const DEFAULT: SmallInt = 99;
pub(crate) const ARD_TYPE: SmallInt = -99;
pub(crate) const BINARY: SmallInt = -2;
pub(crate) const TINYINT: SmallInt = -6;
pub(crate) const BIT: SmallInt = -7;
pub(crate) const WCHAR: SmallInt = -8;
pub(crate) const GUID: SmallInt = -11;
pub(crate) const SSHORT: SmallInt = -15;
pub(crate) const SLONG: SmallInt = -16;
pub(crate) const USHORT: SmallInt = -17;
pub(crate) const ULONG: SmallInt = -18;
pub(crate) const SBIGINT: SmallInt = -25;
pub(crate) const STINYINT: SmallInt = -26;
pub(crate) const UBIGINT: SmallInt = -27;
pub(crate) const UTINYINT: SmallInt = -28;
/// The first and the last interval type.
pub(crate) const INTERVALS: std::ops::RangeInclusive<SmallInt> = 101..=113;
