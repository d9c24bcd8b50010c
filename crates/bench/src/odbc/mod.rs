//! Measures ODBC drivers: reading, inserting and describing columns, beside the engine's floor and beside each other.
//!
//! ```text
//!  library: the C functions of a driver, or of unixODBC
//!     └─► handle: connections and statements ─► reading, inserting, describing ─► tables
//!             ▲
//!          rowset, kind, memory: the buffers of an application
//! ```

mod abi;
mod describing;
mod driver;
mod handle;
mod inserting;
mod kind;
mod library;
mod memory;
pub(crate) mod phases;
mod reading;
mod rowset;
mod tables;

use super::contest::Stage;
use super::machine::Environment;
use super::record::{self, Ending};
use super::reference::{Reference, ReferenceChoice};
use super::report;
use super::save;
use super::server::Server;
use super::table::{Table, markdown};
use crate::demo;
use crate::error::{Error, Result};
use crate::host::Host;
pub(crate) use driver::{NO_MANAGER, has_manager, keywords};

use driver::Driver;
use firearrow::config::Config;
use firearrow_report::Record;
use reading::{Subject, Way};
use serde_json::{Value, json};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

/// A part of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Reading tables, and an empty one.
    Fetch,
    /// Fetching rows that the driver has at hand.
    Cells,
    /// Describing columns.
    Describe,
    /// Inserting.
    Insert,
    /// The parts above, beside the other driver.
    Other,
}

impl Part {
    /// All parts, in order.
    pub const ALL: [Self; 5] = [Self::Fetch, Self::Cells, Self::Describe, Self::Insert, Self::Other];
}

/// Another driver to compare with.
#[derive(Clone, Debug)]
pub struct Other {
    /// The path of its library.
    pub library: PathBuf,
    /// The connection string without `DRIVER`, of the same database as the configuration. It may contain a password.
    pub keywords: String,
}

/// What to measure, and how much.
#[derive(Clone, Debug)]
pub struct Options {
    /// The parts; empty = all.
    pub parts: Vec<Part>,
    /// The driver: the path of `libfirearrowodbc.so`.
    pub library: PathBuf,
    /// The driver's URL, of the same database as the configuration. It may contain a password.
    pub url: String,
    /// Another driver.
    pub other: Option<Other>,
    /// Rows of demo tables to create.
    pub rows: NonZeroU64,
    /// Rows to insert by arrays; a tenth of them is inserted one by one.
    pub insert_rows: NonZeroU64,
    /// Measured repetitions.
    pub repetitions: NonZeroUsize,
    /// What to compare with.
    pub reference: ReferenceChoice,
}

/// A benchmark that is ready to run.
pub struct Bench<'a> {
    config: &'a Config,
    options: Options,
    /// The driver's own functions, then those of the driver manager if it is installed.
    routes: Vec<Driver>,
    /// The other driver, in the same order.
    others: Vec<Driver>,
    subjects: Vec<Subject>,
    /// Rows of the tables to read.
    rows: u64,
    reference: Reference,
    stage: Stage<'a>,
    environment: Environment,
    heading: String,
}

