//! What must not outlive the test process: child processes and temporary folders.
//!
//! Shared servers live in statics, which Rust never drops. So each server process and each folder is recorded
//! here, and an exit handler of the C library removes what is left. A test process that is killed cannot run it:
//! then the kernel ends the servers (see `system`), and the next test process sweeps the folders.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::system;

/// A temporary folder, removed when dropped or when the process ends.
#[derive(Debug)]
pub(crate) struct Folder {
    /// Holds an exclusive lock while this process lives. Other processes then leave the folder alone. Closed before
    /// the folder is removed, which Windows asks for.
    _owner: File,
    directory: TempDir,
}

impl Folder {
    /// Creates a folder in the system's temporary folder, with `label` in its name.
    pub(crate) fn new(label: &str) -> io::Result<Self> {
        sweep_once();
        // The real path, because servers and tests must call a database by the same name.
        let parent = std::env::temp_dir().canonicalize()?;
        let directory = tempfile::Builder::new().prefix(&format!("{PREFIX}{label}-")).tempdir_in(parent)?;
        let owner = File::create(directory.path().join(OWNER))?;
        owner.lock()?;
        register(Leftover::Folder(directory.path().to_owned()));
        Ok(Self { _owner: owner, directory })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let path = self.directory.path();
        list().retain(|leftover| !matches!(leftover, Leftover::Folder(folder) if folder == path));
    }
}

/// Records a child process that leads its own process group.
pub(crate) fn register_process(id: u32) {
    register(Leftover::Process(id));
}

/// Runs `reap` while the exit handler is kept away, and forgets the process if there is a result: from then on
/// its number may belong to another process.
pub(crate) fn reap_process<R>(id: u32, reap: impl FnOnce() -> Option<R>) -> Option<R> {
    let mut list = list();
    let result = reap();
    if result.is_some() {
        list.retain(|leftover| !matches!(leftover, Leftover::Process(process) if *process == id));
    }
    result
}

enum Leftover {
    Process(u32),
    Folder(PathBuf),
}

static LEFTOVERS: Mutex<Vec<Leftover>> = Mutex::new(Vec::new());

fn list() -> MutexGuard<'static, Vec<Leftover>> {
    LEFTOVERS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn register(leftover: Leftover) {
    static EXIT_HANDLER: Once = Once::new();
    EXIT_HANDLER.call_once(|| system::at_exit(remove_all));
    list().push(leftover);
}

/// Ends all processes, then removes all folders; those could not be removed while a server writes into them.
fn remove_all() {
    let leftovers = std::mem::take(&mut *list());
    for leftover in &leftovers {
        if let Leftover::Process(id) = leftover {
            system::kill_group(*id);
        }
    }
    for leftover in &leftovers {
        if let Leftover::Process(id) = leftover {
            system::reap(*id);
        }
    }
    for leftover in leftovers {
        if let Leftover::Folder(path) = leftover {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Removes folders whose test process was killed, once per process.
fn sweep_once() {
    static SWEPT: Once = Once::new();
    SWEPT.call_once(|| {
        for entry in fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_name().to_string_lossy().starts_with(PREFIX) && is_abandoned(&path).unwrap_or(false)
            {
                let _ = fs::remove_dir_all(path);
            }
        }
    });
}

fn is_abandoned(folder: &Path) -> io::Result<bool> {
    // Young folders may be about to be locked by the process that has just made them.
    let owner = File::open(folder.join(OWNER))?;
    let age = SystemTime::now().duration_since(owner.metadata()?.modified()?);
    Ok(age.is_ok_and(|age| age > Duration::from_secs(60)) && owner.try_lock().is_ok())
}

const PREFIX: &str = "firearrow-test-";
const OWNER: &str = ".owner";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_disappears_with_its_value() {
        let folder = Folder::new("drop").unwrap();
        let path = folder.path().to_owned();
        assert!(path.is_dir());
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn only_folders_without_a_living_owner_are_swept() {
        let folder = Folder::new("sweep").unwrap();
        make_old(folder.path());
        assert!(!is_abandoned(folder.path()).unwrap(), "this process holds the lock");

        let abandoned = tempfile::tempdir().unwrap();
        File::create(abandoned.path().join(OWNER)).unwrap();
        assert!(!is_abandoned(abandoned.path()).unwrap(), "too young");
        make_old(abandoned.path());
        assert!(is_abandoned(abandoned.path()).unwrap());
    }

    fn make_old(folder: &Path) {
        let long_ago = SystemTime::now() - Duration::from_secs(3600);
        File::options().write(true).open(folder.join(OWNER)).unwrap().set_modified(long_ago).unwrap();
    }
}
