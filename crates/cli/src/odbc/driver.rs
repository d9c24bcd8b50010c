//! Registers the driver, and removes it.

use super::{InstallArgs, UninstallArgs, failure, name_of, note, tell};
use crate::failure::{Failure, Result};
use crate::installed;
use firearrowodbc::setup;
use std::env;
use std::path::PathBuf;

pub(super) fn install(args: &InstallArgs, json: bool) -> Result<()> {
    let scope = args.place.scope();
    let path = match &args.driver {
        Some(path) => path.clone(),
        None => find()?,
    };
    // Driver managers do not resolve relative paths.
    let path = dunce::canonicalize(&path).map_err(|error| Failure::file(&path, &error))?;
    let written = setup::install(scope, &path).map_err(|error| failure(scope, &error))?;
    let what = format!("registered driver {} in", setup::DRIVER);
    tell(json, ("installed", &what), &written.file, Some(("library", &path.display().to_string())))?;
    note(&written.remarks);
    Ok(())
}

pub(super) fn uninstall(args: &UninstallArgs, json: bool) -> Result<()> {
    let scope = args.place.scope();
    match setup::uninstall(scope).map_err(|error| failure(scope, &error))? {
        Some(file) => {
            tell(json, ("removed", &format!("unregistered driver {} in", setup::DRIVER)), &file, None)
        }
        None => {
            let (name, scope) = (setup::DRIVER, name_of(scope));
            Err(Failure::other(format!("the driver {name} is not installed for the {scope}")))
        }
    }
}

/// Finds the library beside this program; in a checkout, also beside that of another profile.
fn find() -> Result<PathBuf> {
    let missing = match installed::library(installed::ODBC) {
        Ok(found) => return Ok(found),
        Err(missing) => missing,
    };
    let program = env::current_exe()?;
    let target = program.ancestors().nth(2).filter(|folder| folder.ends_with("target"));
    let profiles = target.into_iter().flat_map(|target| [target.join("release"), target.join("debug")]);
    let found =
        profiles.map(|folder| folder.join(installed::file_of(installed::ODBC))).find(|path| path.is_file());
    found.ok_or_else(|| Failure::other(format!("{missing}; --driver names another one")))
}
