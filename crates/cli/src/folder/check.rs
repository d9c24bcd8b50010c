//! Whether a file is the one that the manifest means.

use super::manifest::Entry;
use super::place;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crc32fast::Hasher;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

/// Opens a file of the manifest whose size, checksum and number of rows are right.
pub(crate) fn open(root: &Path, entry: &Entry) -> Result<File> {
    let mut file = sized(root, entry)?;
    let failed = |error: &io::Error| Failure::file(&root.join(&entry.path), error);
    let (mut hasher, mut buffer) = (Hasher::new(), vec![0; BUFFER]);
    loop {
        interrupt::check()?;
        match file.read(&mut buffer).map_err(|error| failed(&error))? {
            0 => break,
            count => hasher.update(&buffer[..count]),
        }
    }
    // Before Parquet's reader looks at it, which may panic at what is damaged.
    if hasher.finalize() != entry.crc32 {
        return Err(damaged(root, entry, "its checksum differs"));
    }
    counted(root, entry, file)
}

/// Opens a file of the manifest whose size and number of rows are right.
pub(crate) fn glance(root: &Path, entry: &Entry) -> Result<File> {
    counted(root, entry, sized(root, entry)?)
}

fn sized(root: &Path, entry: &Entry) -> Result<File> {
    let file = place::open(root, &entry.path)?;
    let metadata = file.metadata().map_err(|error| Failure::file(&root.join(&entry.path), &error))?;
    let bytes = metadata.len();
    if bytes != entry.bytes {
        return Err(damaged(root, entry, &format!("it has {bytes} bytes, not {}", entry.bytes)));
    }
    Ok(file)
}

fn counted(root: &Path, entry: &Entry, mut file: File) -> Result<File> {
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::default());
    let metadata = metadata.map_err(|error| damaged(root, entry, &error.to_string()))?;
    let rows = metadata.metadata().file_metadata().num_rows();
    if u64::try_from(rows).ok() != Some(entry.rows) {
        return Err(damaged(root, entry, &format!("it has {rows} rows, not {}", entry.rows)));
    }
    file.rewind().map_err(|error| Failure::file(&root.join(&entry.path), &error))?;
    Ok(file)
}

fn damaged(root: &Path, entry: &Entry, what: &str) -> Failure {
    let path = root.join(&entry.path);
    let text = "the file was changed or damaged after it was written";
    Failure::other(format!("{}: {what}; {text}", path.display()))
}

const BUFFER: usize = 256 << 10;
