//! The tests that run on embedded engines older than 5.0.
//!
//! A process can hold one engine only, so each release has a test binary of its own, which stamps [`suite!`] for its
//! platform. The tests are those of `it`, called from here.

#[path = "../it/engine_cases.rs"]
pub(crate) mod engine_cases;
#[path = "../it/support.rs"]
pub(crate) mod support;

/// Stamps all tests for one platform.
macro_rules! suite {
    ($platform:ident) => {
        firearrow_testkit::matrix!(
            [$platform],
            fn the_driver_works(target: &firearrow_testkit::Target) {
                engine_cases::the_driver_works(target);
            }
        );
    };
}
pub(crate) use suite;
