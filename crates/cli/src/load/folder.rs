//! A folder of Parquet files: what `copy` has written, or another program.

use super::columnar::Columnar;
use super::source::{Part, Source};
use crate::failure::{Failure, Result};
use crate::folder::manifest::Entry;
use crate::folder::scan::Scan;
use crate::folder::{MANIFEST, Manifest, SUCCESS, check, hive, place};
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{FieldRef, Schema, SchemaRef};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files to load, and the columns that their folders are named after.
#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
    /// By their full path, in order.
    files: BTreeMap<PathBuf, Member>,
    /// The columns that folders are named after.
    by: Vec<FieldRef>,
    /// The manifest's columns, if there is one.
    columns: Option<SchemaRef>,
}

/// A file of the folder.
#[derive(Debug)]
struct Member {
    /// Below the folder.
    path: String,
    /// The values of the columns that folders are named after; `None` is NULL.
    values: Vec<Option<String>>,
    /// What the manifest says of it.
    entry: Option<Entry>,
}

impl Folder {
    /// Looks into a folder.
    ///
    /// # Errors
    /// It is not complete, unless `incomplete`; there are links, or files that do not belong to it.
    pub(super) fn open(path: &Path, incomplete: bool) -> Result<Self> {
        let root = dunce::canonicalize(path).map_err(|error| Failure::file(path, &error))?;
        let scan = Scan::of(&root)?;
        let name = path.display();
        let refused = |what: String| Err(Failure::other(format!("{name} {what}")));
        if let Some(other) = scan.others.first() {
            let text = "which is neither a Parquet file nor a folder named after a value";
            return refused(format!("has {other}, {text}"));
        }
        match Manifest::read(&root)? {
            Some(manifest) if !manifest.complete && !incomplete => refused(
                "is not complete: firearrow copy --resume completes it, --incomplete loads what is there"
                    .to_owned(),
            ),
            Some(manifest) => {
                let known: BTreeSet<&String> = manifest.files().map(|entry| &entry.path).collect();
                let unknown = scan.parts.iter().filter(|_| manifest.complete).chain(&scan.data);
                if let Some(unknown) = unknown.clone().find(|path| !known.contains(path)) {
                    return refused(format!(
                        "has {unknown}, which is not in {MANIFEST}: remove it, or load it by itself"
                    ));
                }
                Self::of_manifest(root, &manifest)
            }
            None if !scan.is_success && !incomplete => refused(format!(
                "has neither {MANIFEST} nor {SUCCESS}, which would say that it is complete; --incomplete loads what is there"
            )),
            None => Self::of_names(root, scan.parts.into_iter().chain(scan.data).collect()),
        }
    }

    fn of_manifest(root: PathBuf, manifest: &Manifest) -> Result<Self> {
        let fields = manifest.copy.columns.iter().map(|column| Ok(Arc::new(column.field()?)));
        let fields = fields.collect::<Result<Vec<FieldRef>>>()?;
        let schema = Schema::new(fields);
        let names = &manifest.copy.partition_by;
        let by = names.iter().map(|name| Ok(Arc::new(schema.field_with_name(name)?.clone())));
        let by = by.collect::<Result<Vec<FieldRef>>>()?;
        let mut files = BTreeMap::new();
        for entry in manifest.files() {
            let values = values(&entry.path, names)?;
            let member = Member { path: entry.path.clone(), values, entry: Some(entry.clone()) };
            files.insert(root.join(&entry.path), member);
        }
        Ok(Self { root, files, by, columns: Some(Arc::new(schema)) })
    }

    /// Without a manifest: columns and values by the names of folders, types by the values.
    fn of_names(root: PathBuf, mut paths: Vec<String>) -> Result<Self> {
        paths.sort_unstable();
        let Some(first) = paths.first() else {
            return Err(Failure::other(format!("{} has no Parquet files", root.display())));
        };
        let names = folders(first).map(|(column, _)| column).collect::<Vec<_>>();
        let mut files = BTreeMap::new();
        for path in paths {
            let values = values(&path, &names)?;
            files.insert(root.join(&path), Member { path, values, entry: None });
        }
        let fields = names.iter().enumerate().map(|(index, name)| {
            let texts = files.values().filter_map(|member| member.values.get(index)?.as_deref());
            Arc::new(arrow::datatypes::Field::new(name, hive::infer(texts), true))
        });
        let by = fields.collect();
        Ok(Self { root, files, by, columns: None })
    }

