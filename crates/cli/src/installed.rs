//! What is installed with this command: the libraries of the drivers, and programs that benchmarks compare with.

use crate::platform::folders::LIBRARIES;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};

/// The ADBC driver, without prefix and suffix of the system's libraries.
pub(crate) const ADBC: &str = "adbc_driver_firebird";
/// The ODBC driver.
pub(crate) const ODBC: &str = "firearrowodbc";

/// The file of a library.
pub(crate) fn file_of(library: &str) -> String {
    format!("{DLL_PREFIX}{library}{DLL_SUFFIX}")
}

/// Where the libraries come from.
const WHERE: &str = match cfg!(target_env = "musl") {
    true => "this command is the static one, without drivers: they are in the archive for linux-gnu",
    false => "the archives for Linux and Windows contain it, and `make build` makes it",
};

/// Finds a library in this program's folder or, on Unix, in the folder `lib` next to that.
///
/// # Errors
/// What is missing, and where it comes from; callers add how to name another one.
pub(crate) fn library(library: &str) -> Result<PathBuf, String> {
    let name = file_of(library);
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = program.parent().unwrap_or(Path::new("."));
    let mut places = LIBRARIES.iter().map(|place| folder.join(place).join(&name));
    places.find(|place| place.is_file()).ok_or_else(|| {
        let others = LIBRARIES[1..].iter().map(|place| format!(" or {place}")).collect::<String>();
        format!("there is no {name} in {}{others}; {WHERE}", folder.display())
    })
}

/// Looks for something else in this program's folder.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.with_file_name(name);
    path.exists().then_some(path)
}
