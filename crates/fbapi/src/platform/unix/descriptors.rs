//! The engine's descriptors, which it would leave to child processes.

use std::fs;
use std::os::fd::RawFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Keeps an open database file from processes that this one starts.
///
/// The engine (3.0 to 5.0) opens it without `O_CLOEXEC`. Its lock belongs to all copies of the descriptor: a child that
/// has inherited one keeps everybody out of the database for as long as it runs, even after this process has closed it.
///
/// Names that only the engine can resolve (aliases) are left alone.
pub(crate) fn keep_from_children(database: &Path) {
    let (Ok(database), Ok(descriptors)) = (fs::metadata(database), fs::read_dir("/proc/self/fd")) else {
        return;
    };
    for descriptor in descriptors.flatten() {
        let is_database = fs::metadata(descriptor.path())
            .is_ok_and(|file| (file.dev(), file.ino()) == (database.dev(), database.ino()));
        let number = descriptor.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok());
        if let (true, Some(number)) = (is_database, number) {
            // SAFETY: no pointer is involved, and a number that has been closed meanwhile is an error.
            unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
}
