//! Linux and other systems of the Unix family.

use crate::text::CodePage;

/// Keeps the library loaded when somebody unloads it. The linker has been told so (`build.rs`).
pub(crate) fn stay_loaded() {}

/// The code page of narrow text in this process, which is UTF-8.
pub(crate) fn code_page() -> Option<CodePage> {
    None
}

/// Whether the character set of a connection string is that of narrow data.
pub(crate) const NARROW_FOLLOWS_CHARSET: bool = false;

/// Year, month and day of a time in seconds since 1970, in the local time zone.
#[cfg(target_pointer_width = "64")]
pub(crate) fn local_date(seconds: i64) -> Option<[i32; 3]> {
    use std::ffi::c_int;

    /// `struct tm`: nine numbers come first everywhere; what follows differs, and has room here.
    #[repr(C)]
    #[derive(Default)]
    struct Broken {
        sec: c_int,
        min: c_int,
        hour: c_int,
        mday: c_int,
        mon: c_int,
        year: c_int,
        others: [c_int; 3],
        system: [usize; 8],
    }

    unsafe extern "C" {
        fn localtime_r(time: *const i64, result: *mut Broken) -> *mut Broken;
    }

    let mut broken = Broken::default();
    // SAFETY: both are valid, and the result has room for the system's structure.
    if unsafe { localtime_r(&seconds, &mut broken) }.is_null() {
        return None;
    }
    Some([broken.year.checked_add(1900)?, broken.mon + 1, broken.mday])
}

/// Times have another size here.
#[cfg(not(target_pointer_width = "64"))]
pub(crate) fn local_date(_: i64) -> Option<[i32; 3]> {
    None
}
