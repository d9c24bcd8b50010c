//! The installer of ODBC, which calls `ConfigDSN`: its library `odbccp32.dll`, which this one does not need otherwise.

use crate::abi::Handle;
use std::ffi::CStr;
use std::mem::transmute;
use std::ptr::null_mut;
use windows_sys::Win32::System::LibraryLoader::{
    GetProcAddress, LOAD_LIBRARY_SEARCH_SYSTEM32, LoadLibraryExW,
};
use windows_sys::Win32::UI::WindowsAndMessaging::{MB_ICONINFORMATION, MB_OK, MessageBoxW};
use windows_sys::w;

/// `ODBC_SYSTEM_DSN`
const SYSTEM: u16 = 2;

type Function = unsafe extern "system" fn() -> isize;

/// A function of the installer's library, which stays loaded.
fn function(name: &CStr) -> Option<Function> {
    // SAFETY: both names end with a zero.
    unsafe {
        let library = LoadLibraryExW(w!("odbccp32.dll"), null_mut(), LOAD_LIBRARY_SEARCH_SYSTEM32);
        if library.is_null() { None } else { GetProcAddress(library, name.as_ptr().cast()) }
    }
}

/// Whether the installer asks about data sources for all users.
pub(crate) fn is_of_system() -> bool {
    type GetConfigMode = unsafe extern "system" fn(*mut u16) -> i32;
    let mut mode = 0;
    if let Some(function) = function(c"SQLGetConfigMode") {
        // SAFETY: it has this type, and the mode may be written.
        unsafe { transmute::<Function, GetConfigMode>(function)(&raw mut mode) };
    }
    mode == SYSTEM
}

/// Leaves an error for the program that has called the installer.
pub(crate) fn post_error(code: u32, text: &str) {
    type PostInstallerError = unsafe extern "system" fn(u32, *const u16) -> i16;
    let text = terminated(text);
    if let Some(function) = function(c"SQLPostInstallerErrorW") {
        // SAFETY: it has this type, and the text ends with a zero.
        unsafe { transmute::<Function, PostInstallerError>(function)(code, text.as_ptr()) };
    }
}

/// Shows a text above a window.
pub(crate) fn show(window: Handle, text: &str) {
    let text = terminated(text);
    // SAFETY: both texts end with a zero; a window that does not exist is an error that changes nothing.
    unsafe { MessageBoxW(window.cast(), text.as_ptr(), w!("Firearrow"), MB_OK | MB_ICONINFORMATION) };
}

fn terminated(text: &str) -> Vec<u16> {
    text.encode_utf16().filter(|unit| *unit != 0).chain([0]).collect()
}
