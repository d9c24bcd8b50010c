//! The manifest of a folder: what is copied, from which state of the data, and which files are whole.

use super::{MANIFEST, place};
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::platform::files;
use arrow::datatypes::{DataType, Field, Schema};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Read, Write};
use std::path::Path;

/// What a folder has. Written again, as a whole, whenever a part has become whole.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    /// Of the layout.
    pub(crate) version: u32,
    /// Whether every part is there.
    pub(crate) complete: bool,
    /// What is copied.
    pub(crate) copy: Copy,
    /// How the rows are divided into parts.
    pub(crate) pages: u32,
    /// The state of the data that all parts show; `None` if a later run cannot compare it.
    pub(crate) state: Option<State>,
    /// The parts that are whole.
    pub(crate) parts: Vec<Part>,
    /// The checksum of all this, with 0 in its place.
    pub(crate) crc32: u32,
}

/// What is copied. A later run continues the same copy only.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Copy {
    pub(crate) query: String,
    /// As they were given; `null` is NULL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) parameters: Vec<Option<String>>,
    pub(crate) dialect: u8,
    /// The switches of the type mapping that are not the default; and the user, the role and the time zone.
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) columns: Vec<Column>,
    pub(crate) partition_by: Vec<String>,
}

/// A column of the query, as Arrow has it.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Column {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) data_type: String,
    pub(crate) nullable: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) metadata: BTreeMap<String, String>,
}

/// A state of the data, by what a later snapshot can be compared with.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    /// The database's identity, and that of its file.
    pub(crate) database: String,
    /// The table, its number, that of its format, which changes when it is altered, and a checksum of its computed
    /// columns.
    pub(crate) table: String,
    /// Rows of transactions from this number on are newer than the snapshot …
    pub(crate) before: u64,
    /// … and so are rows of these, which had not ended.
    pub(crate) open: BTreeSet<u64>,
}

/// The rows of a range of pages.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    pub(crate) part: usize,
    pub(crate) rows: u64,
    pub(crate) files: Vec<Entry>,
}

/// A file that is whole.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// Below the folder, with slashes.
    pub(crate) path: String,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    pub(crate) crc32: u32,
}

impl Manifest {
    pub(crate) const VERSION: u32 = 1;

