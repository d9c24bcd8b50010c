//! Saves figures: every single repetition, and the report made from them.

use crate::error::{Error, Result};
use serde::Serialize;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Writes `FOLDER/NAME/raw.jsonl`, one line per value, and `FOLDER/NAME/report.md`; returns the path of the new folder.
/// Earlier runs of that name stay: the new one gets a number.
///
/// # Errors
/// [`Error::Other`] that names the file or folder that cannot be written.
pub fn write(folder: &Path, name: &str, raw: &[Value], report: &str) -> Result<PathBuf> {
    let folder = fresh(folder, name).map_err(|error| Error::file(folder, &error))?;
    let raw: String = raw.iter().map(|line| format!("{line}\n")).collect();
    for (name, text) in [("raw.jsonl", raw.as_str()), ("report.md", report)] {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| Error::file(&path, &error))?;
    }
    Ok(folder)
}

/// Makes a line for each repetition: its serialized fields, some labels, and its number, counted from 1.
///
/// # Errors
/// If a repetition does not serialize to an object.
pub fn repetitions<R: Serialize>(runs: &[R], labels: &[(&str, &str)]) -> Result<Vec<Value>> {
    let line = |(index, run): (usize, &R)| {
        let Value::Object(mut line) = serde_json::to_value(run)? else {
            return Err(Error::other("a repetition is not an object"));
        };
        line.extend(labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())));
        line.insert("repetition".to_owned(), (index + 1).into());
        Ok(Value::Object(line))
    };
    runs.iter().enumerate().map(line).collect()
}

fn fresh(parent: &Path, name: &str) -> io::Result<PathBuf> {
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
