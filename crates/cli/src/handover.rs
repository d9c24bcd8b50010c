//! Hands `bench` and `oltp` over to `firearrow-bench`, the program beside this one.

use crate::failure::{Failure, Result};
use crate::installed;
use crate::platform::process;
use std::env;
use std::env::consts::EXE_SUFFIX;
use std::process::Command;

/// Starts it with the arguments of this process, whose place it takes. Returns only if that fails.
pub(crate) fn run() -> Result<()> {
    let name = format!("firearrow-bench{EXE_SUFFIX}");
    // Nowhere else: a program of this name on the path may be another version.
    let Some(program) = installed::find(&name) else {
        return Err(Failure::other(format!(
            "`bench` and `oltp` need the program {name} in the folder of this one: the archives have it, and \
             `make build` makes it"
        )));
    };
    let mut command = Command::new(&program);
    command.args(env::args_os().skip(1));
    Err(Failure::file(&program, &process::become_program(command)))
}
