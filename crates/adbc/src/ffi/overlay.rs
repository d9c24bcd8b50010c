//! The table of functions, and the replacements for generated functions.
//!
//! The generated functions cannot report affected rows together with a stream, a status for errors while reading, or
//! counters while a statement executes. Malformed bound arrays or schemas make them panic, after which they refuse
//! every call of the process.

use super::error::{fail, missing};
use super::stream::{error_from_array_stream, export};
use super::{getters, import};
use crate::driver::Driver;
use crate::error::{internal, invalid_argument};
use crate::handover::{lend, receive};
use adbc_core::constants::ADBC_STATUS_OK;
use adbc_core::error::AdbcStatusCode;
use adbc_ffi::{FFI_AdbcConnection, FFI_AdbcDriver, FFI_AdbcError, FFI_AdbcStatement, FFIDriver};
use arrow::array::{RecordBatchIterator, RecordBatchReader};
use arrow::datatypes::Schema;
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow::ffi_stream::FFI_ArrowArrayStream;
use std::ffi::{c_char, c_int};
use std::ptr;
use std::sync::{Arc, OnceLock};

/// Returns the generated table.
pub(super) fn generated() -> &'static FFI_AdbcDriver {
    static TABLE: OnceLock<FFI_AdbcDriver> = OnceLock::new();
    TABLE.get_or_init(Driver::ffi_driver)
}

/// Returns the table for driver managers.
pub(super) fn table() -> FFI_AdbcDriver {
    FFI_AdbcDriver {
        ConnectionGetInfo: Some(get_info),
        ConnectionGetObjects: Some(get_objects),
        ConnectionGetStatistics: Some(get_statistics),
        ConnectionGetStatisticNames: Some(get_statistic_names),
        ConnectionGetTableTypes: Some(get_table_types),
        ConnectionReadPartition: Some(read_partition),
        StatementBind: Some(bind),
        StatementBindStream: Some(bind_stream),
        StatementExecuteQuery: Some(execute_query),
        StatementGetOption: Some(getters::get_option),
        StatementGetOptionBytes: Some(getters::get_option_bytes),
        StatementGetOptionDouble: Some(getters::get_option_double),
        StatementGetOptionInt: Some(getters::get_option_int),
        StatementNew: Some(getters::statement_new),
        StatementRelease: Some(getters::statement_release),
        ErrorFromArrayStream: Some(error_from_array_stream),
        ..Driver::ffi_driver()
    }
}

/// Calls a generated function that writes a stream, and exports the stream that the driver has handed over instead.
///
/// # Safety
/// `out` and `affected` are null or valid for writing; `error` is as in every C function.
unsafe fn with_stream(
    out: *mut FFI_ArrowArrayStream,
    affected: *mut i64,
    error: *mut FFI_AdbcError,
    call: impl FnOnce(*mut FFI_ArrowArrayStream) -> AdbcStatusCode,
) -> AdbcStatusCode {
    if out.is_null() {
        // The generated function reports the error.
        return call(out);
    }
    let mut empty = FFI_ArrowArrayStream::empty();
    let (status, handed) = receive(|| call(&raw mut empty));
    if status != ADBC_STATUS_OK {
        return status;
    }
    let Some(handed) = handed else { return fail(error, internal("a stream was lost")) };
    // SAFETY: `out` is valid for writing and need not be initialised.
    unsafe { ptr::write_unaligned(out, export(handed.stream)) };
    if !affected.is_null() {
        // SAFETY: `affected` is valid for writing.
        unsafe { ptr::write_unaligned(affected, handed.affected.unwrap_or(-1)) };
    }
    ADBC_STATUS_OK
}

