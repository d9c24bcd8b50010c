//! Calls of a blocking socket that end after a glance at which no byte has moved, with `ErrorKind::Interrupted`.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(super) use unix::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(super) use windows::*;
