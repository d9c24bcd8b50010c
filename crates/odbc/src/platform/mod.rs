//! What differs between systems, in modules with the same names. The files or the registry of driver managers are in
//! [`crate::setup`].

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;
