//! Calls of a blocking socket. They end with `ErrorKind::Interrupted` after a glance in which no byte has moved.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(super) use unix::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(super) use windows::*;
