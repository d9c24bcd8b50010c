//! Folders of the user, as the XDG Base Directory Specification has them.

use nix::unistd::{Uid, User};
use std::env;
use std::path::PathBuf;

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The user's home folder.
pub(crate) fn home() -> Option<PathBuf> {
    variable("HOME")
}

/// The user's home folder by the system's list of users, whatever the environment says.
pub(crate) fn recorded_home() -> Option<PathBuf> {
    Some(User::from_uid(Uid::current()).ok()??.dir)
}

/// Where programs keep what they remember.
pub(crate) fn state() -> Option<PathBuf> {
    variable("XDG_STATE_HOME").or_else(|| Some(home()?.join(".local/state")))
}

/// Where ADBC's driver managers look for profiles of this user.
pub(crate) fn adbc_profiles() -> Option<PathBuf> {
    let folder = variable("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")));
    folder.map(|folder| folder.join("adbc/profiles"))
}
