//! Figures kept: every repetition as it was, and the report drawn from them.

use crate::failure::{Failure, Result};
use serde::Serialize;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Writes `DIR/NAME/{raw.jsonl,report.md}` and gives the folder. Earlier runs of that name are left alone.
pub(crate) fn write(folder: &Path, name: &str, raw: &[Value], report: &str) -> Result<PathBuf> {
    let folder = fresh(folder, name).map_err(|error| Failure::file(folder, &error))?;
    let raw: String = raw.iter().map(|line| format!("{line}\n")).collect();
    for (name, text) in [("raw.jsonl", raw.as_str()), ("report.md", report)] {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| Failure::file(&path, &error))?;
    }
    Ok(folder)
}

/// A line for each repetition, with its number and some labels.
pub(crate) fn repetitions<R: Serialize>(runs: &[R], labels: &[(&str, &str)]) -> Result<Vec<Value>> {
    let line = |(index, run): (usize, &R)| {
        let mut line = serde_json::to_value(run)?;
        for (name, value) in labels {
            line[*name] = (*value).into();
        }
        line["repetition"] = (index + 1).into();
        Ok(line)
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
    Err(io::Error::other("too many runs of this day"))
}
