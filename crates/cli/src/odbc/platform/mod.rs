//! What differs between systems: texts, and advice about driver managers.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(in crate::odbc) use unix::*;
#[cfg(windows)]
pub(in crate::odbc) use windows::*;
