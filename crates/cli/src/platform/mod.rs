//! What differs between systems, under the same names.
//!
//! | module | what it does |
//! |---|---|
//! | `files` | permissions, devices, links, and what must reach the disk |
//! | `folders` | where programs keep their settings and state |
//! | `process` | signals, child processes, the system's shell |
//! | `terminal` | the attributes of the terminal |

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(crate) use windows::*;
