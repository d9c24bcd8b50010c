//! The ini files on the disk: read at once, replaced at once, and changed by one process at a time.

use super::ini::Ini;
use super::lock::Lock;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

pub(super) fn about(file: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", file.display()))
}

/// A file that does not exist is empty.
pub(super) fn read(file: &Path) -> io::Result<Ini> {
    match fs::read(file) {
        Ok(bytes) => Ok(Ini::parse(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Ini::default()),
        Err(error) => Err(about(file, &error)),
    }
}

/// Reads a file, changes it, and replaces it, while nobody else does. If `work` returns `None`, the file stays as it is.
pub(super) fn change<T>(
    file: &Path,
    private: bool,
    work: impl FnOnce(&mut Ini) -> io::Result<Option<T>>,
) -> io::Result<Option<T>> {
    // Links to one file need one lock.
    let real = match fs::metadata(file) {
        Ok(_) => file.canonicalize().map_err(|error| about(file, &error))?,
        Err(_) => file.to_owned(),
    };
    let _lock = Lock::of(&real).map_err(|error| about(file, &error))?;
    let mut ini = read(file)?;
    let Some(result) = work(&mut ini)? else { return Ok(None) };
    replace(&real, &ini.bytes(), private).map_err(|error| about(file, &error))?;
    Ok(Some(result))
}

/// Replaces a file at once, so that nobody reads half of it. Owner and permissions stay.
fn replace(file: &Path, bytes: &[u8], private: bool) -> io::Result<()> {
    let old = fs::metadata(file).ok();
    let (temporary, path) = create_beside(file)?;
    let written = fill(temporary, bytes, old.as_ref(), private).and_then(|()| fs::rename(&path, file));
    written.inspect_err(|_| {
        let _ = fs::remove_file(&path);
    })
}

/// Writes a new file. It is never named: in a folder of several users, somebody may have put a link in its place.
fn fill(mut new: File, bytes: &[u8], old: Option<&Metadata>, private: bool) -> io::Result<()> {
    new.write_all(bytes)?;
    let made = new.metadata()?;
    if let Some(old) = old.filter(|old| (old.uid(), old.gid()) != (made.uid(), made.gid())) {
        fchown(&new, Some(old.uid()), Some(old.gid()))?;
    }
    let mode = match (private, old) {
        (true, _) => 0o600,
        (false, Some(old)) => old.mode() & 0o7777,
        (false, None) => 0o644,
    };
    new.set_permissions(Permissions::from_mode(mode))?;
    new.sync_all()
}

/// A new file in the same folder, for the user only. `create_new` does not follow links.
fn create_beside(file: &Path) -> io::Result<(File, PathBuf)> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = file.with_file_name(format!(".{name}.{}-{number}", process::id()));
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created.map(|created| (created, path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it exists").mode() & 0o7777
    }

    #[test]
    fn a_link_in_place_of_the_new_file_is_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, victim) = (folder.path().join("odbc.ini"), folder.path().join("victim"));
        for path in [&file, &victim] {
            fs::write(path, "old").expect("it can be written");
            fs::set_permissions(path, Permissions::from_mode(0o604)).expect("mine");
        }
        let (new, path) = create_beside(&file).expect("a new file");
        assert_eq!(mode(&path), 0o600);
        fs::remove_file(&path).expect("mine");
        symlink(&victim, &path).expect("a link");
        fill(new, b"new", fs::metadata(&file).ok().as_ref(), true).expect("written");
        assert_eq!(fs::read(&victim).expect("it exists"), b"old");
        assert_eq!(mode(&victim), 0o604);
    }

    #[test]
    fn the_owner_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("odbc.ini");
        fs::write(&file, "").expect("it can be written");
        // Only the superuser can give files away.
        if std::os::unix::fs::chown(&file, Some(1234), Some(1235)).is_ok() {
            replace(&file, b"new", false).expect("replaced");
            let now = fs::metadata(&file).expect("it exists");
            assert_eq!((now.uid(), now.gid()), (1234, 1235));
        }
    }
}