    /// Reads the manifest of a folder; `None` if there is none.
    ///
    /// # Errors
    /// It is a link, too long, malformed, or contradicts itself.
    pub(crate) fn read(root: &Path) -> Result<Option<Self>> {
        match root.join(MANIFEST).symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::file(&root.join(MANIFEST), &error)),
            Ok(_) => {}
        }
        let mut text = String::new();
        let read = place::open(root, MANIFEST)?.take(MOST_BYTES).read_to_string(&mut text);
        read.map_err(|error| Failure::file(&root.join(MANIFEST), &error))?;
        let wrong = |why: &str| {
            let path = root.join(MANIFEST);
            Failure::other(format!("{}: {why}; the file is damaged or was changed", path.display()))
        };
        let version =
            serde_json::from_str::<Version>(&text).map_err(|error| wrong(&error.to_string()))?.version;
        if version != Self::VERSION {
            let text = format!("version {version} of the manifest is unknown to this firearrow");
            return Err(Failure::other(format!("{}: {text}", root.join(MANIFEST).display())));
        }
        let manifest: Self = serde_json::from_str(&text).map_err(|error| wrong(&error.to_string()))?;
        if manifest.crc32 != manifest.checksum()? {
            return Err(wrong("its checksum differs"));
        }
        manifest.check().map_err(|why| wrong(&why))?;
        Ok(Some(manifest))
    }

    fn checksum(&self) -> Result<u32> {
        let text = serde_json::to_string(&Self { crc32: 0, ..self.clone() })?;
        Ok(crc32fast::hash(text.as_bytes()))
    }

    /// Says what cannot be, whoever has written it.
    fn check(&self) -> Result<(), String> {
        let (mut numbers, mut paths) = (BTreeSet::new(), BTreeSet::new());
        for Part { part, rows, files } in &self.parts {
            if !numbers.insert(part) {
                return Err(format!("part {part} stands there twice"));
            }
            for file in files {
                let path = &file.path;
                let name = path.rsplit('/').next().unwrap_or_default();
                if !place::is_written(path) || place::part_of(name) != Some(*part) {
                    return Err(format!("{path} is not a file of part {part}"));
                }
                if path.matches('/').count() != self.copy.partition_by.len() {
                    return Err(format!("{path} does not fit partition_by"));
                }
                if !paths.insert(path) {
                    return Err(format!("{path} stands there twice"));
                }
            }
            let sum = files.iter().try_fold(0_u64, |sum, file| sum.checked_add(file.rows));
            if sum != Some(*rows) {
                return Err(format!("the files of part {part} do not have its {rows} rows"));
            }
        }
        for name in &self.copy.partition_by {
            if self.copy.column(name).is_none() {
                return Err(format!("there is no column {name}"));
            }
        }
        if self.state.as_ref().is_some_and(|state| state.open.len() > MOST_OPEN) {
            return Err(format!("more than {MOST_OPEN} transactions are open"));
        }
        if self.complete && numbers.iter().copied().ne(&(0..numbers.len()).collect::<Vec<_>>()) {
            return Err("it is complete, but parts are missing".to_owned());
        }
        Ok(())
    }

    /// Replaces the manifest of a folder, which has either the old or the new one at any time.
    pub(crate) fn write(&self, root: &Path) -> Result<()> {
        let path = root.join(MANIFEST);
        let failed = |error: &io::Error| Failure::file(&path, error);
        let create = || {
            let prefix = format!(".{MANIFEST}.");
            let mut part = tempfile::Builder::new();
            files::as_new_file(&mut part);
            part.prefix(&prefix).suffix(".part").tempfile_in(root)
        };
        let mut file = interrupt::temporary(create).map_err(|error| failed(&error))?;
        let text = serde_json::to_string_pretty(&Self { crc32: self.checksum()?, ..self.clone() })? + "\n";
        file.write_all(text.as_bytes()).map_err(|error| failed(&error))?;
        file.as_file().sync_data().map_err(|error| failed(&error))?;
        file.persist(&path).map_err(|error| failed(&error.error))?;
        sync(root)
    }

    /// Returns all files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Entry> {
        self.parts.iter().flat_map(|part| &part.files)
    }
}

impl Copy {
    /// Returns a column by its name.
    pub(crate) fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

impl Column {
    /// Returns the columns of a schema.
    pub(crate) fn all(schema: &Schema) -> Vec<Self> {
        let column = |field: &Field| Self {
            name: field.name().clone(),
            data_type: field.data_type().to_string(),
            nullable: field.is_nullable(),
            metadata: field.metadata().iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
        };
        schema.fields().iter().map(|field| column(field)).collect()
    }

    /// Returns it as Arrow has it.
    pub(crate) fn field(&self) -> Result<Field> {
        let data_type: DataType = self.data_type.parse()?;
        let metadata: HashMap<String, String> = self.metadata.clone().into_iter().collect();
        Ok(Field::new(&self.name, data_type, self.nullable).with_metadata(metadata))
    }
}

/// Makes the names in a folder survive a crash of the machine.
pub(crate) fn sync(folder: &Path) -> Result<()> {
    files::sync_folder(folder).map_err(|error| Failure::file(folder, &error))
}

/// What every version has.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// Transactions that are listed: the engine takes 1,500 values in a list.
pub(crate) const MOST_OPEN: usize = 1000;
/// Bytes of a manifest: more than a million files.
const MOST_BYTES: u64 = 256 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::TimeUnit;
    use std::fs;

