//! Measures the wire client near a server and far from it: reading, BLOBs, inserting, small statements.
//!
//! ```text
//!  route: direct, emulated link ─► way: encryption, compression, reference ─► contests ─► table ─► text, JSON, files
//!                                                                               │
//!                                       turns of ours and of the reference, the server's CPU before and after
//! ```

mod blobs;
mod fetch;
mod inserts;
mod small;
mod statements;

use super::contest::Stage;
use super::machine::Environment;
use super::record::{self, Ending};
use super::reference::{Reference, ReferenceChoice};
use super::report;
use super::route::Route;
use super::save;
use super::server::Server;
use super::table::{Table, markdown};
use crate::demo;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::text;
use firearrow::config::{Config, Target};
use firearrow_report::Record;
use firearrow_wan::{Link, WanProxy};
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// What to measure, and how much.
#[derive(Clone, Debug)]
pub struct Options {
    /// The parts to measure; all of them if empty.
    pub parts: Vec<Part>,
    /// How many rows and repetitions.
    pub size: Size,
    /// Turns of the reference that reads BLOBs one by one, which takes long.
    pub blob_reference_repetitions: NonZeroUsize,
    /// The link to emulate.
    pub link: Link,
    /// What to compare with.
    pub reference: ReferenceChoice,
}

/// A part of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// T_WIDE and T_INT10 over the direct connection, encrypted and plain.
    Fetch,
    /// The first rows of T_WIDE over the link: plain, encrypted, compressed.
    Link,
    /// T_BLOB over the link: asked for, sent with their rows, never read.
    Blobs,
    /// Rows of ten INTEGER, without and with the link.
    Insert,
    /// Connecting, new SQL and known statements, without and with the link.
    Statements,
    /// Prepared statements of one row, again and again.
    Small,
}

impl Part {
    /// The demo tables that it reads.
    fn demo_tables(self) -> &'static [&'static str] {
        match self {
            Self::Fetch => &["T_WIDE", "T_INT10"],
            Self::Link => &["T_WIDE"],
            Self::Blobs => &["T_BLOB"],
            Self::Insert | Self::Statements | Self::Small => &[],
        }
    }

    fn uses_link(self) -> bool {
        !matches!(self, Self::Fetch | Self::Small)
    }
}

/// The number of rows and repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Rows of demo tables to create.
    pub rows: u64,
    /// Rows of T_WIDE to read over the link.
    pub link_rows: u64,
    /// Rows to insert.
    pub insert_rows: u64,
    /// Executions of small statements.
    pub small_executions: u64,
    /// Measured repetitions.
    pub repetitions: usize,
}

impl Size {
    /// The size of published figures; it takes about ten minutes.
    pub const FULL: Self = Self {
        rows: 1_000_000,
        link_rows: 100_000,
        insert_rows: 100_000,
        small_executions: 20_000,
        repetitions: 5,
    };
    /// Few rows, once: a quick check.
    pub const QUICK: Self =
        Self { rows: 2000, link_rows: 500, insert_rows: 1000, small_executions: 100, repetitions: 1 };
}

/// A benchmark that is ready to run.
pub struct Bench<'a> {
    options: Options,
    direct: Route,
    link: Route,
    stage: Stage<'a>,
    environment: Environment,
    heading: String,
    /// The link; it exists as long as the benchmark.
    _proxy: WanProxy,
}

