//! The folder that is written.

use super::args::CopyArgs;
use crate::failure::{Failure, Result};
use crate::folder::manifest::{Entry, Manifest, Part, sync};
use crate::folder::scan::Scan;
use crate::folder::{LOCK, MANIFEST, SUCCESS};
use crate::platform::files;
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A folder that this process writes, and no other.
pub(super) struct Destination {
    root: PathBuf,
    /// Whether this run has created it.
    is_new: bool,
    scan: Scan,
    /// What an earlier run has written, for `--resume`.
    earlier: Option<Manifest>,
    /// Keeps other processes out, until it is dropped.
    lock: Mutex<Option<File>>,
}

impl Destination {
    /// Creates the folder, or looks at the one that exists. Nothing is removed yet.
    ///
    /// # Errors
    /// Something is in it that must not be touched, or another process writes it.
    pub(super) fn open(args: &CopyArgs) -> Result<Self> {
        let root = &args.output;
        let failed = |error: &io::Error| Failure::file(root, error);
        let is_new = match root.metadata() {
            Ok(metadata) if metadata.is_dir() => false,
            Ok(_) => return Err(Failure::other(format!("{} is a file, not a folder", root.display()))),
            Err(_) => {
                fs::create_dir_all(root).map_err(|error| failed(&error))?;
                true
            }
        };
        // Links to the folder are the user's own.
        let root = dunce::canonicalize(root).map_err(|error| failed(&error))?;
        let lock = lock(&root)?;
        let scan = Scan::of(&root)?;
        let mut destination = Self { root, is_new, scan, earlier: None, lock: Mutex::new(lock) };
        destination.check(args)?;
        Ok(destination)
    }

    fn check(&mut self, args: &CopyArgs) -> Result<()> {
        let name = args.output.display();
        if self.scan.is_empty() {
            return Ok(());
        }
        if !self.scan.has_manifest {
            let text = "is not empty, and nothing in it says that it is a copy: choose another folder";
            return Err(Failure::other(format!("{name} {text}")));
        }
        if !args.resume && !args.force {
            let text = "has a copy; --resume continues it, --force removes it first";
            return Err(Failure::other(format!("{name} {text}")));
        }
        if let Some(stranger) = self.scan.stranger() {
            let text = "has a file that no copy has written";
            return Err(Failure::other(format!("{name} {text}, {stranger}: move it elsewhere")));
        }
        if args.resume {
            self.earlier = Manifest::read(&self.root)?;
        }
        Ok(())
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Takes what an earlier run has written.
    pub(super) fn take_earlier(&mut self) -> Option<Manifest> {
        self.earlier.take()
    }

    /// Removes what earlier runs have written, except the files that are kept.
    pub(super) fn clear<'a>(&self, kept: impl Iterator<Item = &'a Entry>) -> Result<()> {
        self.remove(SUCCESS)?;
        let kept: BTreeSet<&str> = kept.map(|entry| entry.path.as_str()).collect();
        let scan = Scan::of(&self.root)?;
        for path in scan.parts.iter().chain(&scan.temporary) {
            if !kept.contains(path.as_str()) {
                self.remove(path)?;
            }
        }
        // Inner ones first; those that are in use are not empty.
        for folder in scan.folders.iter().rev() {
            let _ = fs::remove_dir(self.root.join(folder));
        }
        Ok(())
    }

    fn remove(&self, path: &str) -> Result<()> {
        let path = self.root.join(path);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::file(&path, &error)),
            _ => Ok(()),
        }
    }

    /// Says that everything is there.
    pub(super) fn succeed(&self) -> Result<()> {
        let path = self.root.join(SUCCESS);
        File::create(&path).map_err(|error| Failure::file(&path, &error))?;
        sync(&self.root)
    }

    /// Leaves nothing of a copy of which nothing can be continued.
    pub(super) fn give_up(&self) {
        // Report the original error.
        let _ = self.clear(std::iter::empty());
        let _ = self.remove(MANIFEST);
        self.leave();
    }

    /// Removes the folder if this run has created it and nothing is in it.
    pub(super) fn leave(&self) {
        if self.is_new {
            // It may be a file in the folder.
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner).take());
            let _ = fs::remove_dir(&self.root);
        }
    }
}

/// The manifest while parts become whole.
pub(super) struct Ledger<'a> {
    root: &'a Path,
    manifest: Mutex<Manifest>,
}

impl<'a> Ledger<'a> {
    /// Writes the manifest for the first time.
    pub(super) fn begin(root: &'a Path, manifest: Manifest) -> Result<Self> {
        manifest.write(root)?;
        Ok(Self { root, manifest: Mutex::new(manifest) })
    }

    /// Notes a part that is whole.
    pub(super) fn add(&self, part: Part) -> Result<()> {
        let mut manifest = self.lock();
        let place = manifest.parts.partition_point(|other| other.part < part.part);
        manifest.parts.insert(place, part);
        manifest.write(self.root)
    }

    /// Notes that all parts are there.
    pub(super) fn complete(&self) -> Result<()> {
        let mut manifest = self.lock();
        manifest.complete = true;
        manifest.write(self.root)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Manifest> {
        self.manifest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Locks a folder until the process ends, where the file system can.
fn lock(root: &Path) -> Result<Option<File>> {
    match files::lock_folder(root, LOCK) {
        Ok(lock) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => {
            Err(Failure::other(format!("{}: another process is writing this folder", root.display())))
        }
        Err(TryLockError::Error(_)) => Ok(None),
    }
}