/// Defines functions that only replace the stream of the generated function of the same name.
macro_rules! streaming {
    ($($name:ident = $method:ident($($argument:ident: $type:ty),*);)+) => {$(
        unsafe extern "C" fn $name(
            connection: *mut FFI_AdbcConnection,
            $($argument: $type,)*
            out: *mut FFI_ArrowArrayStream,
            error: *mut FFI_AdbcError,
        ) -> AdbcStatusCode {
            let Some(inner) = generated().$method else { return missing(error) };
            // SAFETY: all arguments except the stream are passed on unchanged; the caller fulfils the standard's
            // requirements.
            unsafe { with_stream(out, ptr::null_mut(), error, |out| inner(connection, $($argument,)* out, error)) }
        }
    )+};
}

streaming! {
    get_info = ConnectionGetInfo(codes: *const u32, length: usize);
    get_objects = ConnectionGetObjects(
        depth: c_int, catalog: *const c_char, schema: *const c_char, table: *const c_char,
        table_types: *const *const c_char, column: *const c_char
    );
    get_statistics = ConnectionGetStatistics(
        catalog: *const c_char, schema: *const c_char, table: *const c_char, approximate: c_char
    );
    get_statistic_names = ConnectionGetStatisticNames();
    get_table_types = ConnectionGetTableTypes();
    read_partition = ConnectionReadPartition(partition: *const u8, length: usize);
}

unsafe extern "C" fn execute_query(
    statement: *mut FFI_AdbcStatement,
    out: *mut FFI_ArrowArrayStream,
    affected: *mut i64,
    error: *mut FFI_AdbcError,
) -> AdbcStatusCode {
    let Some(inner) = generated().StatementExecuteQuery else {
        return missing(error);
    };
    // SAFETY: as above. Without a stream, the generated function itself writes the affected rows; with one, it writes
    // -1.
    unsafe { with_stream(out, affected, error, |out| inner(statement, out, affected, error)) }
}

/// Binds one array, as a stream of one batch.
unsafe extern "C" fn bind(
    statement: *mut FFI_AdbcStatement,
    values: *mut FFI_ArrowArray,
    schema: *mut FFI_ArrowSchema,
    error: *mut FFI_AdbcError,
) -> AdbcStatusCode {
    // SAFETY: both are null or valid according to the standard.
    let (Some(values), Some(schema)) = (unsafe { values.as_mut() }, unsafe { schema.as_ref() }) else {
        return fail(error, invalid_argument("the array or schema to bind is null"));
    };
    // SAFETY: the array is valid.
    match unsafe { import::array(values, schema) } {
        Ok(batch) => {
            let schema = batch.schema();
            // SAFETY: the statement and the error are passed on unchanged.
            unsafe { bind_rows(statement, Box::new(RecordBatchIterator::new([Ok(batch)], schema)), error) }
        }
        Err(wrong) => fail(error, wrong),
    }
}

unsafe extern "C" fn bind_stream(
    statement: *mut FFI_AdbcStatement,
    stream: *mut FFI_ArrowArrayStream,
    error: *mut FFI_AdbcError,
) -> AdbcStatusCode {
    // SAFETY: it is null or valid according to the standard.
    let Some(stream) = (unsafe { stream.as_mut() }) else {
        return fail(error, invalid_argument("the stream to bind is null"));
    };
    // SAFETY: the stream is valid.
    match unsafe { import::stream(stream) } {
        // SAFETY: the statement and the error are passed on unchanged.
        Ok(reader) => unsafe { bind_rows(statement, Box::new(reader), error) },
        Err(wrong) => fail(error, wrong),
    }
}

/// Passes the rows to the statement, and an empty stream through the generated function.
///
/// # Safety
/// `statement` and `error` are as in every C function.
unsafe fn bind_rows(
    statement: *mut FFI_AdbcStatement,
    rows: Box<dyn RecordBatchReader + Send>,
    error: *mut FFI_AdbcError,
) -> AdbcStatusCode {
    let Some(inner) = generated().StatementBindStream else {
        return missing(error);
    };
    let nothing = RecordBatchIterator::new([], Arc::new(Schema::empty()));
    let mut nothing = FFI_ArrowArrayStream::new(Box::new(nothing));
    // SAFETY: the stream is valid; the generated function moves it out.
    lend(rows, || unsafe { inner(statement, &raw mut nothing, error) })
}
