//! Folders that belong to the user: roots, locks, temporary files.
//!
//! | what | where |
//! |---|---|
//! | roots | `$XDG_CACHE_HOME`, `~/.cache`, `$XDG_RUNTIME_DIR`, else a fresh private folder |
//! | locks | `~/.cache` or `/run/user/<uid>`, by the system's records; else a fresh one, if it is not shared |
//! | temporary files | `$TMPDIR` or `/tmp`; the engine makes each of them with a fresh name |
//!
//! No name in `/tmp` is predictable, so no other user can take it first. All processes of a user must agree on the lock
//! folder, whatever their environment, because two lock folders protect nothing.

use super::user;
use crate::Error;
use crate::options::ServerMode;
use crate::trust::Trust;
use std::ffi::{CString, OsStr};
use std::fs::{self, DirBuilder};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::{env, io};

/// The prefix of the names of fresh folders.
const FRESH: &str = ".firearrow-";
/// How many entries of the temporary directory to search for a folder that this user created earlier.
const MOST_ENTRIES: usize = 10_000;

/// The user's folder for roots.
pub(crate) fn cache() -> Result<PathBuf, Error> {
    let variable = |name| env::var_os(name).map(PathBuf::from);
    let homes = [variable("HOME"), user::home()].map(|home| home.map(|home| home.join(".cache")));
    let [home, recorded] = homes;
    first([variable("XDG_CACHE_HOME"), home, recorded, variable("XDG_RUNTIME_DIR")])
        .map_or_else(|| fresh(&env::temp_dir()), Ok)
}

/// The folder for lock files that all processes of the user share.
pub(crate) fn lock(mode: ServerMode) -> Result<PathBuf, Error> {
    let run = Path::new("/run/user").join(user::id().to_string());
    let home = user::home().map(|home| home.join(".cache"));
    lock_in(&[home, run.is_dir().then_some(run)], mode, &env::temp_dir())
}

fn lock_in(places: &[Option<PathBuf>], mode: ServerMode, temporary: &Path) -> Result<PathBuf, Error> {
    let path = match (first(places.iter().cloned()), mode) {
        (Some(path), _) => path,
        // The database file itself is locked, too.
        (None, ServerMode::Super) => fresh(temporary)?,
        (None, ServerMode::Classic) => {
            let path = places.iter().flatten().next().cloned().unwrap_or_else(|| "~/.cache".into());
            let reason = "cannot have the lock folder that all processes of the user share; name one with FIREBIRD_LOCK";
            return Err(Error::Folder { path, reason: reason.into() });
        }
    };
    // Machines may share home folders, but their processes cannot share memory.
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let path = path.join(format!("lock-{}", boot.get(..8).unwrap_or_default()));
    ensure(&path)?;
    Ok(path)
}

/// The folder for temporary files.
pub(crate) fn temporary() -> PathBuf {
    Some(env::temp_dir()).filter(|path| path.is_absolute()).unwrap_or_else(|| "/tmp".into())
}

/// Creates a folder that only the user can enter.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Whether the library would truncate the path: `gds__get_prefix` ends it at spaces and line ends.
pub(crate) fn has_blank(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b' ' | b'\n' | b'\r'))
}

/// Returns `firearrow-<uid>` in the first place that works and that no other user can write to.
fn first(places: impl IntoIterator<Item = Option<PathBuf>>) -> Option<PathBuf> {
    places.into_iter().flatten().find_map(|place| {
        if !place.is_absolute() || fs::create_dir_all(&place).is_err() {
            return None;
        }
        let place = Trust::default().resolve(&place).ok().filter(|place| !has_blank(place))?;
        let path = place.join(format!("firearrow-{}", user::id()));
        ensure(&path).is_ok().then_some(path)
    })
}

/// Returns a folder with an unpredictable name in the temporary directory. Only its owner can have created it, so an
/// existing one is reused.
fn fresh(temporary: &Path) -> Result<PathBuf, Error> {
    let unusable = |reason: String| Error::Folder { path: temporary.to_path_buf(), reason };
    let temporary = Trust::default().resolve_parent(temporary)?;
    let entries = fs::read_dir(&temporary).map_err(|error| unusable(error.to_string()))?;
    let is_fresh = |name: &OsStr| name.as_bytes().starts_with(FRESH.as_bytes());
    let mut made: Vec<PathBuf> = entries
        .take(MOST_ENTRIES)
        .flatten()
        .filter(|entry| is_fresh(&entry.file_name()))
        .map(|entry| entry.path())
        .filter(|path| check_private(path).is_ok())
        .collect();
    made.sort();
    if let Some(path) = made.into_iter().next() {
        return Ok(path);
    }
    let mut template = temporary.join(format!("{FRESH}XXXXXX")).into_os_string().into_vec();
    template.push(0);
    // SAFETY: the template is a writable string that ends with NUL; the function only replaces the X in it.
    let created = unsafe { libc::mkdtemp(template.as_mut_ptr().cast()) };
    if created.is_null() {
        return Err(unusable(io::Error::last_os_error().to_string()));
    }
    let path = CString::from_vec_with_nul(template).map_err(|error| unusable(error.to_string()))?;
    Ok(OsStr::from_bytes(path.as_bytes()).into())
}

