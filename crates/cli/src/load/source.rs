//! Files as batches of rows.

use super::args::LoadArgs;
use super::columnar::Columnar;
use super::csv::Csv;
use super::folder::Folder;
use super::input::{self, is_regular};
use super::json::Json;
use super::skipped::Skipped;
use crate::failure::{Failure, Result};
use crate::output::{self, Format};
use arrow::array::{ArrayRef, RecordBatch, StringBuilder};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The rows of one file.
pub(super) trait Source: Send {
    /// Returns the columns, with the file's names.
    fn schema(&self) -> SchemaRef;

    /// Returns the next rows; `None` at the end.
    fn next(&mut self) -> Result<Option<Part>>;

    /// Returns the number of rows, if the file says so at its beginning.
    fn rows(&self) -> Option<u64> {
        None
    }
}

/// Some rows of a file.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) batch: RecordBatch,
    /// The line of each row in a text file, or its number in another, from 1 on.
    pub(super) places: Vec<u64>,
}

/// The format of the files.
pub(super) fn format(args: &LoadArgs, has_folder: bool) -> Result<Format> {
    if has_folder {
        args.check_format(Format::Parquet)?;
        return Ok(Format::Parquet);
    }
    let mut formats = args.files.iter().map(|file| {
        args.format.or_else(|| Format::of_path(file)).ok_or_else(|| {
            match super::args::is_standard_input(file) {
                true => Failure::usage("standard input needs --format"),
                // It may be meant as a folder.
                false if file.extension().is_none() && !file.exists() => {
                    Failure::usage(format!("{}: there is no such file or folder", file.display()))
                }
                // What is in it says more than what it is called.
                false => input::refused(file).unwrap_or_else(|| output::no_format(file)),
            }
        })
    });
    let first = formats.next().unwrap_or_else(|| Err(Failure::usage("name a file")))?;
    for other in formats {
        if other? != first {
            return Err(Failure::usage("the files have different formats: load them one after the other"));
        }
    }
    args.check_format(first)?;
    Ok(first)
}

/// How files are read.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) format: Format,
    pub(super) has_header: bool,
    pub(super) delimiter: u8,
    pub(super) null: String,
    pub(super) encoding: Option<&'static encoding_rs::Encoding>,
    pub(super) skipped: Skipped,
    /// Counts the bytes that were read.
    pub(super) read: Arc<AtomicU64>,
    /// The folder that the files are in, if one is loaded.
    pub(super) folder: Option<Arc<Folder>>,
    /// Whether only columns and numbers of rows are wanted.
    pub(super) is_glance: bool,
}

impl Reading {
    pub(super) fn new(args: &LoadArgs, format: Format, folder: Option<Arc<Folder>>) -> Self {
        Self {
            format,
            has_header: !args.no_header,
            delimiter: args.delimiter.unwrap_or(b','),
            null: args.null.clone().unwrap_or_default(),
            encoding: args.encoding,
            skipped: Skipped::new(&args.skip_columns),
            read: Arc::default(),
            folder,
            is_glance: false,
        }
    }

    /// Whether the files are text, of which each value is text as well.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.format, Format::Csv | Format::Json)
    }

    /// Where the columns of a file are that are loaded.
    fn columns(&self, file: &Schema, is_first: bool) -> Result<Vec<usize>> {
        match self.format {
            // It leaves them out itself: which ones there are is not known before the end.
            Format::Json => Ok((0..file.fields().len()).collect()),
            _ => self.skipped.others(file, is_first),
        }
    }

    /// Opens a file. Files after the first one have its columns, `given`.
    pub(super) fn open(&self, path: &Path, given: Option<&SchemaRef>) -> Result<Box<dyn Source>> {
        if let Some(folder) = &self.folder {
            return folder.source(path, self.is_glance);
        }
        Ok(match self.format {
            Format::Csv => Box::new(Csv::open(path, self)?),
            Format::Json => Box::new(Json::open(path, self, given)?),
            Format::Arrow => Box::new(Columnar::arrow(path, &self.read)?),
            Format::Parquet => Box::new(Columnar::parquet(path)?),
            Format::Table | Format::Expanded => {
                return Err(Failure::usage("a table for people cannot be loaded"));
            }
        })
    }
}

/// All files, one after the other.
pub(super) struct Files {
    reading: Reading,
    paths: std::vec::IntoIter<PathBuf>,
    schema: SchemaRef,
    open: Option<Open>,
    /// The first rows, which were looked at.
    ahead: Option<Part>,
}

/// A file that is being read.
struct Open {
    path: Arc<PathBuf>,
    source: Box<dyn Source>,
    /// Those of its columns that are loaded, in the order of the first file's; `None` = as they are.
    order: Option<Vec<usize>>,
}

impl Open {
    fn next(&mut self) -> Result<Option<Part>> {
        let (Some(part), order) = (self.source.next()?, &self.order) else { return Ok(None) };
        Ok(Some(match order {
            Some(order) => Part { batch: part.batch.project(order)?, ..part },
            None => part,
        }))
    }
}

impl Files {
    /// Whether they are CSV.
    pub(super) fn is_csv(&self) -> bool {
        self.reading.format == Format::Csv
    }

    /// Opens the first file and reads its first rows.
    pub(super) fn open(reading: Reading, paths: Vec<PathBuf>) -> Result<Self> {
        let mut paths = paths.into_iter();
        let first = paths.next().ok_or_else(|| Failure::usage("name a file"))?;
        let source = reading.open(&first, None)?;
        let found = source.schema();
        let columns = reading.columns(&found, true)?;
        let schema = Arc::new(found.project(&columns)?);
        let mut open = Open { path: Arc::new(first), source, order: reordering(&found, columns) };
        let ahead = open.next()?;
        Ok(Self { reading, paths, schema, open: Some(open), ahead })
    }

