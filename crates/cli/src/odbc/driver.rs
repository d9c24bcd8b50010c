//! Registers the driver, and removes it.

use super::{InstallArgs, UninstallArgs, failure, name_of, note, tell};
use crate::failure::{Failure, Result};
use firearrowodbc::setup;
use std::env;
use std::path::{Path, PathBuf};

pub(super) fn install(args: &InstallArgs, json: bool) -> Result<()> {
    let scope = args.place.scope();
    let path = match &args.driver {
        Some(path) => path.clone(),
        None => find()?,
    };
    // unixODBC does not resolve relative paths.
    let path = path.canonicalize().map_err(|error| Failure::file(&path, &error))?;
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

/// Finds the library in this program's folder or in `../lib`; in a checkout, also in that of the other profile.
fn find() -> Result<PathBuf> {
    let name = format!("{}firearrowodbc{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let program = env::current_exe()?;
    let folder = program.parent().unwrap_or(Path::new("."));
    let mut folders = vec![folder.to_owned(), folder.join("../lib")];
    if let Some(target) = folder.parent().filter(|parent| parent.ends_with("target")) {
        folders.extend([target.join("release"), target.join("debug")]);
    }
    let found = folders.iter().map(|folder| folder.join(&name)).find(|path| path.is_file());
    found.ok_or_else(|| {
        Failure::other(format!("there is no {name} in {} or ../lib: name it with --driver", folder.display()))
    })
}
