#![no_main]

#[path = "../../crates/proto/tests/it/bodies/auth_data.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::run(data));
