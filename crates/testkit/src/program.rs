//! The running test program.

use std::env;
use std::io;
use std::process::Command;

/// Returns a command that starts the running test program again, for parts of a test that need a process of their own.
///
/// An emulator cannot start programs for its processor; then the command begins with what `FIREARROW_TEST_RUNNER` says.
///
/// # Errors
/// The system does not say where the program is.
pub fn this_program() -> io::Result<Command> {
    let program = env::current_exe()?;
    let runner = env::var(RUNNER).unwrap_or_default();
    let mut words = runner.split_whitespace();
    let Some(first) = words.next() else { return Ok(Command::new(program)) };
    let mut command = Command::new(first);
    command.args(words).arg(program);
    Ok(command)
}

/// Whether an emulator runs this program. Limits and uses of memory are the emulator's then.
pub fn is_emulated() -> bool {
    env::var_os(RUNNER).is_some()
}

/// The environment variable with the command of an emulator.
const RUNNER: &str = "FIREARROW_TEST_RUNNER";
