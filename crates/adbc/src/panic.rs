//! Panics end here: one that reached the generated functions would make every later call of the process fail.

use crate::error::{Result, of};

/// Runs `work`; a panic becomes an error, and `broken` is told of it.
pub(crate) fn contain<T>(broken: impl FnOnce(), work: impl FnOnce() -> Result<T>) -> Result<T> {
    firearrow_driver::panic::contain(broken, work).map_err(of).flatten()
}
