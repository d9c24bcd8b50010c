//! Panics end here: they must not reach a foreign caller, and whatever they left half done must not be used again.

use crate::error::{Error, Result};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work`; calls `broken` and returns an error if it panics.
///
/// # Errors
/// [`Class::Internal`](crate::Class::Internal) with what the panic says.
pub fn contain<T>(broken: impl FnOnce(), work: impl FnOnce() -> T) -> Result<T> {
    // Whatever the panic left half done is not used again: `broken` sees to that.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        broken();
        of_panic(&*panic)
    })
}

/// Creates the error for a panic.
pub fn of_panic(panic: &(dyn Any + Send)) -> Error {
    Error::internal(format!("the driver panicked: {}", text(panic)))
}

/// Returns the text of a panic.
pub fn text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a word")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let mut broken = false;
        let error = contain(|| broken = true, || panic!("a {}", "mistake")).expect_err("it panicked");
        assert!(broken && error.message() == "the driver panicked: a mistake");
        assert_eq!(contain(|| unreachable!(), || 1).expect("no panic"), 1);
    }
}
