//! The driver, loaded by Python's driver manager.

use crate::error::Result;
use crate::host::Host;
use crate::sample::Sample;
use crate::subprocess::{Limits, Subprocess};
use crate::{plausible, python};
use firearrow::config::{Config, Password};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Each turn is a process; importing modules and connecting are not timed.
const SCRIPT: &str = include_str!("drain.py");

/// A Python with adbc_driver_manager and pyarrow.
#[derive(Debug)]
pub(super) struct Python {
    program: PathBuf,
    library: PathBuf,
    url: String,
    /// It must not appear in what the driver says.
    password: Option<Password>,
}

#[derive(Clone, Copy, Deserialize)]
struct Line {
    rows: u64,
    wall_s: f64,
    cpu_s: f64,
}

impl Python {
    pub(super) fn new(program: &Path, library: &Path, url: &str, config: &Config) -> Self {
        Self {
            program: program.into(),
            library: library.into(),
            url: url.into(),
            password: config.password.clone(),
        }
    }

    /// Reads all rows once.
    pub(super) fn drain(&self, host: &dyn Host, sql: &str) -> Result<Sample> {
        let program = self.program.display();
        let mut command = Command::new(&self.program);
        command.args(python::script(SCRIPT)).arg(&self.library).arg(sql);
        // Other users can read arguments, and the URL may contain a password.
        command.env("FIREARROW_BENCH_URL", &self.url);
        let password = self.password.as_ref().map_or("", |password| password.reveal());
        let drained =
            Subprocess::once(host, command, Limits::default(), password).and_then(|(line, seen)| {
                let Line { rows, wall_s, cpu_s } = line;
                plausible::phases(seen, [wall_s])?;
                plausible::processor_time(seen, cpu_s)?;
                plausible::rows(rows, wall_s)?;
                Ok(line)
            });
        let Line { rows, wall_s, cpu_s } = drained.map_err(|error| error.of(&program.to_string()))?;
        Ok(Sample { rows, wall_s, cpu_s: Some(cpu_s), ..Sample::default() })
    }
}
