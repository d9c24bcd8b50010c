//! Files that appear only when they are complete.

use super::Output;
use crate::failure::{Failure, Result};
use crate::interrupt;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::NamedTempFile;

/// A file being written. Until [`keep`](Self::keep), it has a hidden name next to its final place; dropping it removes
/// it.
#[derive(Debug)]
pub(crate) struct OutputFile {
    place: Place,
    path: PathBuf,
    replace: bool,
    bytes: Arc<AtomicU64>,
}

#[derive(Debug)]
enum Place {
    Beside(NamedTempFile),
    /// A device or pipe; a rename cannot replace these.
    Direct(File),
}

impl OutputFile {
    /// Starts a file. An existing file is an error unless `replace`.
    pub(crate) fn create(path: &Path, replace: bool) -> Result<Self> {
        // Follows links: the link's target is the file to replace.
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let place = match path.metadata() {
            Ok(existing) if existing.is_dir() => {
                return Err(Failure::other(format!("{} is a directory", path.display())));
            }
            Ok(existing) if !existing.is_file() || is_open_already(path) => {
                let file = own_stream(path).unwrap_or_else(|| {
                    // What others have written there stays.
                    File::options().append(existing.is_file()).write(true).open(path)
                });
                Place::Direct(file.map_err(|error| Failure::file(path, &error))?)
            }
            Ok(_) if !replace => {
                return Err(Failure::other(format!("{} exists; --force replaces it", path.display())));
            }
            existing => {
                let part = interrupt::temporary(|| beside(&real, existing.ok().as_ref()));
                Place::Beside(part.map_err(|error| Failure::file(path, &error))?)
            }
        };
        Ok(Self { place, path: real, replace, bytes: Arc::default() })
    }

    /// Returns standard output as a file.
    pub(crate) fn standard_output() -> Result<Self> {
        let file = duplicate(io::stdout())?;
        Ok(Self { place: Place::Direct(file), path: "-".into(), replace: false, bytes: Arc::default() })
    }

    /// Returns the writer for its contents.
    pub(crate) fn output(&self) -> Result<Output> {
        let file = match &self.place {
            Place::Beside(part) => part.as_file(),
            Place::Direct(file) => file,
        };
        let file = file.try_clone().map_err(|error| Failure::file(&self.path, &error))?;
        let counted = Counted { file, bytes: Arc::clone(&self.bytes) };
        Ok(Box::new(BufWriter::with_capacity(BUFFER, counted)))
    }

    /// Returns the counter of bytes written so far.
    pub(crate) fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes)
    }

    /// Moves the complete file to its place and returns its size.
    pub(crate) fn keep(self) -> Result<u64> {
        if let Place::Beside(part) = self.place {
            // After a crash, the final name must not refer to missing contents.
            part.as_file().sync_data().map_err(|error| Failure::file(&self.path, &error))?;
            let kept = match self.replace {
                true => part.persist(&self.path),
                false => part.persist_noclobber(&self.path),
            };
            kept.map_err(|error| Failure::file(&self.path, &error.error))?;
        }
        Ok(self.bytes.load(Ordering::Relaxed))
    }
}

/// Returns whether the path names a file that a process has open, as `/dev/stdout` does. Such a file is written to, not
/// replaced.
fn is_open_already(path: &Path) -> bool {
    let target = fs::read_link(path).unwrap_or_default();
    path.starts_with("/dev/fd") || path.starts_with("/proc") || target.starts_with("/proc")
}

/// Standard output or error, if the path names one, as `/dev/stdout` does: opening the path again would start at
/// the beginning of the file and overwrite what is already there.
fn own_stream(path: &Path) -> Option<io::Result<File>> {
    let target = fs::read_link(path).unwrap_or_default();
    [path, &target].into_iter().find_map(|path| match path.to_str()? {
        "/dev/fd/1" | "/proc/self/fd/1" => Some(duplicate(io::stdout())),
        "/dev/fd/2" | "/proc/self/fd/2" => Some(duplicate(io::stderr())),
        _ => None,
    })
}

fn duplicate(stream: impl AsFd) -> io::Result<File> {
    stream.as_fd().try_clone_to_owned().map(File::from)
}

/// Creates a file in the folder of `path`, with the mode of the file that it will replace.
fn beside(path: &Path, existing: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mode = existing.map(|existing| Permissions::from_mode(existing.mode() & 0o777));
    let part = tempfile::Builder::new()
        .prefix(&format!(".{}.", name.to_string_lossy()))
        .suffix(".part")
        // The umask reduces it.
        .permissions(mode.clone().unwrap_or(Permissions::from_mode(NEW_FILE)))
        .tempfile_in(folder)?;
    let file = part.as_file();
    if let Some(mode) = mode
        && mode.mode() != file.metadata()?.mode() & 0o777
    {
        file.set_permissions(mode)?;
    }
    Ok(part)
}

struct Counted {
    file: File,
    bytes: Arc<AtomicU64>,
}

impl Write for Counted {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let written = self.file.write(data)?;
        self.bytes.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

const BUFFER: usize = 256 << 10;
/// The mode of a new file.
const NEW_FILE: u32 = 0o666;
