//! Measures reading whole tables and queries, phase by phase.
//!
//! Rows and checksums are verified before anything is timed. Firearrow and the reference take turns.

use super::machine::Environment;
use super::measure::{self, Plan, Run};
use super::record::{self, Ending};
use super::reference::{Blobs, Reference, ReferenceChoice};
use super::verify::Shape;
use super::{report, save, verify};
use crate::error::{Error, Result};
use crate::host::Host;
use firearrow::BatchLimits;
use firearrow::config::Config;
use firearrow_report::Record;
use serde_json::Value;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

pub use super::report::Measured;

/// How to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// Measured repetitions.
    pub repetitions: NonZeroUsize,
    /// Maximum rows per batch; `None` = the client's default.
    pub batch_rows: Option<NonZeroUsize>,
    /// Whether to sum the bytes of all values while reading.
    pub consume: bool,
    /// What to compare with.
    pub reference: ReferenceChoice,
}

/// The table or query to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    name: String,
    sql: String,
    is_table: bool,
}

impl Subject {
    /// A whole demo table, whose checksums are verified. The name is converted to upper case.
    #[must_use]
    pub fn table(name: &str) -> Self {
        let name = name.trim().to_ascii_uppercase();
        Self { sql: format!("SELECT * FROM \"{name}\""), name, is_table: true }
    }

    /// A query, of which only the number of rows can be checked.
    #[must_use]
    pub fn query(sql: &str) -> Self {
        Self { name: "query".to_owned(), sql: sql.to_owned(), is_table: false }
    }
}

/// A benchmark that is ready to run.
pub struct Bench<'a> {
    host: &'a dyn Host,
    config: &'a Config,
    options: Options,
    reference: Reference,
    environment: Environment,
}

impl<'a> Bench<'a> {
    /// Connects once, to learn about the server, and looks for the reference.
    ///
    /// # Errors
    /// The errors of connecting.
    pub fn prepare(host: &'a dyn Host, config: &'a Config, options: Options) -> Result<Self> {
        let info = host.open(config)?.info()?;
        let reference = Reference::find(&options.reference, config, &info);
        let environment = Environment {
            batch_rows: options.batch_rows.map(NonZeroUsize::get),
            consume: options.consume,
            ..Environment::read(config, &info, &reference, options.repetitions.get())
        };
        Ok(Self { host, config, options, reference, environment })
    }

    /// Formats the circumstances, one per line.
    #[must_use]
    pub fn heading(&self) -> String {
        report::heading(&self.environment)
    }

    /// Verifies and measures one table or query.
    ///
    /// # Errors
    /// [`Error::Other`] if the rows read are wrong.
    pub fn measure(&self, subject: &Subject) -> Result<Measured> {
        let (host, config, options) = (self.host, self.config, &self.options);
        let Subject { name, sql, is_table } = subject;
        host.status(&format!("{name}: verifying"));
        let Shape { rows, columns, has_blobs } = match is_table {
            true => verify::table(host, config, name, sql)?,
            false => verify::shape(host, config, sql)?,
        };
        let mut limits = BatchLimits::default();
        limits.rows = options.batch_rows.map_or(limits.rows, NonZeroUsize::get);
        let plan = Plan { config, sql, limits, consume: options.consume };
        let blobs = if has_blobs { Blobs::Read } else { Blobs::Unread };
        let check = |run: Run| match run.rows == rows {
            true => Ok(run),
            false => Err(Error::other(format!(
                "{name}: {} rows were read, not {rows}; its figures are withheld",
                run.rows
            ))),
        };
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for repetition in 1..=options.repetitions.get() {
            host.status(&format!("{name}: repetition {repetition} of {}", options.repetitions));
            host.check()?;
            ours.push(check(measure::run(host, plan)?)?);
            if let Some(peer) = self.reference.peer() {
                theirs.push(check(peer.fetch(host, sql, blobs)?)?);
            }
        }
        host.status("");
        Ok(Measured {
            name: name.clone(),
            sql: sql.clone(),
            rows,
            columns,
            is_verified: *is_table,
            ours,
            reference: theirs,
        })
    }

    /// Returns an object for programs: the circumstances, every repetition and the medians.
    #[must_use]
    pub fn json(&self, all: &[Measured]) -> Value {
        report::json(&self.environment, all)
    }

    /// Writes `FOLDER/DATE-MACHINE/raw.jsonl` and `report.md`; returns the path of the new folder.
    ///
    /// # Errors
    /// [`Error::Other`] that names the file or folder that cannot be written.
    pub fn save(&self, folder: &Path, all: &[Measured], ending: Ending) -> Result<PathBuf> {
        let environment = &self.environment;
        let report = report::markdown(environment, all);
        save::write(folder, &environment.folder(), &self.record(all, ending)?, &report)
    }

    /// Makes a record of what has been measured.
    ///
    /// # Errors
    /// If a value is not JSON, which does not happen.
    pub fn record(&self, all: &[Measured], ending: Ending) -> Result<Record> {
        record::of_reading(&self.environment, all, ending)
    }
}
