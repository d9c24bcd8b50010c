//! Checks whether other users could replace a file: their code would run as this user.
//!
//! A path is first resolved, then checked component by component from the top; only the resolved path is loaded or
//! linked. What one component must be like, the system's `access` says: nobody but this user and those who can do
//! everything anyway may change it.

use crate::error::Error;
use crate::platform::{access, names};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{fs, io};

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
        let real = self.resolve_parent(path)?;
        self.check(path, &real, false)?;
        Ok(real)
    }

    /// Resolves a folder, and checks that no other user can replace this user's entries in it.
    pub(crate) fn resolve_parent(&mut self, path: &Path) -> Result<PathBuf, Error> {
        let real = dunce::canonicalize(path).map_err(|error| unreadable(path, &error))?;
        // From the top: report the place to fix first.
        let mut folders: Vec<&Path> = real.ancestors().collect();
        folders.reverse();
        for folder in folders {
            if !self.safe.contains(folder) {
                self.check(path, folder, true)?;
                if folder != real {
                    self.safe.insert(folder.to_path_buf());
                }
            }
        }
        Ok(real)
    }

    fn check(&self, path: &Path, real: &Path, is_on_the_way: bool) -> Result<(), Error> {
        match access::defect(real, is_on_the_way).map_err(|error| unreadable(real, &error))? {
            None => Ok(()),
            Some(reason) => {
                Err(Error::Unsafe { path: path.to_path_buf(), culprit: real.to_path_buf(), reason })
            }
        }
    }

    /// Lists the resolved entries of a folder to which no other user can add, with their names.
    pub(crate) fn entries(&mut self, folder: &Path) -> Result<Vec<(OsString, PathBuf)>, Error> {
        self.some_entries(folder, |_| true)
    }

    /// Lists the shared libraries among them.
    pub(crate) fn libraries(&mut self, folder: &Path) -> Result<Vec<(OsString, PathBuf)>, Error> {
        let mut found = self.some_entries(folder, names::is_library)?;
        found.retain(|(_, path)| path.is_file());
        Ok(found)
    }

    fn some_entries(
        &mut self,
        folder: &Path,
        wanted: impl Fn(&OsStr) -> bool,
    ) -> Result<Vec<(OsString, PathBuf)>, Error> {
        let folder = self.resolve(folder)?;
        let entries = fs::read_dir(&folder).map_err(|error| unreadable(&folder, &error))?;
        // A link without a target has no use.
        let entries = entries.flatten().filter(|entry| wanted(&entry.file_name()) && entry.path().exists());
        entries.map(|entry| Ok((entry.file_name(), self.resolve(&entry.path())?))).collect()
    }

    /// Checks a folder and everything in it.
    pub(crate) fn check_all(&mut self, folder: &Path) -> Result<(), Error> {
        self.check_below(folder, DEEPEST)
    }

    fn check_below(&mut self, folder: &Path, depth: u32) -> Result<(), Error> {
        for (_, entry) in self.entries(folder)? {
            if entry.is_dir() && depth > 0 {
                self.check_below(&entry, depth - 1)?;
            }
        }
        Ok(())
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound => Error::LibraryNotFound { tried: vec![path.to_path_buf()] },
        _ => Error::Folder { path: path.to_path_buf(), reason: error.to_string() },
    }
}
