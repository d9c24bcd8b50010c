//! The entry points for driver managers.

use super::overlay;
use crate::error::{invalid_argument, not_implemented};
use adbc_core::constants::{ADBC_STATUS_OK, ADBC_VERSION_1_0_0, ADBC_VERSION_1_1_0};
use adbc_core::error::AdbcStatusCode;
use adbc_ffi::{FFI_AdbcDriver, FFI_AdbcError};
use std::ffi::{c_int, c_void};
use std::mem::{ManuallyDrop, offset_of, size_of};
use std::ptr;

/// Fills the table of functions. Driver managers derive the function's name from that of the library.
///
/// # Safety
/// `driver` is null or points to room for the table of this ADBC version; `error` is null or points to an error that
/// was initialised for its version.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the standard's name")]
pub unsafe extern "C" fn AdbcDriverFirebirdInit(
    version: c_int,
    driver: *mut c_void,
    error: *mut FFI_AdbcError,
) -> AdbcStatusCode {
    let size = match version {
        ADBC_VERSION_1_1_0 => size_of::<FFI_AdbcDriver>(),
        // The 1.0.0 table is the first part of the 1.1.0 table.
        ADBC_VERSION_1_0_0 => offset_of!(FFI_AdbcDriver, ErrorGetDetailCount),
        _ => {
            return super::error::fail(
                error,
                not_implemented(format!("this driver does not support ADBC version {version}")),
            );
        }
    };
    if driver.is_null() {
        return super::error::fail(error, invalid_argument("driver is null"));
    }
    let table = ManuallyDrop::new(overlay::table());
    // SAFETY: the caller has room for `size` bytes; the table is no shorter and is not dropped here.
    unsafe { ptr::copy_nonoverlapping(ptr::from_ref(&*table).cast::<u8>(), driver.cast::<u8>(), size) };
    ADBC_STATUS_OK
}

/// The fallback name for driver managers.
///
/// # Safety
/// The same as for [`AdbcDriverFirebirdInit`].
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the standard's name")]
pub unsafe extern "C" fn AdbcDriverInit(
    version: c_int,
    driver: *mut c_void,
    error: *mut FFI_AdbcError,
) -> AdbcStatusCode {
    // SAFETY: the caller promises the same to both.
    unsafe { AdbcDriverFirebirdInit(version, driver, error) }
}
