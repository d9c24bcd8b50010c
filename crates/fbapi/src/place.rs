//! Where to look for an engine: only where the user or the system put one, never in the current folder.

use crate::platform::names;
use firearrow_system as system;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Where the Python package keeps the engine, below a `site-packages` folder.
pub(crate) const IN_SITE_PACKAGES: &str = "firebird/embedded/runtime";

type Lookup<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// A variable of the environment that is not empty.
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// The place that `FIREARROW_ENGINE` names, before all others.
pub(crate) fn named() -> Option<PathBuf> {
    variable("FIREARROW_ENGINE").map(PathBuf::from)
}

/// All other places, in order.
pub(crate) fn all() -> Vec<PathBuf> {
    let mut places = chosen(&variable);
    places.extend(system::own_file().iter().flat_map(|file| beside(file)));
    places.extend(system(&variable));
    places
}

/// The active environments, and the folders of `FIREARROW_ENGINE_PATH`. A relative path would depend on the
/// current folder.
fn chosen(variable: Lookup<'_>) -> Vec<PathBuf> {
    let environments = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(variable).map(PathBuf::from);
    let mut places: Vec<PathBuf> = environments.flat_map(|folder| packages(&folder)).collect();
    if let Some(list) = variable("FIREARROW_ENGINE_PATH") {
        places.extend(env::split_paths(&list));
    }
    places.retain(|place| place.is_absolute());
    places
}

/// Places near the file that contains this code: its folder, the packages of the environment in which it is installed,
/// and the Python package next to its own.
fn beside(own: &Path) -> Vec<PathBuf> {
    let Some(folder) = own.parent() else { return Vec::new() };
    let mut places = vec![folder.to_path_buf()];
    let Some(parent) = folder.parent() else { return places };
    let is_named = |path: &Path, names: &[&str]| {
        path.file_name().is_some_and(|name| names.iter().any(|n| name == OsStr::new(n)))
    };
    if is_named(folder, &names::OF_ENVIRONMENT) {
        places.extend(packages(parent));
    }
    if is_named(parent, &["site-packages", "dist-packages"]) {
        places.push(parent.join(IN_SITE_PACKAGES));
    }
    places
}

/// Where the packages of an environment keep the engine, newest interpreter first.
fn packages(environment: &Path) -> Vec<PathBuf> {
    let folders = names::packages(environment).into_iter().map(|packages| packages.join(IN_SITE_PACKAGES));
    folders.filter(|path| path.is_dir()).collect()
}

/// Where systems and the project's own archive put the library, and where the system's Python puts its packages.
fn system(variable: Lookup<'_>) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = variable("FIREBIRD").map(PathBuf::from).into_iter().collect();
    places.retain(|place| place.is_absolute());
    places.extend(names::environments().iter().flat_map(|environment| packages(environment)));
    places.extend(names::installations(variable));
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Runtime;
    use std::fs;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file).join(names::LIBRARIES[0]);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        folder
    }

    #[test]
    #[cfg_attr(windows, ignore = "the folders are those of Linux")]
    fn the_package_is_found_in_active_environments_and_listed_folders() {
        let folder = tree(&[
            "venv/lib/python3.11/site-packages/firebird/embedded/runtime",
            "conda/lib/python3.12/site-packages/firebird/embedded/runtime",
            "listed/firebird/embedded/runtime",
        ]);
        let base = folder.path().to_path_buf();
        let variable = |name: &str| match name {
            "VIRTUAL_ENV" => Some(base.join("venv").into_os_string()),
            "CONDA_PREFIX" => Some(base.join("conda").into_os_string()),
            "FIREARROW_ENGINE_PATH" => {
                Some(env::join_paths([Path::new("relative"), &base.join("listed"), Path::new("")]).unwrap())
            }
            _ => None,
        };
        let places = chosen(&variable);
        assert_eq!(places.len(), 3, "{places:?}");
        for (place, start) in places.iter().zip(["venv", "conda", "listed"]) {
            assert!(place.starts_with(base.join(start)), "{places:?}");
            assert!(Runtime::at(place).is_some());
        }
    }

    #[test]
    #[cfg_attr(windows, ignore = "the folders are those of Linux")]
    fn an_engine_next_to_this_code_is_found() {
        let folder = tree(&["env/lib/python3.11/site-packages/firebird/embedded/runtime"]);
        let base = folder.path();
        let runtime = base.join("env/lib/python3.11/site-packages/firebird/embedded/runtime");
        for own in [
            "env/bin/firearrow",
            "env/lib/libadbc_driver_firebird.so",
            "env/lib/python3.11/site-packages/adbc_driver_firebird/libadbc_driver_firebird.so",
        ] {
            assert!(beside(&base.join(own)).contains(&runtime), "{own}");
        }
        // Anywhere else, only its own folder counts.
        assert_eq!(beside(&base.join("env/target/debug/firearrow")), [base.join("env/target/debug")]);
    }
}
