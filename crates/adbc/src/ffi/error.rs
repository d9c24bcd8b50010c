//! Errors across the C interface.

use crate::error::{internal, of};
use adbc_core::constants::ADBC_ERROR_VENDOR_CODE_PRIVATE_DATA;
use adbc_core::error::{AdbcStatusCode, Error, Status};
use adbc_ffi::{FFI_AdbcError, export_error};
use std::ffi::CString;

/// Reports an error, if `out` is not null.
pub(super) fn fail(out: *mut FFI_AdbcError, error: Error) -> AdbcStatusCode {
    let status = error.status.into();
    // SAFETY: `out` is what the caller of a C function gave for errors: null, or initialised for its version.
    unsafe { export_error(out, error) };
    status
}

/// Reports that the generated table lacks a function.
pub(super) fn missing(error: *mut FFI_AdbcError) -> AdbcStatusCode {
    fail(error, internal("a function is missing"))
}

/// Converts an error to its C form in ADBC 1.1, with its details.
pub(super) fn foreign(error: Error) -> FFI_AdbcError {
    let mut foreign = FFI_AdbcError::try_from(error).unwrap_or_else(Into::into);
    foreign.vendor_code = ADBC_ERROR_VENDOR_CODE_PRIVATE_DATA;
    foreign
}

/// Returns the error number with which a stream reports this status.
pub(super) fn errno(status: Status) -> i32 {
    match status {
        Status::Ok => 0,
        Status::Cancelled => libc::ECANCELED,
        Status::Timeout => libc::ETIMEDOUT,
        Status::IO => libc::EIO,
        Status::NotImplemented => libc::ENOSYS,
        _ => libc::EINVAL,
    }
}

/// Returns the message as a C string. NULs were replaced before, but nothing may depend on that.
pub(super) fn message(error: &Error) -> CString {
    CString::new(error.message.replace('\0', " ")).unwrap_or_default()
}

/// Returns the error for a panic in a C function.
pub(super) fn of_panic(panic: &(dyn std::any::Any + Send)) -> Error {
    of(firearrow_driver::panic::of_panic(panic))
}
