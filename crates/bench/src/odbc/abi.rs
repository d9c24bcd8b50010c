//! The part of ODBC that the benchmark uses: types and numbers, by the names of its headers without their `SQL_`.

use std::ffi::c_void;

pub(super) type Handle = *mut c_void;
pub(super) type Pointer = *mut c_void;
pub(super) type Return = i16;

pub(super) const SUCCESS: Return = 0;
pub(super) const SUCCESS_WITH_INFO: Return = 1;
pub(super) const NO_DATA: Return = 100;

pub(super) const HANDLE_ENV: i16 = 1;
pub(super) const HANDLE_DBC: i16 = 2;
pub(super) const HANDLE_STMT: i16 = 3;

pub(super) const NULL_DATA: isize = -1;
pub(super) const CLOSE: u16 = 0;
pub(super) const COMMIT: i16 = 0;
pub(super) const ROLLBACK: i16 = 1;
pub(super) const DRIVER_NOPROMPT: u16 = 0;
pub(super) const PARAM_INPUT: i16 = 1;
pub(super) const INTEGER: i16 = 4;

pub(super) const FETCH_FIRST: i16 = 2;
pub(super) const FETCH_LAST: i16 = 3;

pub(super) const DRIVER_VERSION: u16 = 7;

pub(super) const OV_ODBC3: usize = 3;
pub(super) const CURSOR_STATIC: usize = 3;

/// Attributes of environments, connections and statements.
pub(super) mod attribute {
    pub(crate) const ODBC_VERSION: i32 = 200;
    pub(crate) const AUTOCOMMIT: i32 = 102;
    pub(crate) const CURSOR_TYPE: i32 = 6;
    pub(crate) const PARAM_STATUS_PTR: i32 = 20;
    pub(crate) const PARAMS_PROCESSED_PTR: i32 = 21;
    pub(crate) const PARAMSET_SIZE: i32 = 22;
    pub(crate) const ROWS_FETCHED_PTR: i32 = 26;
    pub(crate) const ROW_ARRAY_SIZE: i32 = 27;
}

/// C types of buffers.
pub(super) mod c_type {
    pub(crate) const CHAR: i16 = 1;
    pub(crate) const SLONG: i16 = -16;
    pub(crate) const SSHORT: i16 = -15;
    pub(crate) const SBIGINT: i16 = -25;
    pub(crate) const FLOAT: i16 = 7;
    pub(crate) const DOUBLE: i16 = 8;
    pub(crate) const BIT: i16 = -7;
    pub(crate) const BINARY: i16 = -2;
    pub(crate) const TYPE_DATE: i16 = 91;
    pub(crate) const TYPE_TIME: i16 = 92;
    pub(crate) const TYPE_TIMESTAMP: i16 = 93;
}

/// SQL types of columns.
pub(super) mod sql_type {
    pub(crate) const NUMERIC: i16 = 2;
    pub(crate) const DECIMAL: i16 = 3;
    pub(crate) const INTEGER: i16 = super::INTEGER;
    pub(crate) const SMALLINT: i16 = 5;
    pub(crate) const FLOAT: i16 = 6;
    pub(crate) const REAL: i16 = 7;
    pub(crate) const DOUBLE: i16 = 8;
    pub(crate) const TYPE_DATE: i16 = 91;
    pub(crate) const TYPE_TIME: i16 = 92;
    pub(crate) const TYPE_TIMESTAMP: i16 = 93;
    pub(crate) const BIGINT: i16 = -5;
    pub(crate) const TINYINT: i16 = -6;
    pub(crate) const BIT: i16 = -7;
    pub(crate) const BINARY: i16 = -2;
    pub(crate) const VARBINARY: i16 = -3;
    pub(crate) const LONGVARBINARY: i16 = -4;
}
