//! Panics end here: one that reached the generated functions would make every later call of the process fail.

use crate::error::{Result, internal};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work`; a panic becomes an error, and `broken` is told of it.
pub(crate) fn contain<T>(broken: impl FnOnce(), work: impl FnOnce() -> Result<T>) -> Result<T> {
    // Whatever the panic left half done is not used again: that is what `broken` is for.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        broken();
        Err(internal(format!("the driver panicked: {}", text(&*panic))))
    })
}

/// What a panic says.
pub(crate) fn text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a word")
}
