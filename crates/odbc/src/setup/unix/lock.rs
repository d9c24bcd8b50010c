//! Lets one process after the other change an ini file.

use super::file::about;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than any change takes. A process that was stopped in the middle of one should not stop the others for good.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(10);

/// A locked file beside the one to change, which cannot be locked itself: it gets replaced. Only its owner can open the
/// lock, so nobody else can hold it. It goes again with the lock.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Waits until nobody else changes the file.
    pub(super) fn of(file: &Path) -> io::Result<Self> {
        Self::within(PATIENCE, file)
    }

    fn within(patience: Duration, file: &Path) -> io::Result<Self> {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = file.with_file_name(format!(".{name}.lock"));
        let end = Instant::now() + patience;
        loop {
            if let Some(file) = open(&path)? {
                match file.try_lock() {
                    // The last owner may have removed it in between; then it locks nothing.
                    Ok(()) if is_at(&file, &path) => return Ok(Self { path, _file: file }),
                    Ok(()) | Err(TryLockError::WouldBlock) => {}
                    // Some network file systems have no locks, and still need a file.
                    Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                        return Ok(Self { path, _file: file });
                    }
                    Err(TryLockError::Error(error)) => return Err(error),
                }
            }
            if Instant::now() >= end {
                let text = format!(
                    "another process has been changing it for {} seconds; it holds the lock {}",
                    patience.as_secs(),
                    path.display()
                );
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            thread::sleep(PAUSE);
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Before it is unlocked: whoever waits for it sees that it is gone.
        let _ = fs::remove_file(&self.path);
    }
}

/// Opens or creates the lock. `None` if it has gone in between.
fn open(path: &Path) -> io::Result<Option<File>> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        created => return created.map(Some),
    }
    let opened = match fs::symlink_metadata(path) {
        // Neither a link, which leads elsewhere, nor a pipe, which would block.
        Ok(found) if found.is_file() => File::open(path),
        Ok(_) => Err(io::Error::other("it is in the way of a lock, but no file")),
        Err(error) => Err(error),
    };
    match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        // One that another user has left behind, for example.
        opened => opened.map(Some).map_err(|error| about(path, &error)),
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let here = file.metadata().map(|data| (data.dev(), data.ino()));
    let there = fs::symlink_metadata(path).map(|data| (data.dev(), data.ino()));
    matches!((here, there), (Ok(here), Ok(there)) if here == there)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_lock_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("odbc.ini");
        let lock = Lock::within(PATIENCE, &file).expect("free");
        let error = Lock::within(Duration::from_millis(30), &file).expect_err("taken");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(error.to_string().contains(".odbc.ini.lock"), "{error}");
        drop(lock);
        drop(Lock::within(Duration::ZERO, &file).expect("free again"));
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn links_are_no_locks() {
        let folder = tempfile::tempdir().expect("a folder");
        let elsewhere = folder.path().join("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, folder.path().join(".odbc.ini.lock")).expect("a link");
        let error = Lock::within(Duration::ZERO, &folder.path().join("odbc.ini")).expect_err("a link");
        assert!(error.to_string().contains(".odbc.ini.lock: it is in the way"), "{error}");
        assert!(!elsewhere.exists());
    }
}