impl<'a> Bench<'a> {
    /// Loads the drivers, creates missing demo tables, and verifies what the drivers read, each in every way that will
    /// be measured.
    ///
    /// # Errors
    /// [`Error::Other`] if a driver cannot be loaded or reads wrong rows; otherwise the errors of connecting and of
    /// the demo tables.
    pub fn prepare(host: &'a dyn Host, config: &'a Config, options: Options) -> Result<Self> {
        let direct = Driver::direct(&options.library, &driver::keywords(&options.url, config))?;
        demo::complete(host, config, options.rows.get())?;
        let connection = host.open(config)?;
        let info = connection.info()?;
        let wide = demo::load(&connection, "T_WIDE")?;
        let narrow = demo::load(&connection, "T_INT10")?;
        connection.close()?;
        if wide.rows != narrow.rows {
            return Err(Error::other(
                "T_WIDE and T_INT10 differ in their rows; create the demo tables again",
            ));
        }

        let mut notes = String::new();
        let managed = Driver::managed(&options.library, &driver::keywords(&options.url, config));
        let mut routes = vec![direct];
        match managed {
            Ok(managed) => routes.push(managed),
            Err(error) => notes += &format!("through a driver manager: not measured; {error}\n"),
        }
        let others = match &options.other {
            Some(Other { library, keywords }) => {
                let mut others = vec![Driver::direct(library, keywords)?];
                if routes.len() > 1 {
                    others.push(Driver::managed(library, keywords)?);
                }
                let name = library.file_name().unwrap_or_default().to_string_lossy();
                notes += &format!("other driver: {name} {}\n", others[0].version()?);
                others
            }
            None => Vec::new(),
        };

        let is_short = |name: &str| SHORT_TEXTS.contains(&name);
        let subjects = vec![
            Subject::of("T_INT10", "T_INT10", |_| true)?,
            Subject::of("T_WIDE", "T_WIDE", |_| true)?,
            Subject::of("short texts", "T_WIDE", is_short)?,
        ];
        for driver in routes.iter().chain(&others) {
            for subject in &subjects {
                let expected = if subject.name == "T_INT10" { &narrow } else { &wide };
                for way in Way::ALL {
                    host.check()?;
                    host.status(&format!("{}, {}: verifying", subject.name, way.name()));
                    subject.verify(driver, way, expected)?;
                }
            }
        }
        host.status("");

        let reference = Reference::find(&options.reference, config, &info);
        let repetitions = options.repetitions.get();
        let environment = Environment::read(config, &info, &reference, repetitions);
        let server = Server::find(config);
        let heading = heading(&environment, &reference, &server) + &notes;
        let stage = Stage { host, server, repetitions };
        let rows = wide.rows;
        Ok(Self { config, options, routes, others, subjects, rows, reference, stage, environment, heading })
    }

    /// Formats the circumstances, one per line.
    #[must_use]
    pub fn heading(&self) -> String {
        self.heading.clone()
    }

    /// Measures the tables of figures in order, each when the iterator reaches it.
    pub fn tables(&self) -> impl Iterator<Item = Result<Table>> {
        let parts = &self.options.parts;
        let is_wanted = |part: &Part| {
            (parts.is_empty() || parts.contains(part)) && (*part != Part::Other || !self.others.is_empty())
        };
        let parts: Vec<Part> = Part::ALL.into_iter().filter(is_wanted).collect();
        parts.into_iter().flat_map(tables::of).map(|measure| measure(self))
    }

    /// Returns an object for programs: the circumstances and the tables.
    #[must_use]
    pub fn json(&self, tables: &[Table]) -> Value {
        let tables: Vec<Value> = tables.iter().map(Table::json).collect();
        json!({ "environment": self.environment, "tables": tables })
    }

    /// Writes `FOLDER/DATE-odbc-PLATFORM/raw.jsonl` and `report.md`; returns the path of the new folder.
    ///
    /// # Errors
    /// [`Error::Other`] that names the file or folder that cannot be written.
    pub fn save(&self, folder: &Path, tables: &[Table], ending: Ending) -> Result<PathBuf> {
        let environment = &self.environment;
        let name = format!("{}-odbc-{}", environment.day(), environment.platform());
        let record = self.record(tables, ending)?;
        save::write(folder, &name, &record, &markdown("odbc", &self.heading, tables))
    }

    /// Makes a record of tables that have been measured.
    ///
    /// # Errors
    /// If a value is not JSON, which does not happen.
    pub fn record(&self, tables: &[Table], ending: Ending) -> Result<Record> {
        record::of_tables("odbc", "The ODBC driver", &self.environment, tables, ending)
    }
}

/// Returns the circumstances, one per line.
fn heading(environment: &Environment, reference: &Reference, server: &Server) -> String {
    let mut text = report::place(environment);
    text += &server.line();
    text += &match reference {
        Reference::Peer(peer) => {
            format!("reference: a loop over the client library, no conversion, {}\n", peer.name)
        }
        Reference::Absent(reason) => format!("reference: none; {reason}\n"),
    };
    text += report::HOW_TO_READ;
    text + &report::warnings(environment)
}

/// Columns of T_WIDE with up to 32 characters.
const SHORT_TEXTS: [&str; 5] = ["V8", "V16", "V32", "MD5_A", "MD5_B"];
