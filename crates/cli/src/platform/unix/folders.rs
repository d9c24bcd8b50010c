//! Folders of the user, as the XDG Base Directory Specification has them.

use std::env;
use std::path::PathBuf;

/// Where the drivers' libraries are, from the folder of the command.
pub(crate) const LIBRARIES: &[&str] = &["", "../lib"];

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The user's home folder.
pub(crate) fn home() -> Option<PathBuf> {
    variable("HOME")
}

/// Where programs keep what they remember.
pub(crate) fn state() -> Option<PathBuf> {
    variable("XDG_STATE_HOME").or_else(|| Some(home()?.join(".local/state")))
}

/// [`adbc_profiles`], for people.
pub(crate) const ADBC_PROFILES: &str = "~/.config/adbc/profiles";

/// Where ADBC's driver managers look for profiles of this user.
pub(crate) fn adbc_profiles() -> Option<PathBuf> {
    let folder = variable("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")));
    folder.map(|folder| folder.join("adbc/profiles"))
}
