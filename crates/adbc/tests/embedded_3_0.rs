//! The driver with the embedded engine of Firebird 3.0. One process can hold one engine, so it has a test binary of its own.
#![allow(dead_code, reason = "the support module serves more tests than this")]

#[path = "it/engine_cases.rs"]
mod engine_cases;
#[path = "it/support.rs"]
mod support;

use firearrow_testkit::{Target, matrix};

matrix!(
    [embedded_3_0],
    fn the_driver_works_with_3_0(target: &Target) {
        engine_cases::the_driver_works(target);
    }
);