    fn manifest() -> Manifest {
        let entry = |path: &str, rows| Entry { path: path.to_owned(), rows, bytes: 7, crc32: 1 };
        let schema = Schema::new(vec![
            Field::new("A", DataType::Int32, false),
            Field::new("C", DataType::Utf8, true).with_metadata([("k".to_owned(), "v".to_owned())]),
        ]);
        Manifest {
            version: Manifest::VERSION,
            complete: false,
            copy: Copy {
                query: "SELECT * FROM T".to_owned(),
                parameters: vec![Some("1".into()), None],
                dialect: 3,
                options: BTreeMap::new(),
                columns: Column::all(&schema),
                partition_by: vec!["C".to_owned()],
            },
            pages: 100,
            state: Some(State { database: "x".into(), table: "T 1".into(), before: 9, open: [4].into() }),
            parts: vec![
                Part {
                    part: 0,
                    rows: 3,
                    files: vec![entry("C=a/part-00000.parquet", 1), entry("C=b/part-00000.parquet", 2)],
                },
                Part { part: 2, rows: 0, files: Vec::new() },
            ],
            crc32: 0,
        }
    }

    #[test]
    fn manifests_read_back() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Manifest::read(folder.path()).unwrap(), None);
        let mut manifest = manifest();
        manifest.write(folder.path()).unwrap();
        manifest.crc32 = manifest.checksum().unwrap();
        assert_eq!(Manifest::read(folder.path()).unwrap(), Some(manifest.clone()));
        manifest.parts.remove(1);
        manifest.complete = true;
        manifest.crc32 = manifest.checksum().unwrap();
        manifest.write(folder.path()).unwrap();
        assert_eq!(Manifest::read(folder.path()).unwrap(), Some(manifest));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(MANIFEST);
        let refused = |change: &dyn Fn(&mut Manifest), text: &str| {
            let mut manifest = manifest();
            change(&mut manifest);
            manifest.write(folder.path()).unwrap();
            let error = Manifest::read(folder.path()).unwrap_err().text(false);
            assert!(error.contains(text), "{text}: {error}");
        };
        for path in
            ["../part-00000.parquet", "/etc/passwd", "C=a/../part-00000.parquet", "C=a/part-00001.parquet"]
        {
            refused(&|manifest| manifest.parts[0].files[0].path = path.to_owned(), "is not a file of part 0");
        }
        refused(&|manifest| manifest.parts[0].files[0].path = "part-00000.parquet".into(), "does not fit");
        refused(&|manifest| manifest.parts[0].files[1].path = "C=a/part-00000.parquet".into(), "twice");
        refused(&|manifest| manifest.parts[0].rows = 4, "do not have its 4 rows");
        refused(&|manifest| manifest.parts[0].files[0].rows = u64::MAX, "do not have its 3 rows");
        refused(&|manifest| manifest.parts[1].part = 0, "part 0 stands there twice");
        refused(&|manifest| manifest.complete = true, "parts are missing");
        refused(&|manifest| manifest.copy.partition_by = vec!["D".into()], "there is no column D");
        refused(&|manifest| manifest.version = 2, "version 2 of the manifest is unknown");
        for text in ["", "{}", "[]", "{\"version\": 1}", "\u{0}"] {
            fs::write(&path, text).unwrap();
            assert!(
                Manifest::read(folder.path()).unwrap_err().text(false).contains("damaged or was changed")
            );
        }
        manifest().write(folder.path()).unwrap();
        let changed = fs::read_to_string(&path).unwrap().replace("\"pages\": 100", "\"pages\": 101");
        fs::write(&path, changed).unwrap();
        assert!(Manifest::read(folder.path()).unwrap_err().text(false).contains("its checksum differs"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_no_manifest() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join(MANIFEST)).unwrap();
        assert!(Manifest::read(folder.path()).unwrap_err().text(false).contains("symbolic link"));
    }

    #[test]
    fn types_read_back() {
        for data_type in [
            DataType::Boolean,
            DataType::Int16,
            DataType::Int64,
            DataType::Decimal128(38, 4),
            DataType::Utf8,
            DataType::LargeUtf8,
            DataType::Utf8View,
            DataType::Date32,
            DataType::Time64(TimeUnit::Microsecond),
            DataType::Timestamp(TimeUnit::Microsecond, None),
        ] {
            let schema = Schema::new(vec![Field::new("A", data_type, true)]);
            assert_eq!(&Column::all(&schema)[0].field().unwrap(), schema.field(0));
        }
    }
}
