//! Parquet files of bounded size, one after the other.

use super::part::Layout;
use crate::failure::{Failure, Result};
use crate::folder::manifest::{Entry, sync};
use crate::folder::place;
use crate::interrupt;
use crate::platform::files;
use arrow::array::RecordBatch;
use crc32fast::Hasher;
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::{NamedTempFile, TempPath};

/// The files of a part in one folder.
pub(super) struct Rolling<'a> {
    layout: &'a Layout,
    part: usize,
    /// Below the root, with a slash at its end; empty for the root.
    folder: String,
    /// The number of the next file.
    next: usize,
    open: Option<Open>,
    whole: Vec<Entry>,
}

/// A file that is not whole yet. It has a hidden name.
struct Open {
    writer: ArrowWriter<Appender>,
    hidden: TempPath,
    rows: u64,
}

impl<'a> Rolling<'a> {
    pub(super) fn new(layout: &'a Layout, part: usize, folder: String) -> Self {
        Self { layout, part, folder, next: 0, open: None, whole: Vec::new() }
    }

    /// Writes rows, and begins another file when this one is full.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let (layout, folder) = (self.layout, self.full());
        let open = self.opened()?;
        open.writer.write(batch).map_err(|error| failed(&folder, error))?;
        open.rows += batch.num_rows() as u64;
        if open.writer.memory_size() > layout.memory {
            open.writer.flush().map_err(|error| failed(&folder, error))?;
        }
        let bytes = open.writer.bytes_written() + open.writer.in_progress_size();
        if bytes as u64 >= layout.file_size { self.end_file() } else { Ok(()) }
    }

    /// Writes what is in memory, except what every row group needs at the end of the file, and closes the file for now.
    pub(super) fn rest(&mut self) -> Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let rested = open.writer.flush().and_then(|()| {
            open.writer.sync()?;
            Ok(open.writer.inner_mut().close()?)
        });
        rested.map_err(|error| failed(&self.full(), error))
    }

    /// Returns how much memory a file that rests needs, roughly.
    pub(super) fn resting(&self) -> usize {
        let columns = self.layout.schema.fields().len() + 1;
        let groups = self.open.as_ref().map(|open| open.writer.flushed_row_groups().len() + 1);
        groups.unwrap_or_default() * columns * COLUMN_METADATA
    }

    /// Ends the file; the next rows begin another one.
    pub(super) fn end_file(&mut self) -> Result<()> {
        let Some(Open { writer, hidden, rows }) = self.open.take() else { return Ok(()) };
        let appender = writer.into_inner().map_err(|error| failed(&self.full(), error))?;
        let Appender { hasher, bytes, .. } = appender.synced()?;
        let path = format!("{}{}", self.folder, place::file_name(self.part, self.next));
        let full = self.layout.root.join(&path);
        hidden.persist_noclobber(&full).map_err(|error| Failure::file(&full, &error.error))?;
        self.whole.push(Entry { path, rows, bytes, crc32: hasher.finalize() });
        self.next += 1;
        Ok(())
    }

    /// Ends the last file and returns all. Even if the table is empty, there is a file that names its columns.
    pub(super) fn finish(mut self) -> Result<Vec<Entry>> {
        if self.part == 0 && self.next == 0 && self.layout.by.is_empty() {
            self.opened()?;
        }
        self.end_file()?;
        if !self.whole.is_empty() {
            sync(&self.full())?;
        }
        Ok(self.whole)
    }

    fn opened(&mut self) -> Result<&mut Open> {
        if self.open.is_none() {
            self.open = Some(self.begin_file()?);
        }
        self.open.as_mut().ok_or_else(|| Failure::other("a file is not open"))
    }

    /// The full path of the folder.
    fn full(&self) -> PathBuf {
        self.layout.root.join(&self.folder)
    }

    fn begin_file(&self) -> Result<Open> {
        if let Some(spellings) = &self.layout.spellings {
            spellings.add(&self.folder)?;
        }
        let folder = self.full();
        let failed = |error: io::Error| Failure::file(&folder, &error);
        fs::create_dir_all(&folder).map_err(failed)?;
        let prefix = format!(".{}.", place::file_name(self.part, self.next));
        let create = || -> io::Result<NamedTempFile> {
            let mut part = tempfile::Builder::new();
            files::as_new_file(&mut part);
            part.prefix(&prefix).suffix(".part").tempfile_in(&folder)
        };
        let (file, hidden) = interrupt::temporary(create).map_err(failed)?.into_parts();
        let appender = Appender {
            path: hidden.to_path_buf(),
            file: Some(BufWriter::with_capacity(BUFFER, file)),
            hasher: Hasher::new(),
            bytes: 0,
            all: Arc::clone(&self.layout.written),
        };
        let properties = Some(self.layout.properties.clone());
        let writer = ArrowWriter::try_new(appender, Arc::clone(&self.layout.schema), properties)?;
        Ok(Open { writer, hidden, rows: 0 })
    }
}

/// An error of the writer: that of the file system with the folder, if it is one.
fn failed(folder: &Path, error: ParquetError) -> Failure {
    let io = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    match io {
        Some(io) => Failure::file(folder, io),
        None => error.into(),
    }
}

/// Appends to a file, which need not be open all the time.
struct Appender {
    path: PathBuf,
    file: Option<BufWriter<File>>,
    hasher: Hasher,
    bytes: u64,
    /// Bytes of all files.
    all: Arc<AtomicU64>,
}

impl Appender {
    fn opened(&mut self) -> io::Result<&mut BufWriter<File>> {
        if self.file.is_none() {
            let file = File::options().append(true).open(&self.path)?;
            self.file = Some(BufWriter::with_capacity(BUFFER, file));
        }
        self.file.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn close(&mut self) -> io::Result<()> {
        match self.file.take() {
            Some(file) => file.into_inner().map(drop).map_err(io::IntoInnerError::into_error),
            None => Ok(()),
        }
    }

    /// Makes the contents survive a crash of the machine.
    fn synced(mut self) -> Result<Self> {
        let synced = self.opened().and_then(|file| {
            file.flush()?;
            file.get_ref().sync_data()
        });
        synced.map_err(|error| Failure::file(&self.path, &error))?;
        Ok(self)
    }
}

impl Write for Appender {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let written = self.opened()?.write(data)?;
        self.hasher.update(&data[..written]);
        self.bytes += written as u64;
        self.all.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

const BUFFER: usize = 64 << 10;
/// Bytes that the metadata of a column chunk takes in memory, roughly.
const COLUMN_METADATA: usize = 600;
