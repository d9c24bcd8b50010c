//! Names of folders where the file system takes `C=DE` and `C=de` for the same.

use crate::failure::{Failure, Result};
use crate::folder::MANIFEST;
use crate::folder::manifest::Entry;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The folders of a copy by their names without letter case.
#[derive(Debug, Default)]
pub(super) struct Spellings {
    known: Mutex<HashMap<String, String>>,
}

impl Spellings {
    /// The folders of the files that are there, or `None` if the file system tells letter case apart. The manifest must exist.
    pub(super) fn of<'a>(root: &Path, files: impl Iterator<Item = &'a Entry>) -> Result<Option<Self>> {
        if !root.join(MANIFEST.to_uppercase()).exists() {
            return Ok(None);
        }
        let spellings = Self::default();
        for entry in files {
            spellings.add(entry.path.rsplit_once('/').map_or("", |(folder, _)| folder))?;
        }
        Ok(Some(spellings))
    }

    /// Takes a folder, and those that it is in.
    ///
    /// # Errors
    /// One of them has been there with another spelling: the rows of both would be in one folder, with one of the values.
    pub(super) fn add(&self, folder: &str) -> Result<()> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = folder.match_indices('/').map(|(end, _)| end).chain([folder.len()]);
        for outer in ends.map(|end| &folder[..end]) {
            let spelling = known.entry(outer.to_lowercase()).or_insert_with(|| outer.to_owned());
            if spelling != outer {
                return Err(Failure::other(format!(
                    "{outer} and {spelling} are the same folder on this file system; choose another column for \
                     --partition-by, or a file system that tells letter case apart"
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_spelling_is_refused() {
        let spellings = Spellings::default();
        for folder in ["C=DE/", "C=DE", "C=FR/D=x/", ""] {
            spellings.add(folder).unwrap();
        }
        let error = spellings.add("C=de/").unwrap_err().text(false);
        assert!(error.contains("C=de and C=DE are the same folder"), "{error}");
        spellings.add("C=FR/D=X").unwrap_err();
        // Others inside of it would be in the same folder, too.
        spellings.add("C=fr/D=y/").unwrap_err();
        spellings.add("C=FR/D=y/").unwrap();
    }

    #[test]
    fn files_that_are_there_have_folders() {
        let folder = tempfile::tempdir().unwrap();
        let entry = Entry { path: "C=DE/part-00000.parquet".into(), rows: 1, bytes: 1, crc32: 0 };
        std::fs::write(folder.path().join(MANIFEST), "").unwrap();
        let found = Spellings::of(folder.path(), [&entry].into_iter()).unwrap();
        assert_eq!(found.is_some(), cfg!(any(windows, target_vendor = "apple")));
        // As if this file system ignored letter case.
        std::fs::write(folder.path().join(MANIFEST.to_uppercase()), "").unwrap();
        let found = Spellings::of(folder.path(), [&entry].into_iter()).unwrap().unwrap();
        found.add("C=DE/").unwrap();
        found.add("C=de/").unwrap_err();
    }
}
