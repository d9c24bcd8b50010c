//! Files that appear only when they are complete.

use super::Output;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::platform::files;
use std::fs::{File, Metadata};
use std::io::{self, BufWriter, Read, Write};
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
        let real = dunce::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if let Some(device) = files::device(path, File::options().write(true)) {
            let file = device.map_err(|error| Failure::file(path, &error))?;
            return Ok(Self { place: Place::Direct(file), path: real, replace, bytes: Arc::default() });
        }
        let place = match path.metadata() {
            Ok(existing) if existing.is_dir() => {
                return Err(Failure::other(format!("{} is a directory", path.display())));
            }
            Ok(existing) if !existing.is_file() || files::is_open_already(path) => {
                let file = files::own_stream(path).unwrap_or_else(|| {
                    // What others have written there stays.
                    File::options().append(existing.is_file()).write(true).open(path)
                });
                Place::Direct(file.map_err(|error| Failure::file(path, &error))?)
            }
            Ok(_) if !replace => {
                return Err(Failure::other(format!("{} exists; --force replaces it", path.display())));
            }
            Ok(_) if is_database(&real) => {
                return Err(Failure::other(format!(
                    "{} is a Firebird database, which no output replaces; choose another file, or delete it first",
                    path.display()
                )));
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
        let file = files::standard_output()?;
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
                true => files::replace(part, &self.path),
                false => part.persist_noclobber(&self.path).map(drop).map_err(|error| error.error),
            };
            kept.map_err(|error| Failure::file(&self.path, &error))?;
        }
        Ok(self.bytes.load(Ordering::Relaxed))
    }
}

/// Whether a file begins as databases of Firebird do: with a header page (type 1), its size, and the version of its
/// structure with the mark of Firebird (`ods.h`).
fn is_database(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(20).read_to_end(&mut head));
    let half = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    matches!(read, Ok(20))
        && head[0] == 1
        && half(16).is_power_of_two()
        && half(16) >= 1024
        && half(18) & 0x8000 != 0
}

/// Creates a file in the folder of `path`, with the mode of the file that it will replace.
fn beside(path: &Path, existing: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut part = tempfile::Builder::new();
    let prefix = format!(".{}.", name.to_string_lossy());
    part.prefix(&prefix).suffix(".part");
    match existing {
        Some(existing) => files::as_existing_file(&mut part, existing),
        None => files::as_new_file(&mut part),
    }
    let part = part.tempfile_in(folder)?;
    if let Some(existing) = existing {
        files::complete_permissions(part.as_file(), existing)?;
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
