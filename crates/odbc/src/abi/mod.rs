//! What ODBC 3.80 defines: types, structures and numbers, by the names of its headers without their `SQL_`.
//!
//! `odbc-sys` has them too, but links the driver manager, whose functions a driver must not reach.

pub(crate) mod attribute;
pub(crate) mod c_type;
pub(crate) mod field;
pub(crate) mod function;
pub(crate) mod info;
pub(crate) mod info_value;
pub(crate) mod sql_type;

use std::ffi::c_void;

/// A handle as applications see it.
pub(crate) type Handle = *mut c_void;
/// A pointer to whatever the arguments say.
pub(crate) type Pointer = *mut c_void;
/// A narrow code unit: UTF-8 on Linux.
pub(crate) type Char = u8;
/// A UTF-16 code unit, on every system.
pub(crate) type WChar = u16;
/// `SQLSMALLINT`
pub(crate) type SmallInt = i16;
/// `SQLUSMALLINT`
pub(crate) type USmallInt = u16;
/// `SQLINTEGER`
pub(crate) type Integer = i32;
/// `SQLUINTEGER`
pub(crate) type UInteger = u32;
/// `SQLLEN`
pub(crate) type Len = isize;
/// `SQLULEN`
pub(crate) type ULen = usize;
/// `SQLSETPOSIROW`
pub(crate) type Row = usize;
/// `SQLRETURN`
pub(crate) type Return = i16;

pub(crate) const SUCCESS: Return = 0;
pub(crate) const SUCCESS_WITH_INFO: Return = 1;
pub(crate) const NEED_DATA: Return = 99;
pub(crate) const NO_DATA: Return = 100;
pub(crate) const ERROR: Return = -1;
pub(crate) const INVALID_HANDLE: Return = -2;

pub(crate) const HANDLE_ENV: SmallInt = 1;
pub(crate) const HANDLE_DBC: SmallInt = 2;
pub(crate) const HANDLE_STMT: SmallInt = 3;
pub(crate) const HANDLE_DESC: SmallInt = 4;

/// Lengths and indicators.
pub(crate) const NTS: Len = -3;
pub(crate) const NULL_DATA: Len = -1;
pub(crate) const DATA_AT_EXEC: Len = -2;
pub(crate) const NO_TOTAL: Len = -4;
pub(crate) const DEFAULT_PARAM: Len = -5;
pub(crate) const COLUMN_IGNORE: Len = -6;
pub(crate) const LEN_DATA_AT_EXEC_OFFSET: Len = -100;

/// `SQLFreeStmt`
pub(crate) const CLOSE: USmallInt = 0;
pub(crate) const DROP: USmallInt = 1;
pub(crate) const UNBIND: USmallInt = 2;
pub(crate) const RESET_PARAMS: USmallInt = 3;

/// `SQLEndTran`
pub(crate) const COMMIT: SmallInt = 0;
pub(crate) const ROLLBACK: SmallInt = 1;

/// Directions of `SQLFetchScroll`.
pub(crate) const FETCH_NEXT: SmallInt = 1;
pub(crate) const FETCH_FIRST: SmallInt = 2;
pub(crate) const FETCH_LAST: SmallInt = 3;
pub(crate) const FETCH_PRIOR: SmallInt = 4;
pub(crate) const FETCH_ABSOLUTE: SmallInt = 5;
pub(crate) const FETCH_RELATIVE: SmallInt = 6;
pub(crate) const FETCH_BOOKMARK: SmallInt = 8;

/// The status of a row of a row set.
pub(crate) const ROW_SUCCESS: USmallInt = 0;
pub(crate) const ROW_DELETED: USmallInt = 1;
pub(crate) const ROW_UPDATED: USmallInt = 2;
pub(crate) const ROW_NOROW: USmallInt = 3;
pub(crate) const ROW_ADDED: USmallInt = 4;
pub(crate) const ROW_ERROR: USmallInt = 5;
pub(crate) const ROW_SUCCESS_WITH_INFO: USmallInt = 6;

/// The status of a set of parameters.
pub(crate) const PARAM_SUCCESS: USmallInt = 0;
pub(crate) const PARAM_DIAG_UNAVAILABLE: USmallInt = 1;
pub(crate) const PARAM_ERROR: USmallInt = 5;
pub(crate) const PARAM_SUCCESS_WITH_INFO: USmallInt = 6;
pub(crate) const PARAM_UNUSED: USmallInt = 7;
/// In an operation array.
pub(crate) const PARAM_IGNORE: USmallInt = 1;
/// In an operation array of rows.
pub(crate) const ROW_IGNORE: USmallInt = 1;

/// Kinds of parameters.
pub(crate) const PARAM_INPUT: SmallInt = 1;
pub(crate) const PARAM_INPUT_OUTPUT: SmallInt = 2;
pub(crate) const PARAM_OUTPUT: SmallInt = 4;

pub(crate) const NO_NULLS: SmallInt = 0;
pub(crate) const NULLABLE: SmallInt = 1;
pub(crate) const NULLABLE_UNKNOWN: SmallInt = 2;

/// `SQL_DATE_STRUCT`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Date {
    /// 1 to 9999
    pub(crate) year: i16,
    /// 1 to 12
    pub(crate) month: u16,
    /// 1 to 31
    pub(crate) day: u16,
}

/// `SQL_TIME_STRUCT`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Time {
    /// 0 to 23
    pub(crate) hour: u16,
    /// 0 to 59
    pub(crate) minute: u16,
    /// 0 to 59
    pub(crate) second: u16,
}

/// `SQL_TIMESTAMP_STRUCT`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Timestamp {
    /// 1 to 9999
    pub(crate) year: i16,
    /// 1 to 12
    pub(crate) month: u16,
    /// 1 to 31
    pub(crate) day: u16,
    /// 0 to 23
    pub(crate) hour: u16,
    /// 0 to 59
    pub(crate) minute: u16,
    /// 0 to 59
    pub(crate) second: u16,
    /// Nanoseconds.
    pub(crate) fraction: u32,
}

/// `SQL_NUMERIC_STRUCT`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numeric {
    /// Digits in all.
    pub(crate) precision: u8,
    /// Digits after the decimal point.
    pub(crate) scale: i8,
    /// 1 = positive, 0 = negative.
    pub(crate) sign: u8,
    /// The magnitude, little-endian.
    pub(crate) value: [u8; 16],
}

/// `SQLGUID`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Guid {
    /// The first four bytes, in the machine's order.
    pub(crate) data1: u32,
    /// The next two, in the machine's order.
    pub(crate) data2: u16,
    /// The next two, in the machine's order.
    pub(crate) data3: u16,
    /// The others as they are.
    pub(crate) data4: [u8; 8],
}
