//! Checks whether other users could replace a file: their code would run as this user.
//!
//! A path is first resolved, then checked component by component up to its drive; only the resolved path is loaded. Each
//! component must belong to this user, to administrators or to the system, and nobody else may change it. On the way,
//! others may add folders, as they may in `C:\`, but not remove or replace what is there.

use super::{names, sid};
use crate::error::Error;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// How to make it nobody else's.
pub(crate) const REMEDY: &str =
    "you or administrators alone, and let nobody else write there (properties, security)";
/// Users and groups that can do everything anyway: the system, administrators, the installer of Windows; and the
/// placeholders for an object's owner.
const TRUSTED: [&str; 5] = [
    "S-1-5-18",
    "S-1-5-32-544",
    "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464",
    "S-1-3-0",
    "S-1-3-4",
];
/// Rights to replace an object or what it contains: `FILE_DELETE_CHILD`, `DELETE`, `WRITE_DAC`, `WRITE_OWNER`,
/// `GENERIC_ALL`.
const REPLACES: u32 = 0x40 | 0x1_0000 | 0x4_0000 | 0x8_0000 | 0x1000_0000;
/// Also those to write to a file or add to a folder: `FILE_WRITE_DATA`, `FILE_APPEND_DATA`, `GENERIC_WRITE`.
const CHANGES: u32 = REPLACES | 0x2 | 0x4 | 0x4000_0000;
/// Depth of folders below the plugin folder; there is one, `udr`.
const DEEPEST: u32 = 4;

/// Checks paths, and remembers the folders already checked.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    safe: HashSet<PathBuf>,
}

impl Trust {
    /// Resolves a file or folder, and checks that no other user can replace it or write to it.
    pub(crate) fn resolve(&mut self, path: &Path) -> Result<PathBuf, Error> {
        let real = dunce::canonicalize(path).map_err(|error| unreadable(path, &error))?;
        // From the top: report the place to fix first.
        let mut folders: Vec<&Path> = real.ancestors().skip(1).collect();
        folders.reverse();
        for folder in folders {
            if !self.safe.contains(folder) {
                check(path, folder, REPLACES)?;
                self.safe.insert(folder.to_path_buf());
            }
        }
        check(path, &real, CHANGES)?;
        Ok(real)
    }

    /// Lists the shared libraries of a folder to which no other user can add, with their names.
    pub(crate) fn libraries(&mut self, folder: &Path) -> Result<Vec<(OsString, PathBuf)>, Error> {
        let mut found = self.entries(folder, names::is_library)?;
        found.retain(|(_, path)| path.is_file());
        Ok(found)
    }

    fn entries(
        &mut self,
        folder: &Path,
        wanted: impl Fn(&OsStr) -> bool,
    ) -> Result<Vec<(OsString, PathBuf)>, Error> {
        let folder = self.resolve(folder)?;
        let entries = fs::read_dir(&folder).map_err(|error| unreadable(&folder, &error))?;
        let entries = entries.flatten().filter(|entry| wanted(&entry.file_name()));
        entries.map(|entry| Ok((entry.file_name(), self.resolve(&entry.path())?))).collect()
    }

    /// Checks a folder and everything in it.
    pub(crate) fn check_all(&mut self, folder: &Path) -> Result<(), Error> {
        self.check_below(folder, DEEPEST)
    }

    fn check_below(&mut self, folder: &Path, depth: u32) -> Result<(), Error> {
        for (_, entry) in self.entries(folder, |_| true)? {
            if entry.is_dir() && depth > 0 {
                self.check_below(&entry, depth - 1)?;
            }
        }
        Ok(())
    }
}

fn check(path: &Path, real: &Path, rights: u32) -> Result<(), Error> {
    let access = sid::access(real).map_err(|error| unreadable(real, &error))?;
    let own = sid::own().map_err(|error| unreadable(real, &error))?;
    match defect(&access, &own, rights) {
        None => Ok(()),
        Some(reason) => Err(Error::Unsafe { path: path.to_path_buf(), culprit: real.to_path_buf(), reason }),
    }
}

/// Why others than `own` and the trusted could use one of `rights`; `None` if they cannot.
fn defect(access: &sid::Access, own: &str, rights: u32) -> Option<String> {
    let is_trusted = |user: &str| user == own || TRUSTED.contains(&user);
    if !is_trusted(&access.owner) {
        return Some(format!("belongs to {}", access.owner));
    }
    let Some(allowed) = &access.allowed else {
        return Some("is writable by every user".into());
    };
    let other = allowed.iter().find(|(user, mask)| mask & rights != 0 && !is_trusted(user));
    other.map(|(user, _)| format!("is writable by {}", name(user)))
}

/// A name for the groups that are usual.
fn name(user: &str) -> &str {
    match user {
        "S-1-1-0" => "every user",
        "S-1-5-11" => "every user who has logged in",
        "S-1-5-32-545" => "the group Users",
        _ => user,
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound => Error::LibraryNotFound { tried: vec![path.to_path_buf()] },
        _ => Error::Folder { path: path.to_path_buf(), reason: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sid::Access;

    const OWN: &str = "S-1-5-21-1-2-3-1001";

    fn allowed(user: &str, mask: u32) -> Access {
        Access { owner: OWN.into(), allowed: Some(vec![("S-1-5-18".into(), u32::MAX), (user.into(), mask)]) }
    }

    #[test]
    fn who_may_write_is_named() {
        assert_eq!(defect(&allowed(OWN, u32::MAX), OWN, CHANGES), None);
        // Users may read and execute.
        assert_eq!(defect(&allowed("S-1-5-32-545", 0x0012_00a9), OWN, CHANGES), None);
        assert_eq!(
            defect(&allowed("S-1-5-32-545", 0x2), OWN, CHANGES).unwrap(),
            "is writable by the group Users"
        );
        // In `C:\` they may add folders.
        assert_eq!(defect(&allowed("S-1-5-11", 0x4), OWN, REPLACES), None);
        assert!(defect(&allowed("S-1-5-11", 0x1_0000), OWN, REPLACES).is_some());
    }

    #[test]
    fn owners_and_missing_lists_count() {
        let of = |owner: &str, allowed| Access { owner: owner.into(), allowed };
        assert!(defect(&of("S-1-5-21-9-9-9-1002", Some(Vec::new())), OWN, CHANGES).is_some());
        assert_eq!(defect(&of("S-1-5-32-544", Some(Vec::new())), OWN, CHANGES), None);
        assert_eq!(defect(&of(OWN, None), OWN, CHANGES).unwrap(), "is writable by every user");
    }
}
