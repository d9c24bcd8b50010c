//! Registers the driver, and removes it.

use super::{InstallArgs, UninstallArgs, failure, name_of, note, tell};
use crate::failure::{Failure, Result};
use crate::installed;
use firearrow_odbc::setup;

pub(super) fn install(args: &InstallArgs, json: bool) -> Result<()> {
    let scope = args.place.scope();
    let path = match &args.library {
        Some(path) => path.clone(),
        None => installed::library(installed::ODBC)
            .map_err(|missing| Failure::other(format!("{missing}; --library names another one")))?,
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
