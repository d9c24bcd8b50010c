//! Parquet files, and Arrow files and streams.

use super::args::is_standard_input;
use super::input;
use super::source::{ENOUGH_BYTES, MOST_ROWS, Part, Source};
use crate::failure::{Failure, Result};
use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use arrow::ipc::reader::{FileReader, StreamReader};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub(super) struct Columnar {
    path: PathBuf,
    reader: Box<dyn RecordBatchReader + Send>,
    /// What is left of the last batch: long ones are cut, so that what waits stays small.
    rest: Option<RecordBatch>,
    done: u64,
    rows: Option<u64>,
    /// Of a stream: whether its bytes have ended. The mark of its end comes before that.
    is_cut: Arc<AtomicBool>,
}

impl Columnar {
    /// Opens a Parquet file.
    pub(super) fn parquet(path: &Path) -> Result<Self> {
        if is_standard_input(path) {
            return Err(Failure::usage(
                "Parquet must be read in any order, which standard input is not: name a file",
            ));
        }
        Self::parquet_file(path, input::file(path)?)
    }

    /// Reads a Parquet file that is open.
    pub(super) fn parquet_file(path: &Path, file: File) -> Result<Self> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file);
        let builder = builder.map_err(|error| unreadable(path, &error))?;
        let groups = builder.metadata().row_groups();
        let bytes: i64 = groups.iter().map(|group| group.total_byte_size()).sum();
        let rows = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
        let row_bytes = u64::try_from(bytes).unwrap_or(0) / rows.max(1) + 1;
        let batch_rows = usize::try_from(ENOUGH_BYTES as u64 / row_bytes).unwrap_or(MOST_ROWS);
        let reader = builder.with_batch_size(batch_rows.clamp(1, MOST_ROWS)).build();
        let reader = reader.map_err(|error| unreadable(path, &error))?;
        Ok(Self { rows: Some(rows), ..Self::new(path, Box::new(reader)) })
    }

    /// Opens an Arrow file or stream.
    pub(super) fn arrow(path: &Path, read: &Arc<AtomicU64>) -> Result<Self> {
        let is_regular = input::is_regular(path);
        // What is read here is read again from a file, and must not be counted twice.
        let counter = if is_regular { Arc::default() } else { Arc::clone(read) };
        let mut bytes = input::bytes(path, &counter)?;
        let begin = bytes.fill_buf().map_err(|error| Failure::file(path, &error))?;
        let reader: Box<dyn RecordBatchReader + Send> = match (begin.starts_with(MAGIC), is_regular) {
            (true, false) => {
                return Err(Failure::usage(
                    "an Arrow file must be read in any order, which a pipe is not: \
                     name the file, or write a stream",
                ));
            }
            (true, true) => {
                let file = input::seekable(path, read)?;
                Box::new(FileReader::try_new(file, None).map_err(|error| unreadable(path, &error))?)
            }
            (false, _) => {
                let bytes = if is_regular { input::bytes(path, read)? } else { bytes };
                let is_cut = Arc::<AtomicBool>::default();
                let bytes = Watched { bytes, is_over: Arc::clone(&is_cut) };
                let reader = StreamReader::try_new(bytes, None).map_err(|error| unreadable(path, &error))?;
                return Ok(Self { is_cut, ..Self::new(path, Box::new(reader)) });
            }
        };
        Ok(Self::new(path, reader))
    }

    fn new(path: &Path, reader: Box<dyn RecordBatchReader + Send>) -> Self {
        Self { path: path.to_owned(), reader, rest: None, done: 0, rows: None, is_cut: Arc::default() }
    }
}

impl Source for Columnar {
    fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }

    fn next(&mut self) -> Result<Option<Part>> {
        let batch = loop {
            let batch = match self.rest.take() {
                Some(batch) => batch,
                None => match self.reader.next() {
                    Some(batch) => batch.map_err(|error| unreadable(&self.path, &error))?,
                    // The reader takes the end of the bytes for the end of the stream.
                    None if self.is_cut.load(Ordering::Relaxed) => {
                        return Err(unreadable(
                            &self.path,
                            &"the stream is cut off: the mark of its end is missing",
                        ));
                    }
                    None => return Ok(None),
                },
            };
            if batch.num_rows() > 0 {
                break batch;
            }
        };
        let count = batch.num_rows().min(MOST_ROWS);
        if count < batch.num_rows() {
            self.rest = Some(batch.slice(count, batch.num_rows() - count));
        }
        let places = (self.done + 1..=self.done + count as u64).collect();
        self.done += count as u64;
        Ok(Some(Part { batch: batch.slice(0, count), places }))
    }

    fn rows(&self) -> Option<u64> {
        self.rows
    }
}

/// Notices the end of the bytes.
struct Watched<R> {
    bytes: R,
    is_over: Arc<AtomicBool>,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        if count == 0 && !buffer.is_empty() {
            self.is_over.store(true, Ordering::Relaxed);
        }
        Ok(count)
    }
}

fn unreadable(path: &Path, error: &dyn Display) -> Failure {
    let text = error.to_string();
    let hint = match text.contains("feature") {
        true => "; write the file with another compression: zstd, lz4, or in Parquet also snappy or gzip",
        false => "",
    };
    Failure::other(format!("{}: {text}{hint}", path.display()))
}

/// Arrow files begin with it, streams do not.
const MAGIC: &[u8] = b"ARROW1";
