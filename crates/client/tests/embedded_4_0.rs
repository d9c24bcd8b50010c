//! The embedded engine of Firebird 4.0. One process can hold one engine, so it has a test binary of its own.
#![expect(missing_docs, reason = "tests")]
#![allow(dead_code, reason = "the support modules serve more tests than these")]

#[path = "it/support.rs"]
mod support;
#[path = "it/types.rs"]
mod types;

use firearrow_testkit::{Target, matrix};

matrix!([embedded_4_0],
    fn types_survive_the_round_trip_in_4_0(target: &Target) {
        types::every_scalar_type_survives_the_round_trip(target);
    }

    fn info_names_4_0(target: &Target) {
        let info = support::fresh(target).info().expect("info is answered");
        assert!(info.engine_version.starts_with("4.0"), "{info:?}");
    }
);
