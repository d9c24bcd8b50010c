//! Counters of a statement, read while it executes. The generated functions wait for the statement, so they could not
//! report the progress of an ingestion before its end.

use super::error::{fail, missing};
use super::overlay::generated;
use crate::counter;
use crate::handover::receive_statement;
use crate::option;
use adbc_core::constants::ADBC_STATUS_OK;
use adbc_core::error::AdbcStatusCode;
use adbc_ffi::{FFI_AdbcConnection, FFI_AdbcError, FFI_AdbcStatement};
use firearrow_driver::Latest;
use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// The live statements, by the address of their private data in the generated functions.
static WATCHED: LazyLock<RwLock<HashMap<usize, Arc<Latest>>>> = LazyLock::new(RwLock::default);

/// # Safety
/// `statement` is null or valid.
unsafe fn address(statement: *const FFI_AdbcStatement) -> Option<usize> {
    // SAFETY: the caller guarantees it.
    let data = unsafe { statement.as_ref() }?.private_data;
    (!data.is_null()).then(|| data.addr())
}

/// Returns the current value of a counter; `None` if the key is not a counter, or the value is not known yet.
///
/// # Safety
/// `statement` is null or valid, `key` is null or a C string.
unsafe fn counter(statement: *const FFI_AdbcStatement, key: *const c_char) -> Option<(String, String)> {
    if key.is_null() {
        return None;
    }
    // SAFETY: the caller guarantees it.
    let (address, key) = unsafe { (address(statement)?, CStr::from_ptr(key)) };
    let key = key.to_str().ok()?;
    let latest = {
        let watched = WATCHED.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(watched.get(&address)?)
    };
    Some((key.to_owned(), counter::counter(&latest.progress(), key)?))
}

pub(super) unsafe extern "C" fn statement_new(
    connection: *mut FFI_AdbcConnection,
    statement: *mut FFI_AdbcStatement,
    error: *mut FFI_AdbcError,
) -> AdbcStatusCode {
    let Some(inner) = generated().StatementNew else { return missing(error) };
    // SAFETY: all arguments are passed on unchanged; so in all functions below.
    let (status, latest) = receive_statement(|| unsafe { inner(connection, statement, error) });
    // SAFETY: it is null or has just been written.
    if let (ADBC_STATUS_OK, Some(address), Some(latest)) = (status, unsafe { address(statement) }, latest) {
        WATCHED.write().unwrap_or_else(PoisonError::into_inner).insert(address, latest);
    }
    status
}

pub(super) unsafe extern "C" fn statement_release(
    statement: *mut FFI_AdbcStatement,
    error: *mut FFI_AdbcError,
) -> AdbcStatusCode {
    let Some(inner) = generated().StatementRelease else { return missing(error) };
    // SAFETY: null or valid according to the standard.
    if let Some(address) = unsafe { address(statement) } {
        WATCHED.write().unwrap_or_else(PoisonError::into_inner).remove(&address);
    }
    // SAFETY: as above.
    unsafe { inner(statement, error) }
}

pub(super) unsafe extern "C" fn get_option(
    statement: *mut FFI_AdbcStatement,
    key: *const c_char,
    value: *mut c_char,
    length: *mut usize,
    error: *mut FFI_AdbcError,
) -> AdbcStatusCode {
    // SAFETY: null or valid according to the standard.
    match unsafe { counter(statement, key) } {
        Some((_, mut text)) if !value.is_null() && !length.is_null() => {
            text.push('\0');
            // SAFETY: `value` has room for `length` bytes.
            unsafe { write(text.as_bytes(), value.cast(), length) }
        }
        _ => match generated().StatementGetOption {
            // SAFETY: as above.
            Some(inner) => unsafe { inner(statement, key, value, length, error) },
            None => missing(error),
        },
    }
}

pub(super) unsafe extern "C" fn get_option_bytes(
    statement: *mut FFI_AdbcStatement,
    key: *const c_char,
    value: *mut u8,
    length: *mut usize,
    error: *mut FFI_AdbcError,
) -> AdbcStatusCode {
    // SAFETY: null or valid according to the standard.
    match unsafe { counter(statement, key) } {
        Some((_, text)) if !value.is_null() && !length.is_null() => {
            // SAFETY: `value` has room for `length` bytes.
            unsafe { write(text.as_bytes(), value, length) }
        }
        _ => match generated().StatementGetOptionBytes {
            // SAFETY: as above.
            Some(inner) => unsafe { inner(statement, key, value, length, error) },
            None => missing(error),
        },
    }
}

/// Defines functions that read a counter as a number.
macro_rules! number {
    ($name:ident = $method:ident($type:ty), $parse:path) => {
        pub(super) unsafe extern "C" fn $name(
            statement: *mut FFI_AdbcStatement,
            key: *const c_char,
            value: *mut $type,
            error: *mut FFI_AdbcError,
        ) -> AdbcStatusCode {
            // SAFETY: null or valid according to the standard.
            match unsafe { counter(statement, key) } {
                Some((key, text)) if !value.is_null() => match $parse(&key, &text) {
                    Ok(number) => {
                        // SAFETY: it is valid for writing.
                        unsafe { ptr::write_unaligned(value, number) };
                        ADBC_STATUS_OK
                    }
                    Err(wrong) => fail(error, wrong),
                },
                _ => match generated().$method {
                    // SAFETY: as above.
                    Some(inner) => unsafe { inner(statement, key, value, error) },
                    None => missing(error),
                },
            }
        }
    };
}

number!(get_option_int = StatementGetOptionInt(i64), option::int);
number!(get_option_double = StatementGetOptionDouble(f64), option::double);

/// Writes bytes if they fit, and their number in any case.
///
/// # Safety
/// `length` is valid; `out` has room for `*length` bytes.
unsafe fn write(bytes: &[u8], out: *mut u8, length: *mut usize) -> AdbcStatusCode {
    // SAFETY: the caller guarantees it.
    unsafe {
        if bytes.len() <= ptr::read_unaligned(length) {
            ptr::copy_nonoverlapping(bytes.as_ptr(), out, bytes.len());
        }
        ptr::write_unaligned(length, bytes.len());
    }
    ADBC_STATUS_OK
}
