//! Folders that belong to the user: roots in the cache, lock and temporary files in `/tmp`.
//!
//! Processes of one user must agree on the lock folder whatever their environment says, because two lock
//! folders protect nothing; so it does not depend on `HOME`, `XDG_CACHE_HOME` or `TMPDIR`.

use crate::Error;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::{env, io};

/// The user's folder for roots: in `$XDG_CACHE_HOME`, `~/.cache` or `/tmp`, the first that works.
pub(crate) fn cache() -> Result<PathBuf, Error> {
    let variable = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let places = [variable("XDG_CACHE_HOME"), variable("HOME").map(|home| home.join(".cache"))];
    for place in places.into_iter().flatten() {
        let made = fs::create_dir_all(&place).is_ok() && is_ours(&place, Trust::Parent).is_ok();
        if made
            && !has_blank(&place)
            && let Ok(path) = own(&place)
        {
            return Ok(path);
        }
    }
    own(Path::new("/tmp"))
}

/// The folder for lock files that all processes of the user share.
pub(crate) fn lock() -> Result<PathBuf, Error> {
    below_tmp("lock")
}

/// The folder for temporary files.
pub(crate) fn temporary() -> Result<PathBuf, Error> {
    below_tmp("temp")
}

/// Creates a folder that only the user can enter.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Whether the library would cut the path short (`gds__get_prefix` ends it at blanks and line ends).
pub(crate) fn has_blank(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b' ' | b'\n' | b'\r'))
}

fn below_tmp(name: &str) -> Result<PathBuf, Error> {
    let path = own(Path::new("/tmp"))?.join(name);
    ensure(&path)?;
    Ok(path)
}

/// `firearrow-<uid>` in `place`.
fn own(place: &Path) -> Result<PathBuf, Error> {
    let path = place.join(format!("firearrow-{}", user()));
    ensure(&path)?;
    Ok(path)
}

/// Makes the folder if need be, and refuses one that somebody else could write to.
fn ensure(path: &Path) -> Result<(), Error> {
    let checked = match make_private(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error.to_string()),
        _ => is_ours(path, Trust::User),
    };
    checked.map_err(|reason| Error::Folder { path: path.to_path_buf(), reason })
}

enum Trust {
    /// Only the user may own the folder and write to it.
    User,
    /// The system may own it, too.
    Parent,
}

fn is_ours(path: &Path, trust: Trust) -> Result<(), String> {
    // Not following links: in /tmp somebody else could have placed one.
    let meta = match trust {
        Trust::User => fs::symlink_metadata(path),
        Trust::Parent => fs::metadata(path),
    };
    let meta = meta.map_err(|error| error.to_string())?;
    let is_owner = meta.uid() == user() || (matches!(trust, Trust::Parent) && meta.uid() == 0);
    if !meta.is_dir() {
        Err("is not a folder".into())
    } else if !is_owner {
        Err(format!("belongs to user {}", meta.uid()))
    } else if meta.mode() & 0o022 != 0 {
        Err("can be written by other users".into())
    } else {
        Ok(())
    }
}

fn user() -> u32 {
    // SAFETY: geteuid has no preconditions and cannot fail.
    unsafe { libc::geteuid() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn folders_that_others_can_write_to_are_refused() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("mine");
        assert!(ensure(&path).is_ok());
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(ensure(&path).is_err());
        std::os::unix::fs::symlink(base.path(), base.path().join("link")).unwrap();
        assert!(ensure(&base.path().join("link")).is_err());
    }

    #[test]
    fn blanks_are_seen() {
        assert!(has_blank(Path::new("/a b")));
        assert!(!has_blank(Path::new("/a/b")));
    }
}
