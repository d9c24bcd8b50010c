//! Who may change a file or folder.
//!
//! Each component of a path must belong to root or to this user, and no other user may write to it. The path may pass
//! through a sticky folder such as `/tmp`, because only the owner can replace an entry there.

use super::user;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::{fs, io};

/// How to make it nobody else's.
pub(crate) const REMEDY: &str = "you or root alone (chown, chmod go-w)";
const STICKY: u32 = 0o1000;

/// Why other users could change `path`; `None` if they cannot.
pub(crate) fn defect(path: &Path, is_on_the_way: bool) -> io::Result<Option<String>> {
    let meta = fs::symlink_metadata(path)?;
    let mode = meta.mode();
    if meta.uid() != 0 && meta.uid() != user::id() {
        return Ok(Some(format!("belongs to user {}", meta.uid())));
    }
    if is_on_the_way && meta.is_dir() && mode & STICKY != 0 {
        return Ok(None);
    }
    if mode & 0o002 != 0 {
        return Ok(Some("is writable by every user".into()));
    }
    // With an access list, the group bits apply to everyone in that list.
    if mode & 0o020 != 0 && (has_access_list(path) || !user::is_private_group(meta.gid())) {
        return Ok(Some(format!("is writable by group {}", meta.gid())));
    }
    Ok(None)
}

#[cfg(target_os = "linux")]
fn has_access_list(path: &Path) -> bool {
    let Ok(name) = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()) else { return true };
    let attribute = c"system.posix_acl_access";
    // SAFETY: both strings end with NUL; without a buffer only the length is reported.
    unsafe { libc::lgetxattr(name.as_ptr(), attribute.as_ptr(), std::ptr::null_mut(), 0) > 0 }
}

/// Other systems have lists of other kinds: what a group may write counts as anybody's.
#[cfg(not(target_os = "linux"))]
fn has_access_list(_path: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::super::user;
    use crate::error::Error;
    use crate::trust::Trust;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::path::{Path, PathBuf};

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
