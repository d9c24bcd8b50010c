//! Saves records, and the reports made from them.

use crate::error::{Error, Result};
use firearrow_report::Record;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Writes `FOLDER/NAME/raw.jsonl`, the record, and `FOLDER/NAME/report.md`; returns the path of the new folder.
/// Earlier runs of that name stay: the new one gets a number.
///
/// # Errors
/// [`Error::Other`] that names the file or folder that cannot be written.
pub fn write(folder: &Path, name: &str, record: &Record, report: &str) -> Result<PathBuf> {
    let folder = fresh(folder, name)?;
    update(&folder, record, report)?;
    Ok(folder)
}

/// Writes both files again, of a run that has come further.
///
/// # Errors
/// As [`write()`].
pub fn update(folder: &Path, record: &Record, report: &str) -> Result<()> {
    for (name, text) in [("raw.jsonl", record.text().as_str()), ("report.md", report)] {
        let path = folder.join(name);
        // Whoever is killed while it writes leaves the earlier file.
        let part = folder.join(format!("{name}.part"));
        fs::write(&part, text)
            .and_then(|()| fs::rename(&part, &path))
            .map_err(|error| Error::file(&path, &error))?;
    }
    Ok(())
}

/// Makes an empty folder of this name, with a number if there is one already.
///
/// # Errors
/// As [`write()`].
pub fn fresh(parent: &Path, name: &str) -> Result<PathBuf> {
    make(parent, name).map_err(|error| Error::file(parent, &error))
}

fn make(parent: &Path, name: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(parent)?;
    for number in 1..1000 {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let folder = parent.join(format!("{name}{suffix}"));
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created.map(|()| folder),
        }
    }
    Err(io::Error::other("too many runs on this day"))
}
