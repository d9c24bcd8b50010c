//! Runs a command whose test programs cannot start servers themselves: those under Wine, and those of another processor.
//!
//! ```text
//! cargo run -p firearrow-testkit --example host -- cargo test --target x86_64-pc-windows-gnu -p firearrow
//! ```
//!
//! The command finds `FIREARROW_TEST_HOST`, where this process listens and starts their servers. Exits with the
//! command's exit code.

use firearrow_testkit::Host;
use std::error::Error;
use std::process::{Command, ExitCode};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let program = arguments.next().ok_or("usage: host COMMAND [ARGUMENT]...")?;
    let host = Host::start()?;
    let status =
        Command::new(program).args(arguments).env(Host::VARIABLE, host.address().to_string()).status()?;
    // A command that a signal has ended has no code.
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)))
}
