#![no_main]
// The tests that play recordings use more of them.
#![allow(dead_code)]

#[path = "../../crates/proto/tests/it/bodies/session.rs"]
mod body;
#[path = "../../crates/proto/tests/it/player.rs"]
mod player;
#[path = "../../crates/proto/tests/it/requests.rs"]
mod requests;
#[path = "../../crates/proto/tests/it/script.rs"]
mod script;
#[path = "../../crates/proto/tests/it/sessions.rs"]
mod sessions;
#[path = "../../crates/proto/tests/it/transcript.rs"]
mod transcript;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::run(data));
