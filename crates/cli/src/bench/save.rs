//! Figures kept: every repetition as it was, and the report drawn from them.

use super::machine::Environment;
use super::measure::Run;
use super::report::{self, Measured};
use crate::failure::{Failure, Result};
use serde_json::json;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Writes `DIR/DATE-MACHINE/{raw.jsonl,report.md}` and gives the folder. Earlier runs of the day are left alone.
pub(crate) fn write(folder: &Path, environment: &Environment, all: &[Measured]) -> Result<PathBuf> {
    let folder = fresh(folder, &environment.folder()).map_err(|error| Failure::file(folder, &error))?;
    let mut raw = json!({ "environment": environment }).to_string() + "\n";
    for measured in all {
        let mut add = |loop_: &str, runs: &[Run]| -> Result<()> {
            for (index, run) in runs.iter().enumerate() {
                let mut line = serde_json::to_value(run)?;
                line["table"] = measured.name.as_str().into();
                line["loop"] = loop_.into();
                line["repetition"] = (index + 1).into();
                raw += &(line.to_string() + "\n");
            }
            Ok(())
        };
        add("ours", &measured.ours)?;
        add("reference", &measured.reference)?;
    }
    for (name, text) in [("raw.jsonl", raw), ("report.md", report::markdown(environment, all))] {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| Failure::file(&path, &error))?;
    }
    Ok(folder)
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
