//! Plays sessions with a server that a proxy makes hostile, and counts how they end.
//!
//! ```text
//! cargo run --release -p firearrow --example hostile -- --server 4.0 --sessions 10000 --seed 1
//! cargo run --release -p firearrow --example hostile -- --server 4.0 --seed 77 --sessions 1 --verbose
//! ```
//!
//! The seed of a session decides what it does, and what the proxy does to it. Sessions are played by worker processes
//! with a limit of memory: a panic, a death or a session without end is counted, and makes the run fail.

mod campaign;
mod database;
mod session;
mod step;

use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    campaign::main(database::create, session::play)
}
