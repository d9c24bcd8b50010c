//! The C functions as the standard declares them. They are the driver's own: this program links no driver manager.

#![allow(non_snake_case, dead_code)]

use std::ffi::c_void;

pub(crate) type Handle = *mut c_void;
pub(crate) type Return = i16;

pub(crate) const SUCCESS: Return = 0;
pub(crate) const SUCCESS_WITH_INFO: Return = 1;
pub(crate) const NEED_DATA: Return = 99;
pub(crate) const NO_DATA: Return = 100;
pub(crate) const ERROR: Return = -1;
pub(crate) const INVALID_HANDLE: Return = -2;

pub(crate) const ENV: i16 = 1;
pub(crate) const DBC: i16 = 2;
pub(crate) const STMT: i16 = 3;
pub(crate) const DESC: i16 = 4;
pub(crate) const NTS: isize = -3;
pub(crate) const NULL_DATA: isize = -1;

macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        unsafe extern "system" {
            $(pub(crate) fn $name($($argument: $type),*) -> Return;)*
        }
    };
}

functions! {
    SQLAllocHandle(kind: i16, input: Handle, output: *mut Handle);
    SQLFreeHandle(kind: i16, handle: Handle);
    SQLFreeStmt(statement: Handle, option: u16);
    SQLCloseCursor(statement: Handle);
    SQLSetEnvAttr(environment: Handle, attribute: i32, value: *mut c_void, length: i32);
    SQLGetEnvAttr(environment: Handle, attribute: i32, value: *mut c_void, capacity: i32, length: *mut i32);
    SQLSetConnectAttr(connection: Handle, attribute: i32, value: *mut c_void, length: i32);
    SQLGetConnectAttr(connection: Handle, attribute: i32, value: *mut c_void, capacity: i32, length: *mut i32);
    SQLSetStmtAttr(statement: Handle, attribute: i32, value: *mut c_void, length: i32);
    SQLGetStmtAttr(statement: Handle, attribute: i32, value: *mut c_void, capacity: i32, length: *mut i32);
    SQLDriverConnect(connection: Handle, window: Handle, text: *const u8, length: i16, buffer: *mut u8, capacity: i16, written: *mut i16, completion: u16);
    SQLDriverConnectW(connection: Handle, window: Handle, text: *const u16, length: i16, buffer: *mut u16, capacity: i16, written: *mut i16, completion: u16);
    SQLDisconnect(connection: Handle);
    SQLEndTran(kind: i16, handle: Handle, completion: i16);
    SQLPrepare(statement: Handle, sql: *const u8, length: i32);
    SQLPrepareW(statement: Handle, sql: *const u16, length: i32);
    SQLExecute(statement: Handle);
    SQLExecDirect(statement: Handle, sql: *const u8, length: i32);
    SQLExecDirectW(statement: Handle, sql: *const u16, length: i32);
    SQLNativeSql(connection: Handle, sql: *const u8, length: i32, buffer: *mut u8, capacity: i32, written: *mut i32);
    SQLCancel(statement: Handle);
    SQLCancelHandle(kind: i16, handle: Handle);
    SQLNumParams(statement: Handle, count: *mut i16);
    SQLDescribeParam(statement: Handle, number: u16, sql_type: *mut i16, size: *mut usize, digits: *mut i16, nullable: *mut i16);
    SQLBindParameter(statement: Handle, number: u16, direction: i16, c_type: i16, sql_type: i16, size: usize, digits: i16, data: *mut c_void, capacity: isize, indicator: *mut isize);
    SQLParamData(statement: Handle, token: *mut *mut c_void);
    SQLPutData(statement: Handle, data: *mut c_void, length: isize);
    SQLNumResultCols(statement: Handle, count: *mut i16);
    SQLRowCount(statement: Handle, count: *mut isize);
    SQLDescribeCol(statement: Handle, number: u16, name: *mut u8, capacity: i16, length: *mut i16, sql_type: *mut i16, size: *mut usize, digits: *mut i16, nullable: *mut i16);
    SQLDescribeColW(statement: Handle, number: u16, name: *mut u16, capacity: i16, length: *mut i16, sql_type: *mut i16, size: *mut usize, digits: *mut i16, nullable: *mut i16);
    SQLColAttribute(statement: Handle, number: u16, field: u16, text: *mut c_void, capacity: i16, length: *mut i16, value: *mut isize);
    SQLColAttributeW(statement: Handle, number: u16, field: u16, text: *mut c_void, capacity: i16, length: *mut i16, value: *mut isize);
    SQLBindCol(statement: Handle, number: u16, c_type: i16, data: *mut c_void, capacity: isize, indicator: *mut isize);
    SQLFetch(statement: Handle);
    SQLFetchScroll(statement: Handle, orientation: i16, offset: isize);
    SQLExtendedFetch(statement: Handle, orientation: u16, offset: isize, rows: *mut usize, statuses: *mut u16);
    SQLGetData(statement: Handle, column: u16, c_type: i16, data: *mut c_void, capacity: isize, indicator: *mut isize);
    SQLSetPos(statement: Handle, row: usize, operation: u16, lock: u16);
    SQLMoreResults(statement: Handle);
    SQLSetCursorName(statement: Handle, name: *const u8, length: i16);
    SQLGetCursorName(statement: Handle, buffer: *mut u8, capacity: i16, written: *mut i16);
    SQLGetDiagRec(kind: i16, handle: Handle, number: i16, state: *mut u8, native: *mut i32, message: *mut u8, capacity: i16, length: *mut i16);
    SQLGetDiagRecW(kind: i16, handle: Handle, number: i16, state: *mut u16, native: *mut i32, message: *mut u16, capacity: i16, length: *mut i16);
    SQLGetDiagField(kind: i16, handle: Handle, number: i16, identifier: i16, value: *mut c_void, capacity: i16, length: *mut i16);
    SQLGetInfo(connection: Handle, number: u16, value: *mut c_void, capacity: i16, length: *mut i16);
    SQLGetInfoW(connection: Handle, number: u16, value: *mut c_void, capacity: i16, length: *mut i16);
    SQLGetFunctions(connection: Handle, number: u16, supported: *mut u16);
    SQLGetTypeInfo(statement: Handle, sql_type: i16);
    SQLTables(statement: Handle, a: *const u8, al: i16, b: *const u8, bl: i16, c: *const u8, cl: i16, d: *const u8, dl: i16);
    SQLColumns(statement: Handle, a: *const u8, al: i16, b: *const u8, bl: i16, c: *const u8, cl: i16, d: *const u8, dl: i16);
    SQLPrimaryKeys(statement: Handle, a: *const u8, al: i16, b: *const u8, bl: i16, c: *const u8, cl: i16);
    SQLGetDescField(descriptor: Handle, number: i16, field: i16, value: *mut c_void, capacity: i32, length: *mut i32);
    SQLSetDescField(descriptor: Handle, number: i16, field: i16, value: *mut c_void, length: i32);
    SQLCopyDesc(from: Handle, to: Handle);
    SQLAllocEnv(environment: *mut Handle);
    SQLAllocConnect(environment: Handle, connection: *mut Handle);
    SQLAllocStmt(connection: Handle, statement: *mut Handle);
    SQLFreeEnv(environment: Handle);
    SQLFreeConnect(connection: Handle);
    SQLConnect(connection: Handle, source: *const u8, source_length: i16, user: *const u8, user_length: i16, password: *const u8, password_length: i16);
    SQLBrowseConnect(connection: Handle, text: *const u8, length: i16, buffer: *mut u8, capacity: i16, written: *mut i16);
    SQLGetConnectAttrW(connection: Handle, attribute: i32, value: *mut c_void, capacity: i32, length: *mut i32);
    SQLSetConnectOption(connection: Handle, option: u16, value: usize);
    SQLGetConnectOption(connection: Handle, option: u16, value: *mut c_void);
    SQLSetStmtOption(statement: Handle, option: u16, value: usize);
    SQLGetStmtOption(statement: Handle, option: u16, value: *mut c_void);
    SQLParamOptions(statement: Handle, sets: usize, processed: *mut usize);
    SQLSetScrollOptions(statement: Handle, concurrency: u16, keyset: isize, rows: u16);
    SQLTransact(environment: Handle, connection: Handle, completion: u16);
    SQLError(environment: Handle, connection: Handle, statement: Handle, state: *mut u8, native: *mut i32, message: *mut u8, capacity: i16, length: *mut i16);
    SQLErrorW(environment: Handle, connection: Handle, statement: Handle, state: *mut u16, native: *mut i32, message: *mut u16, capacity: i16, length: *mut i16);
    SQLGetDiagFieldW(kind: i16, handle: Handle, number: i16, identifier: i16, value: *mut c_void, capacity: i16, length: *mut i16);
    SQLGetTypeInfoW(statement: Handle, sql_type: i16);
    SQLSetCursorNameW(statement: Handle, name: *const u16, length: i16);
    SQLGetCursorNameW(statement: Handle, buffer: *mut u16, capacity: i16, written: *mut i16);
    SQLGetDescFieldW(descriptor: Handle, number: i16, field: i16, value: *mut c_void, capacity: i32, length: *mut i32);
    SQLGetDescRec(descriptor: Handle, number: i16, name: *mut u8, capacity: i16, written: *mut i16, kind: *mut i16, sub_type: *mut i16, length: *mut isize, precision: *mut i16, scale: *mut i16, nullable: *mut i16);
    SQLSetDescRec(descriptor: Handle, number: i16, kind: i16, sub_type: i16, length: isize, precision: i16, scale: i16, data: *mut c_void, octet_length: *mut isize, indicator: *mut isize);
    SQLColAttributes(statement: Handle, number: u16, field: u16, text: *mut c_void, capacity: i16, length: *mut i16, value: *mut isize);
    SQLBulkOperations(statement: Handle, operation: i16);
    SQLSpecialColumns(statement: Handle, kind: u16, a: *const u8, al: i16, b: *const u8, bl: i16, c: *const u8, cl: i16, scope: u16, nullable: u16);
    SQLStatistics(statement: Handle, a: *const u8, al: i16, b: *const u8, bl: i16, c: *const u8, cl: i16, unique: u16, accuracy: u16);
    SQLForeignKeys(statement: Handle, a: *const u8, al: i16, b: *const u8, bl: i16, c: *const u8, cl: i16, d: *const u8, dl: i16, e: *const u8, el: i16, f: *const u8, fl: i16);
    SQLProcedures(statement: Handle, a: *const u8, al: i16, b: *const u8, bl: i16, c: *const u8, cl: i16);
    SQLTablePrivileges(statement: Handle, a: *const u8, al: i16, b: *const u8, bl: i16, c: *const u8, cl: i16);
}