/// Creates the folder if necessary, and refuses one that another user could write to.
fn ensure(path: &Path) -> Result<(), Error> {
    let checked = match make_private(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error.to_string()),
        _ => check_private(path),
    };
    checked.map_err(|reason| Error::Folder { path: path.to_path_buf(), reason })
}

/// Checks that it is a folder that belongs to this user, and that no other user can write to it.
fn check_private(path: &Path) -> Result<(), String> {
    // Does not follow links: another user could have placed one.
    let meta = fs::symlink_metadata(path).map_err(|error| error.to_string())?;
    if !meta.is_dir() {
        Err("is not a folder".into())
    } else if meta.uid() != user::id() {
        Err(format!("belongs to user {}", meta.uid()))
    } else if meta.mode() & 0o022 != 0 {
        Err("is writable by other users".into())
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    fn chmod(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn folders_that_others_can_write_to_are_refused() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("mine");
        assert!(ensure(&path).is_ok());
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        chmod(&path, 0o777);
        assert!(ensure(&path).is_err());
        symlink(base.path(), base.path().join("link")).unwrap();
        assert!(ensure(&base.path().join("link")).is_err());
    }

    /// A directory like `/tmp`, in which another user has taken every predictable name.
    fn hostile_tmp() -> tempfile::TempDir {
        let tmp = tempfile::tempdir().unwrap();
        chmod(tmp.path(), 0o1777);
        let taken =
            [format!("firearrow-{}", user::id()), ".firearrow-aaaaaa".into(), ".firearrow-link".into()];
        for name in &taken[..2] {
            fs::create_dir(tmp.path().join(name)).unwrap();
            chmod(&tmp.path().join(name), 0o777);
            if user::id() == 0 {
                chown(tmp.path().join(name), Some(4711), None).unwrap();
            }
        }
        symlink("/etc", tmp.path().join(&taken[2])).unwrap();
        tmp
    }

    #[test]
    fn a_folder_that_somebody_else_made_first_is_neither_used_nor_in_the_way() {
        let tmp = hostile_tmp();
        let path = fresh(tmp.path()).unwrap();
        assert_eq!(check_private(&path), Ok(()));
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        assert_eq!(path.parent(), Some(fs::canonicalize(tmp.path()).unwrap().as_path()));
        let taken = fs::read_dir(tmp.path()).unwrap().count();
        assert_eq!(fresh(tmp.path()).unwrap(), path, "its owner finds it again");
        assert_eq!(fs::read_dir(tmp.path()).unwrap().count(), taken);
        // Without the sticky bit, others could replace it.
        chmod(tmp.path(), 0o777);
        assert!(matches!(fresh(tmp.path()), Err(Error::Unsafe { .. })));
    }

    #[test]
    fn places_that_others_can_write_to_are_passed_over() {
        let base = tempfile::tempdir().unwrap();
        let [open, mine] = ["open", "mine"].map(|name| base.path().join(name));
        fs::create_dir_all(open.join("cache")).unwrap();
        chmod(&open, 0o777);
        let path =
            first([None, Some("relative".into()), Some(open.join("cache")), Some(mine.clone())]).unwrap();
        assert!(path.starts_with(fs::canonicalize(&mine).unwrap()), "{path:?}");
        assert_eq!(first([Some(open)]), None);
    }

    #[test]
    fn shared_locks_are_never_in_a_fresh_folder() {
        let tmp = hostile_tmp();
        let path = lock_in(&[None], ServerMode::Super, tmp.path()).unwrap();
        assert_eq!(check_private(&path), Ok(()));
        let error = lock_in(&[None], ServerMode::Classic, tmp.path()).unwrap_err().to_string();
        assert!(error.contains("FIREBIRD_LOCK"), "{error}");
        let home = tempfile::tempdir().unwrap();
        let shared = lock_in(&[Some(home.path().into())], ServerMode::Classic, tmp.path()).unwrap();
        assert_eq!(lock_in(&[Some(home.path().into())], ServerMode::Super, tmp.path()).unwrap(), shared);
    }

    #[test]
    fn spaces_are_noticed() {
        assert!(has_blank(Path::new("/a b")));
        assert!(!has_blank(Path::new("/a/b")));
    }
}
