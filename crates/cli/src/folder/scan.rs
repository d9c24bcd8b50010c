//! What is in a folder.

use super::{LOCK, MANIFEST, SUCCESS, hive, place};
use crate::failure::{Failure, Result};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// What is in a folder, apart from the manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scan {
    pub(crate) has_manifest: bool,
    pub(crate) is_success: bool,
    /// Files of parts, below the folder and in order.
    pub(crate) parts: Vec<String>,
    /// What killed copies have left.
    pub(crate) temporary: Vec<String>,
    /// Folders of values; those inside others come later.
    pub(crate) folders: Vec<String>,
    /// Other files with rows.
    pub(crate) data: Vec<String>,
    /// Files and folders that no copy writes, except those with hidden names.
    pub(crate) others: Vec<String>,
    /// Hidden files and folders, which readers skip.
    pub(crate) hidden: Vec<String>,
}

impl Scan {
    /// Looks into a folder.
    ///
    /// # Errors
    /// There is a symbolic link inside; those of the file system.
    pub(crate) fn of(root: &Path) -> Result<Self> {
        let mut scan = Self::default();
        scan.enter(root, "", 0)?;
        for names in [&mut scan.parts, &mut scan.data, &mut scan.others] {
            names.sort_unstable();
        }
        Ok(scan)
    }

    fn enter(&mut self, folder: &Path, prefix: &str, depth: usize) -> Result<()> {
        let failed = |error: &std::io::Error| Failure::file(folder, error);
        let mut entries: Vec<(PathBuf, bool)> = Vec::new();
        for entry in fs::read_dir(folder).map_err(|error| failed(&error))? {
            let entry = entry.map_err(|error| failed(&error))?;
            let kind = entry.file_type().map_err(|error| failed(&error))?;
            if kind.is_symlink() {
                return Err(place::link(&entry.path()));
            }
            if !kind.is_dir() && !kind.is_file() {
                return Err(Failure::other(format!("{} is not a file", entry.path().display())));
            }
            entries.push((entry.path(), kind.is_dir()));
        }
        for (path, is_folder) in entries {
            let name = path
                .file_name()
                .and_then(OsStr::to_str)
                .ok_or_else(|| Failure::other(format!("{}: the name is not UTF-8", path.display())))?;
            let full = format!("{prefix}{name}");
            match (is_folder, name) {
                (false, MANIFEST) if depth == 0 => self.has_manifest = true,
                (false, SUCCESS) if depth == 0 => self.is_success = true,
                (false, LOCK) if depth == 0 => {}
                (false, _) if place::is_temporary(name) => self.temporary.push(full),
                _ if name.starts_with(['_', '.']) => self.hidden.push(full),
                (false, _) if place::part_of(name).is_some() => self.parts.push(full),
                (false, _) if name.ends_with(".parquet") || name.ends_with(".pq") => self.data.push(full),
                (true, _) if hive::split(name).is_some() && depth < DEEPEST => {
                    self.folders.push(full.clone());
                    self.enter(&path, &format!("{full}/"), depth + 1)?;
                }
                _ => self.others.push(full),
            }
        }
        Ok(())
    }

    /// Whether nothing is there.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns something that no copy has written.
    pub(crate) fn stranger(&self) -> Option<&String> {
        self.others.first().or(self.data.first()).or(self.hidden.first())
    }
}

/// Folders inside of each other.
const DEEPEST: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert!(Scan::of(root).unwrap().is_empty());
        fs::create_dir_all(root.join("A=1/B=2")).unwrap();
        fs::create_dir(root.join("_temporary")).unwrap();
        for name in [
            MANIFEST,
            SUCCESS,
            "A=1/B=2/part-00001.parquet",
            "A=1/B=2/data_0.parquet",
            "A=1/B=2/.part-00001.parquet.abcdef.part",
            "part-00000.parquet",
            "notes.txt",
            ".part-00000.parquet.crc",
        ] {
            fs::write(root.join(name), "").unwrap();
        }
        let mut scan = Scan::of(root).unwrap();
        scan.hidden.sort();
        let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let expected = Scan {
            has_manifest: true,
            is_success: true,
            parts: texts(&["A=1/B=2/part-00001.parquet", "part-00000.parquet"]),
            temporary: texts(&["A=1/B=2/.part-00001.parquet.abcdef.part"]),
            folders: texts(&["A=1", "A=1/B=2"]),
            data: texts(&["A=1/B=2/data_0.parquet"]),
            others: texts(&["notes.txt"]),
            hidden: texts(&[".part-00000.parquet.crc", "_temporary"]),
        };
        assert_eq!(scan, expected);
        assert_eq!(scan.stranger().map(String::as_str), Some("notes.txt"));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc", folder.path().join("link")).unwrap();
        assert!(Scan::of(folder.path()).unwrap_err().text(false).contains("symbolic link"));
    }
}
