//! Hands `bench` and `oltp` over to `firearrow-bench`, the program beside this one.

use crate::failure::{Failure, Result};
use crate::platform::{files, process};
use std::env::consts::EXE_SUFFIX;
use std::path::PathBuf;
use std::process::Command;
use std::{env, io};

/// Tells `firearrow-bench` the version of the program that starts it.
const VARIABLE: &str = "FIREARROW_BENCH_STARTED_BY";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Starts it with the arguments of this process, whose place it takes. Returns only if that fails.
pub(crate) fn run() -> Result<()> {
    let program = beside()?;
    let mut command = Command::new(&program);
    command.args(env::args_os().skip(1)).env(VARIABLE, VERSION);
    Err(Failure::file(&program, &process::become_program(command)))
}

/// Fails if `firearrow` is another version, in which the arguments may mean something else.
pub(crate) fn check_version() -> Result<()> {
    match env::var(VARIABLE) {
        Ok(other) if other != VERSION => Err(Failure::other(format!(
            "firearrow is version {other}, and firearrow-bench beside it {VERSION}: install both from one archive"
        ))),
        _ => Ok(()),
    }
}

/// The program in the folder of this one. Nowhere else: one of this name on the path may be anybody's.
fn beside() -> Result<PathBuf> {
    let name = format!("firearrow-bench{EXE_SUFFIX}");
    let this = env::current_exe().map_err(|error| {
        Failure::other(format!("the folder of this program, in which {name} lies, is not known: {error}"))
    })?;
    let program = this.with_file_name(&name);
    match files::is_only_ours(&program) {
        Ok(true) => Ok(program),
        Ok(false) => Err(Failure::other(format!(
            "{} is not started: it must be a file of yours, of the system or of whoever has installed firearrow, which \
             not everybody can change",
            program.display()
        ))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Failure::other(format!(
            "`bench` and `oltp` need {}, which is missing: the archives have it, and `make build` makes it",
            program.display()
        ))),
        Err(error) => Err(Failure::file(&program, &error)),
    }
}
