//! Where driver managers of this system look.

use super::Folder;
use crate::failure::{Failure, Result};
use std::env;
use std::path::PathBuf;

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(super) use unix::{LIBRARY_HELP, Spot};

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(super) use windows::{LIBRARY_HELP, Spot};

/// The manifest's file name.
const FILE: &str = "firebird.toml";

/// A folder that a variable of the environment names.
fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The folder of manifests in the active Python environment.
fn of_environment() -> Result<PathBuf> {
    let environment = variable("VIRTUAL_ENV");
    let environment = environment
        .ok_or_else(|| Failure::usage("no Python environment is active: VIRTUAL_ENV is not set"))?;
    Ok(environment.join("etc").join("adbc").join("drivers"))
}