    /// Returns the files in order. A copy of no rows may have none: then it is the folder that is read.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        match self.files.is_empty() {
            true => vec![self.root.clone()],
            false => self.files.keys().cloned().collect(),
        }
    }

    /// Opens a file. Its checksum is compared, except at a glance.
    pub(super) fn source(&self, path: &Path, is_glance: bool) -> Result<Box<dyn Source>> {
        let Some(member) = self.files.get(path) else {
            return Ok(Box::new(Empty(self.columns.clone().unwrap_or_else(|| Arc::new(Schema::empty())))));
        };
        let file = match &member.entry {
            Some(entry) if is_glance => check::glance(&self.root, entry)?,
            Some(entry) => check::open(&self.root, entry)?,
            None => place::open(&self.root, &member.path)?,
        };
        let inner = Columnar::parquet_file(path, file)?;
        if self.by.is_empty() {
            return Ok(Box::new(inner));
        }
        Ok(Box::new(Completed::new(inner, self, member)?))
    }
}

/// The columns and values of the folders that a file is in.
fn folders(path: &str) -> impl Iterator<Item = (String, Option<String>)> + '_ {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders.split('/').filter_map(hive::split)
}

/// The values of a file in these columns, which all files have.
fn values(path: &str, names: &[String]) -> Result<Vec<Option<String>>> {
    let (columns, values): (Vec<String>, Vec<_>) = folders(path).unzip();
    if columns != names {
        let expected = if names.is_empty() { "no folders with values".to_owned() } else { names.join(", ") };
        return Err(Failure::other(format!(
            "{path}: its folders name {columns:?}, where others name {expected}"
        )));
    }
    Ok(values)
}

/// A file with the columns that its folders are named after.
struct Completed {
    inner: Columnar,
    schema: SchemaRef,
    columns: Vec<Origin>,
}

/// Where the values of a column come from.
enum Origin {
    File(usize),
    /// The same in each row.
    Folder(ArrayRef),
}

impl Completed {
    fn new(inner: Columnar, folder: &Folder, member: &Member) -> Result<Self> {
        let file = inner.schema();
        let mut by = BTreeMap::new();
        for (field, value) in folder.by.iter().zip(&member.values) {
            // Some programs write the column into the files as well.
            if file.index_of(field.name()).is_err() {
                let value = hive::value(value.as_deref(), field.data_type());
                let value = value.map_err(|failure| Failure::At(member.path.clone(), Box::new(failure)))?;
                by.insert(field.name().as_str(), (field, value));
            }
        }
        let mut names: Vec<&str> = file.fields().iter().map(|field| field.name().as_str()).collect();
        let added = folder.by.iter().map(|field| field.name().as_str()).filter(|name| by.contains_key(name));
        names.extend(added);
        if let Some(columns) = &folder.columns {
            let place = |name: &&str| columns.index_of(name).unwrap_or(usize::MAX);
            names.sort_by_key(place);
        }
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        for name in names {
            match by.get(name) {
                Some((field, value)) => {
                    fields.push(Arc::clone(field));
                    columns.push(Origin::Folder(Arc::clone(value)));
                }
                None => {
                    let index = file.index_of(name)?;
                    fields.push(Arc::clone(&file.fields()[index]));
                    columns.push(Origin::File(index));
                }
            }
        }
        Ok(Self { inner, schema: Arc::new(Schema::new(fields)), columns })
    }
}

impl Source for Completed {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn next(&mut self) -> Result<Option<Part>> {
        let Some(Part { batch, places }) = self.inner.next()? else { return Ok(None) };
        let columns = self.columns.iter().map(|column| match column {
            Origin::File(index) => Ok(Arc::clone(batch.column(*index))),
            Origin::Folder(value) => hive::repeated(value, batch.num_rows()),
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        Ok(Some(Part { batch, places }))
    }

    fn rows(&self) -> Option<u64> {
        self.inner.rows()
    }
}

/// Columns without rows.
struct Empty(SchemaRef);

impl Source for Empty {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.0)
    }

    fn next(&mut self) -> Result<Option<Part>> {
        Ok(None)
    }

    fn rows(&self) -> Option<u64> {
        Some(0)
    }
}
