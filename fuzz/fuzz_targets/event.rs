#![no_main]

#[path = "../../crates/proto/tests/it/bodies/event.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::run(data));