    /// Fails unless the other files have the same columns. Returns the number of rows of all, if they tell it.
    pub(super) fn check(&self) -> Result<Option<u64>> {
        let mut rows = self.open.as_ref().and_then(|open| open.source.rows());
        // Only the files that are loaded count.
        let reading = Reading { read: Arc::default(), is_glance: true, ..self.reading.clone() };
        for path in self.paths.as_slice() {
            if !is_regular(path) {
                // A pipe can be read only once: its columns are seen when it is loaded.
                rows = None;
                continue;
            }
            let source = reading.open(path, Some(&self.schema))?;
            self.order(path, &source.schema())?;
            rows = rows.zip(source.rows()).map(|(rows, more)| rows + more);
        }
        Ok(rows)
    }

    /// Whether they are text, of which each value is text as well.
    pub(super) fn is_text(&self) -> bool {
        self.reading.is_text()
    }

    /// What a row is called.
    pub(super) fn unit(&self) -> &'static str {
        if self.reading.is_text() { "line" } else { "row" }
    }

    /// Returns the columns of the first file.
    pub(super) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Returns the first rows; `None` if the first file has none.
    pub(super) fn ahead(&self) -> Option<&RecordBatch> {
        self.ahead.as_ref().map(|part| &part.batch)
    }

    /// Returns the next rows and their file; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(Arc<PathBuf>, Part)>> {
        loop {
            if self.open.is_none() {
                let Some(path) = self.paths.next() else { return Ok(None) };
                let source = self.reading.open(&path, Some(&self.schema))?;
                let order = self.order(&path, &source.schema())?;
                self.open = Some(Open { path: Arc::new(path), source, order });
            }
            let Some(open) = &mut self.open else { return Ok(None) };
            let part = match self.ahead.take() {
                Some(part) => Some(part),
                None => open.next()?,
            };
            let Some(part) = part else {
                self.open = None;
                continue;
            };
            return Ok(Some((Arc::clone(&open.path), part)));
        }
    }

    /// Returns where the columns of the first file are in this one; `None` if that is where they are in the first.
    fn order(&self, path: &Path, schema: &Schema) -> Result<Option<Vec<usize>>> {
        let differ = |what: String| {
            let name = path.display();
            Failure::other(format!("{name}: the files must have the same columns, but {what}"))
        };
        let columns = self.reading.columns(schema, false)?;
        let name = |index: &usize| schema.field(*index).name();
        for (place, index) in columns.iter().enumerate() {
            if columns[..place].iter().any(|before| name(before) == name(index)) {
                return Err(differ(format!("this one has two columns {}", name(index))));
            }
            if self.schema.index_of(name(index)).is_err() {
                return Err(differ(format!("only this one has {}", name(index))));
            }
        }
        let mut order = Vec::with_capacity(columns.len());
        for field in self.schema.fields() {
            let index = columns.iter().find(|index| name(index) == field.name());
            let index = *index.ok_or_else(|| differ(format!("this one has no {}", field.name())))?;
            let (here, first) = (schema.field(index).data_type(), field.data_type());
            if here != first {
                return Err(differ(format!("{} is {here} here and {first} in the first", field.name())));
            }
            order.push(index);
        }
        Ok(reordering(schema, order))
    }
}

/// What has to be done to get these columns of a file; `None` if nothing.
fn reordering(file: &Schema, columns: Vec<usize>) -> Option<Vec<usize>> {
    (!columns.iter().copied().eq(0..file.fields().len())).then_some(columns)
}

/// Names a row of a file: `sales.csv, line 7`.
pub(super) fn place(unit: &str, file: &Path, number: u64) -> String {
    format!("{}, {unit} {number}", file.display())
}

/// Makes a part of rows of texts.
pub(super) struct Texts {
    schema: SchemaRef,
    columns: Vec<StringBuilder>,
    places: Vec<u64>,
    bytes: usize,
}

impl Texts {
    pub(super) fn new(schema: &SchemaRef) -> Self {
        let columns = schema.fields().iter().map(|_| StringBuilder::new()).collect();
        Self { schema: Arc::clone(schema), columns, places: Vec::new(), bytes: 0 }
    }

    /// Adds a row of this line.
    pub(super) fn push<'a>(&mut self, line: u64, values: impl Iterator<Item = Option<&'a str>>) {
        for (column, value) in self.columns.iter_mut().zip(values) {
            self.bytes += value.map_or(0, str::len);
            column.append_option(value);
        }
        self.places.push(line);
    }

    /// Whether that is enough for one batch.
    pub(super) fn is_full(&self) -> bool {
        self.places.len() >= MOST_ROWS || self.bytes >= ENOUGH_BYTES
    }

    /// Returns the rows; `None` if there are none.
    pub(super) fn finish(mut self) -> Result<Option<Part>> {
        if self.places.is_empty() {
            return Ok(None);
        }
        let columns: Vec<ArrayRef> =
            self.columns.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef).collect();
        let batch = RecordBatch::try_new(self.schema, columns)?;
        Ok(Some(Part { batch, places: self.places }))
    }
}

/// Columns of text with these names.
pub(super) fn texts<'a>(names: impl Iterator<Item = &'a str>) -> SchemaRef {
    Arc::new(Schema::new(names.map(|name| Field::new(name, DataType::Utf8, true)).collect::<Vec<_>>()))
}

/// Rows of a batch.
pub(super) const MOST_ROWS: usize = 8192;
/// Bytes of a batch, roughly.
pub(super) const ENOUGH_BYTES: usize = 4 << 20;