/// Measures the cases of one table of figures.
type Measure = fn(&Bench<'_>) -> Result<Table>;

/// In the order of measurement.
const TABLES: [(Part, Measure); 7] = [
    (Part::Fetch, fetch::wide),
    (Part::Fetch, fetch::narrow),
    (Part::Link, fetch::link),
    (Part::Blobs, blobs::table),
    (Part::Insert, inserts::table),
    (Part::Statements, statements::table),
    (Part::Small, small::table),
];

impl<'a> Bench<'a> {
    /// Creates missing demo tables of the parts, connects once and starts the emulated link.
    ///
    /// # Errors
    /// [`Error::Usage`] if the engine would run in this process; otherwise the errors of connecting and of the demo
    /// tables.
    pub fn prepare(host: &'a dyn Host, config: &Config, options: Options) -> Result<Self> {
        if matches!(config.target, Target::Embedded { .. }) {
            return Err(Error::usage(
                "bench wire measures servers; for an engine in this process use bench fetch",
            ));
        }
        let Options { size, link, reference, .. } = &options;
        let parts = &options.parts;
        let parts: Vec<Part> = match parts.is_empty() {
            true => TABLES.iter().map(|(part, _)| *part).collect(),
            false => parts.clone(),
        };
        let tables: Vec<&str> = parts.iter().flat_map(|part| part.demo_tables()).copied().collect();
        demo::complete_only(host, config, size.rows, &tables)?;
        let direct = Route::direct(config);
        let way = direct.way(host, reference, |_| {})?;
        let (emulated, proxy) = Route::emulated(config, *link)?;
        let server = Server::find(config);
        let environment = Environment::read(config, &way.info, &way.reference, size.repetitions);
        let link = parts.iter().any(|part| part.uses_link()).then_some(*link);
        let heading = heading(&environment, link, &way.reference, &server);
        let stage = Stage { host, server, repetitions: size.repetitions };
        Ok(Self { options, direct, link: emulated, stage, environment, heading, _proxy: proxy })
    }

    /// Formats the circumstances, one per line.
    #[must_use]
    pub fn heading(&self) -> String {
        self.heading.clone()
    }

    /// Measures the tables of figures in order, each when the iterator reaches it. If one fails, the others are still
    /// measured.
    pub fn tables(&self) -> impl Iterator<Item = Result<Table>> {
        let parts = &self.options.parts;
        let wanted = TABLES.iter().filter(|(part, _)| parts.is_empty() || parts.contains(part));
        wanted.map(|(_, measure)| measure(self))
    }

    /// Returns an object for programs: circumstances, link, server and tables.
    #[must_use]
    pub fn json(&self, tables: &[Table]) -> Value {
        let (process, reason) = match &self.stage.server {
            Server::Process(process) => (Some(&process.name), None),
            Server::Unknown(reason) => (None, Some(reason)),
        };
        let Link { round_trip, rate, .. } = self.options.link;
        let tables: Vec<Value> = tables.iter().map(Table::json).collect();
        json!({
            "environment": self.environment,
            "link": { "round_trip_s": round_trip.as_secs_f64(), "rate_bit_per_s": rate },
            "server_process": process,
            "no_server_cpu": reason,
            "tables": tables,
        })
    }

    /// Writes `FOLDER/DATE-wire-firebird-VERSION/raw.jsonl` and `report.md`; returns the path of the new folder.
    ///
    /// # Errors
    /// [`Error::Other`] that names the file or folder that cannot be written.
    pub fn save(&self, folder: &Path, tables: &[Table], ending: Ending) -> Result<PathBuf> {
        let environment = &self.environment;
        let name = format!("{}-wire-firebird-{}", environment.day(), environment.release());
        let record = self.record(tables, ending)?;
        save::write(folder, &name, &record, &markdown("wire", &self.heading, tables))
    }

    /// Makes a record of tables that have been measured.
    ///
    /// # Errors
    /// If a value is not JSON, which does not happen.
    pub fn record(&self, tables: &[Table], ending: Ending) -> Result<Record> {
        record::of_tables("wire", "A server near and far", &self.environment, tables, ending)
    }

    fn host(&self) -> &'a dyn Host {
        self.stage.host
    }

    fn repetitions(&self) -> String {
        match self.stage.repetitions {
            1 => "1 repetition".to_owned(),
            repetitions => format!("{repetitions} repetitions"),
        }
    }
}

/// Returns the circumstances, one per line.
fn heading(environment: &Environment, link: Option<Link>, reference: &Reference, server: &Server) -> String {
    let mut text = report::place(environment);
    if let Some(Link { round_trip, rate, .. }) = link {
        let rate = text::rate(rate);
        text += &format!("link: round trip {round_trip:?}, {rate}, emulated on this machine\n");
    }
    text += &server.line();
    text += &match reference {
        Reference::Peer(peer) => {
            format!("reference: loops over the client library, no conversion, {}\n", peer.name)
        }
        Reference::Absent(reason) => format!("reference: none; {reason}\n"),
    };
    text += report::HOW_TO_READ;
    if matches!((reference, server), (Reference::Peer(_), Server::Process(_))) {
        text += "The server's CPU for the reference includes one more connection, made to warm up.\n";
    }
    text + &report::warnings(environment)
}
