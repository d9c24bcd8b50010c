//! Checks whether other users could replace a file: their code would run as this user.
//!
//! A path is first resolved, then checked component by component up to `/`; only the resolved path is loaded or linked.
//! Each component must belong to root or to this user, and no other user may write to it. The path may pass through a
//! sticky folder such as `/tmp`, because only the owner can replace an entry there.

use super::{names, user};
use crate::error::Error;
use std::collections::HashSet;
use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How to make it nobody else's.
pub(crate) const REMEDY: &str = "you or root alone (chown, chmod go-w)";
const STICKY: u32 = 0o1000;
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
        let real = fs::canonicalize(path).map_err(|error| unreadable(path, &error))?;
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
        let meta = fs::symlink_metadata(real).map_err(|error| unreadable(real, &error))?;
        match defect(real, &meta, is_on_the_way) {
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

/// Why other users could change `path`; `None` if they cannot.
fn defect(path: &Path, meta: &Metadata, is_on_the_way: bool) -> Option<String> {
    let mode = meta.mode();
    if meta.uid() != 0 && meta.uid() != user::id() {
        return Some(format!("belongs to user {}", meta.uid()));
    }
    if is_on_the_way && meta.is_dir() && mode & STICKY != 0 {
        return None;
    }
    if mode & 0o002 != 0 {
        return Some("is writable by every user".into());
    }
    // With an access list, the group bits apply to everyone in that list.
    if mode & 0o020 != 0 && (has_access_list(path) || !user::is_private_group(meta.gid())) {
        return Some(format!("is writable by group {}", meta.gid()));
    }
    None
}

fn has_access_list(path: &Path) -> bool {
    let Ok(name) = CString::new(path.as_os_str().as_bytes()) else { return true };
    let attribute = c"system.posix_acl_access";
    // SAFETY: both strings end with NUL; without a buffer only the length is reported.
    unsafe { libc::lgetxattr(name.as_ptr(), attribute.as_ptr(), std::ptr::null_mut(), 0) > 0 }
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
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    fn culprit(path: &Path) -> (PathBuf, String) {
        match Trust::default().resolve(path) {
            Err(Error::Unsafe { culprit, reason, .. }) => (culprit, reason),
            other => panic!("{other:?}"),
        }
    }

    fn chmod(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// `open/mine/library` in a temporary folder.
    fn tree() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(base.join("open/mine")).unwrap();
        let library = base.join("open/mine/library");
        fs::write(&library, "").unwrap();
        [base.join("open"), base.join("open/mine")].iter().for_each(|folder| chmod(folder, 0o755));
        chmod(&library, 0o644);
        (folder, library)
    }

    #[test]
    fn what_everyone_can_write_to_is_named() {
        let (folder, library) = tree();
        let base = fs::canonicalize(folder.path()).unwrap();
        assert_eq!(Trust::default().resolve(&library).unwrap(), library);
        for (path, mode) in [("open/mine/library", 0o666), ("open/mine", 0o777), ("open", 0o757)] {
            let before = fs::metadata(base.join(path)).unwrap().permissions();
            chmod(&base.join(path), mode);
            assert_eq!(culprit(&library), (base.join(path), "is writable by every user".into()));
            fs::set_permissions(base.join(path), before).unwrap();
        }
        // As in /tmp, no other user can replace my files there. But no other user may add to the folder of libraries
        // itself.
        chmod(&base.join("open"), 0o1777);
        assert_eq!(Trust::default().resolve(&library).unwrap(), library);
        assert_eq!(culprit(&base.join("open")).0, base.join("open"));
    }

    #[test]
    fn a_link_does_not_hide_where_it_leads() {
        let (folder, library) = tree();
        let base = fs::canonicalize(folder.path()).unwrap();
        let other = tempfile::tempdir().unwrap();
        let link = other.path().join("link");
        symlink(&library, &link).unwrap();
        assert_eq!(Trust::default().resolve(&link).unwrap(), library);
        chmod(&base.join("open"), 0o777);
        let error = Trust::default().resolve(&link).unwrap_err().to_string();
        let culprit = format!("because {} is writable by every user", base.join("open").display());
        assert!(error.starts_with(link.to_str().unwrap()) && error.contains(&culprit), "{error}");
        assert!(error.contains("chmod go-w"), "{error}");
    }

    #[test]
    fn what_belongs_to_somebody_else_is_refused() {
        if user::id() != 0 {
            return; // Only root can give files away.
        }
        let (folder, library) = tree();
        let base = fs::canonicalize(folder.path()).unwrap();
        for path in [library.clone(), base.join("open/mine"), base.join("open")] {
            chown(&path, Some(4711), None).unwrap();
            assert_eq!(culprit(&library), (path.clone(), "belongs to user 4711".into()));
            chown(&path, Some(0), None).unwrap();
        }
        // A group of several, or of none that the system knows.
        chown(&library, None, Some(4711)).unwrap();
        chmod(&library, 0o664);
        assert_eq!(culprit(&library), (library, "is writable by group 4711".into()));
    }

    #[test]
    fn everything_in_a_folder_is_checked() {
        let (folder, library) = tree();
        let base = fs::canonicalize(folder.path()).unwrap();
        assert!(Trust::default().check_all(&base.join("open")).is_ok());
        chmod(&library, 0o666);
        match Trust::default().check_all(&base.join("open")) {
            Err(Error::Unsafe { culprit, .. }) => assert_eq!(culprit, library),
            other => panic!("{other:?}"),
        }
    }
}
