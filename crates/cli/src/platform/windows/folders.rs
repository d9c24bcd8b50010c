//! Folders of the user. A service may have none.

use std::env;
use std::path::PathBuf;

/// Where the drivers' libraries are, from the folder of the command: where Windows looks for libraries, too. Others might
/// create folders beside it.
pub(crate) const LIBRARIES: &[&str] = &[""];

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The user's home folder.
pub(crate) fn home() -> Option<PathBuf> {
    variable("USERPROFILE")
}

/// Where programs keep what they remember.
pub(crate) fn state() -> Option<PathBuf> {
    variable("LOCALAPPDATA")
}

/// [`adbc_profiles`], for people.
pub(crate) const ADBC_PROFILES: &str = r"%LOCALAPPDATA%\ADBC\Profiles";

/// Where ADBC's driver managers look for profiles of this user.
pub(crate) fn adbc_profiles() -> Option<PathBuf> {
    variable("LOCALAPPDATA").map(|folder| folder.join(r"ADBC\Profiles"))
}
