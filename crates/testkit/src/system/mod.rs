//! What depends on the operating system: ends of processes, limits, and what the kernel tells.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "elsewhere.rs")]
mod current;

pub(crate) use current::*;
