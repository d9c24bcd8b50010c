//! Catches panics: one that reached the generated functions would make every later call of the process fail.

use crate::error::{Result, of};

/// Runs `work`; turns a panic into an error after calling `broken`.
pub(crate) fn contain<T>(broken: impl FnOnce(), work: impl FnOnce() -> Result<T>) -> Result<T> {
    firearrow_driver::panic::contain(broken, work).map_err(of).flatten()
}
