//! The rows of a part on their way to its files.

use super::args::CopyArgs;
use super::rolling::Rolling;
use super::spellings::Spellings;
use super::spread::Spread;
use crate::failure::{Failure, Result};
use crate::folder::hive;
use crate::folder::manifest::Entry;
use crate::output::parquet_properties;
use arrow::array::RecordBatch;
use arrow::datatypes::{FieldRef, SchemaRef};
use parquet::file::properties::WriterProperties;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// How all parts are written.
pub(super) struct Layout {
    pub(super) root: PathBuf,
    /// The columns in the files.
    pub(super) schema: SchemaRef,
    /// Which columns of the query these are.
    pub(super) kept: Vec<usize>,
    /// The columns that folders are named after, and which columns of the query they are.
    pub(super) by: Vec<(usize, FieldRef)>,
    pub(super) properties: WriterProperties,
    /// Bytes after which another file begins.
    pub(super) file_size: u64,
    /// Bytes that one writer may hold.
    pub(super) memory: usize,
    /// Bytes written so far.
    pub(super) written: Arc<AtomicU64>,
    /// Of the folders, if the file system ignores letter case.
    pub(super) spellings: Option<Spellings>,
}

impl Layout {
    /// For so many parts at once. Names of columns are matched exactly, otherwise ignoring letter case.
    pub(super) fn new(args: &CopyArgs, root: &Path, query: &SchemaRef, writers: usize) -> Result<Self> {
        let mut by: Vec<(usize, FieldRef)> = Vec::new();
        for wanted in &args.partition_by {
            let (index, field) = column(query, wanted.trim())?;
            hive::check_type(&field)?;
            if by.iter().any(|(other, _)| *other == index) {
                return Err(Failure::usage(format!("--partition-by names {} twice", field.name())));
            }
            by.push((index, field));
        }
        let columns = query.fields().len();
        let kept: Vec<usize> =
            (0..columns).filter(|index| by.iter().all(|(other, _)| other != index)).collect();
        if kept.is_empty() {
            return Err(Failure::usage("--partition-by names every column; one must be left for the files"));
        }
        Ok(Self {
            root: root.to_owned(),
            schema: Arc::new(query.project(&kept)?),
            kept,
            by,
            properties: parquet_properties(args.compression.unwrap_or_default()),
            file_size: args.file_size.unwrap_or(FILE_SIZE),
            memory: (MEMORY / writers.max(1)).clamp(LEAST_MEMORY, MOST_MEMORY),
            written: Arc::default(),
            spellings: None,
        })
    }

    /// Returns the names of the columns that folders are named after.
    pub(super) fn partition_by(&self) -> Vec<String> {
        self.by.iter().map(|(_, field)| field.name().clone()).collect()
    }
}

fn column(schema: &SchemaRef, wanted: &str) -> Result<(usize, FieldRef)> {
    let fields = || schema.fields().iter().enumerate();
    let found = |same: &dyn Fn(&str) -> bool| {
        let mut found = fields().filter(|(_, field)| same(field.name()));
        found.next().filter(|_| found.next().is_none())
    };
    let found = found(&|name| name == wanted).or_else(|| found(&|name| name.eq_ignore_ascii_case(wanted)));
    found.map(|(index, field)| (index, Arc::clone(field))).ok_or_else(|| {
        let names = fields().map(|(_, field)| field.name().as_str()).collect::<Vec<_>>().join(", ");
        Failure::usage(format!("--partition-by {wanted}: the columns are {names}"))
    })
}

/// Writes one part.
pub(super) enum PartWriter<'a> {
    Plain(Box<Rolling<'a>>),
    Spread(Box<Spread<'a>>),
}

impl<'a> PartWriter<'a> {
    pub(super) fn new(layout: &'a Layout, part: usize) -> Result<Self> {
        Ok(match layout.by.is_empty() {
            true => Self::Plain(Box::new(Rolling::new(layout, part, String::new()))),
            false => Self::Spread(Box::new(Spread::new(layout, part)?)),
        })
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::Plain(files) => files.write(batch),
            Self::Spread(files) => files.write(batch),
        }
    }

    /// Makes the part whole.
    pub(super) fn finish(self) -> Result<Vec<Entry>> {
        match self {
            Self::Plain(files) => files.finish(),
            Self::Spread(files) => files.finish(),
        }
    }
}

/// The size of files unless the user says otherwise.
pub(super) const FILE_SIZE: u64 = 128 << 20;
/// Bytes that all writers together hold.
const MEMORY: usize = 64 << 20;
const LEAST_MEMORY: usize = 2 << 20;
const MOST_MEMORY: usize = 32 << 20;
