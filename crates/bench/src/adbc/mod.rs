//! Measures the ADBC driver: its cost compared with the crate on which it is built, and the gain from partitions.

mod driver;
pub(crate) mod phases;
mod python;

use super::column::Column;
use super::contest::{Contest, Stage};
use super::insert;
use super::machine::Environment;
use super::measure::{self, Plan};
use super::record::{self, Ending};
use super::reference::{PEER, Reference, ReferenceChoice};
use super::report;
use super::sample::Sample;
use super::save;
use super::server::Server;
use super::table::{Table, markdown};
use super::verify::{self, Shape};
use crate::demo;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::text::thousands;
use driver::Driver;
use firearrow::BatchLimits;
use firearrow::config::Config;
use firearrow_report::Record;
use python::Python;
use serde_json::{Value, json};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

const TABLE: &str = "T_WIDE";
const CRATE: &str = "the crate";
const ONE_STREAM: &str = "one stream";

/// What to measure, and how much.
#[derive(Clone, Debug)]
pub struct Options {
    /// The driver: the path of `libadbc_driver_firebird.so`.
    pub library: PathBuf,
    /// The driver's URL, of the same database as the configuration. It may contain a password.
    pub url: String,
    /// A Python with adbc_driver_manager and pyarrow, to measure the driver there as well.
    pub python: Option<PathBuf>,
    /// Rows of demo tables to create.
    pub rows: NonZeroU64,
    /// Rows to ingest.
    pub ingest_rows: NonZeroU64,
    /// Partitions, each read by its own thread.
    pub partitions: NonZeroUsize,
    /// Measured repetitions.
    pub repetitions: NonZeroUsize,
    /// What to compare ingestion with.
    pub reference: ReferenceChoice,
}

/// A benchmark that is ready to run.
pub struct Bench<'a> {
    config: &'a Config,
    options: Options,
    driver: Driver,
    python: Option<Python>,
    reference: Reference,
    stage: Stage<'a>,
    /// The shape of the table to read.
    shape: Shape,
    has_snapshots: bool,
    environment: Environment,
    heading: String,
}

/// Measures the cases of one table of figures.
type Measure = fn(&Bench<'_>) -> Result<Table>;

impl<'a> Bench<'a> {
    /// Loads the driver, creates missing demo tables, and verifies what the driver reads.
    ///
    /// # Errors
    /// [`Error::Other`] if the driver cannot be loaded or reads wrong rows; otherwise the errors of connecting and of
    /// the demo tables.
    pub fn prepare(host: &'a dyn Host, config: &'a Config, options: Options) -> Result<Self> {
        let Options { library, url, .. } = &options;
        let driver = Driver::load(library, url)?;
        let python = options.python.as_ref().map(|program| Python::new(program, library, url, config));
        demo::complete(host, config, options.rows.get())?;
        let sql = sql();
        let shape = verify::table(host, config, TABLE, &sql)?;
        let connection = host.open(config)?;
        let info = connection.info()?;
        let has_snapshots = connection.has_firebird4();
        connection.close()?;
        driver.verify(host, config, TABLE, &sql, has_snapshots.then_some(options.partitions.get()))?;
        let reference = Reference::find(&options.reference, config, &info);
        let repetitions = options.repetitions.get();
        let environment = Environment::read(config, &info, &reference, repetitions);
        let server = Server::find(config);
        let mut heading = heading(&environment, &reference, &server);
        if !has_snapshots {
            heading += "partitions: not measured; servers before Firebird 4 have no snapshots to share\n";
        }
        let stage = Stage { host, server, repetitions };
        Ok(Self {
            config,
            options,
            driver,
            python,
            reference,
            stage,
            shape,
            has_snapshots,
            environment,
            heading,
        })
    }

    /// Formats the circumstances, one per line.
    #[must_use]
    pub fn heading(&self) -> String {
        self.heading.clone()
    }

    /// Measures the tables of figures in order, each when the iterator reaches it.
    pub fn tables(&self) -> impl Iterator<Item = Result<Table>> {
        let measures: &[Measure] =
            if self.has_snapshots { &[drain, partitions, ingest] } else { &[drain, ingest] };
        measures.iter().map(|measure| measure(self))
    }

    /// Returns an object for programs: the circumstances and the tables.
    #[must_use]
    pub fn json(&self, tables: &[Table]) -> Value {
        let tables: Vec<Value> = tables.iter().map(Table::json).collect();
        json!({ "environment": self.environment, "tables": tables })
    }

    /// Writes `FOLDER/DATE-adbc-PLATFORM/raw.jsonl` and `report.md`; returns the path of the new folder.
    ///
    /// # Errors
    /// [`Error::Other`] that names the file or folder that cannot be written.
    pub fn save(&self, folder: &Path, tables: &[Table], ending: Ending) -> Result<PathBuf> {
        let environment = &self.environment;
        let name = format!("{}-adbc-{}", environment.day(), environment.platform());
        let record = self.record(tables, ending)?;
        save::write(folder, &name, &record, &markdown("adbc", &self.heading, tables))
    }

    /// Makes a record of tables that have been measured.
    ///
    /// # Errors
    /// If a value is not JSON, which does not happen.
    pub fn record(&self, tables: &[Table], ending: Ending) -> Result<Record> {
        record::of_tables("adbc", "The ADBC driver", &self.environment, tables, ending)
    }

    fn host(&self) -> &'a dyn Host {
        self.stage.host
    }
}

fn sql() -> String {
    format!("SELECT * FROM \"{TABLE}\"")
}

/// Measures reading all rows through the driver, compared with the crate on which it is built.
fn drain(bench: &Bench<'_>) -> Result<Table> {
    let rows = bench.shape.rows;
    let sql = sql();
    let sql = sql.as_str();
    let ours = || bench.driver.drain(sql);
    let through_c =
        Contest::new("C interface", None, rows, ours).against(CRATE, rows, Some(|| by_crate(bench, sql)));
    let mut contests = vec![through_c];
    let mut notes = vec!["time: from executing to the last row; CPU: including connecting".to_owned()];
    match &bench.python {
        Some(python) => {
            let ours = || python.drain(bench.host(), sql);
            let contest = Contest::new("Python", None, rows, ours);
            contests.push(contest.against(CRATE, rows, Some(|| by_crate(bench, sql))));
        }
        None => {
            notes.push("Python: not measured; --python names one with adbc_driver_manager and pyarrow".into())
        }
    }
    let columns = &[
        Column::Wall,
        Column::RowsPerSecond,
        Column::Speed,
        Column::ClientCpu,
        Column::ClientCpuRatio,
        Column::ServerCpu,
    ];
    let title = format!(
        "{TABLE} through the driver: {} rows × {} columns, checksums right, {repetitions} repetitions",
        thousands(rows),
        bench.shape.columns,
        repetitions = bench.stage.repetitions,
    );
    Ok(Table { id: "drain".into(), title, notes, columns, cases: bench.stage.run("drain", contests)? })
}

fn by_crate(bench: &Bench<'_>, sql: &str) -> Result<Sample> {
    let plan = Plan { config: bench.config, sql, limits: BatchLimits::default(), consume: false };
    measure::run(bench.host(), plan).map(Sample::from)
}

/// Measures reading all rows over several connections, compared with one.
fn partitions(bench: &Bench<'_>) -> Result<Table> {
    let rows = bench.shape.rows;
    let sql = sql();
    let sql = sql.as_str();
    let count = bench.options.partitions.get();
    let ours = || bench.driver.drain_partitions(sql, count);
    let contest = Contest::new(format!("{count} partitions"), None, rows, ours);
    let contest = contest.against(ONE_STREAM, rows, Some(|| bench.driver.drain(sql)));
    let columns = &[Column::Wall, Column::RowsPerSecond, Column::Speed, Column::ClientCpu, Column::ServerCpu];
    let title =
        format!("{TABLE} in partitions: {} rows, {} repetitions", thousands(rows), bench.stage.repetitions);
    let notes = vec![
        "time: from dividing the query to the last row of all partitions; connections were open before"
            .into(),
    ];
    Ok(Table {
        id: "partitions".into(),
        title,
        notes,
        columns,
        cases: bench.stage.run("partitions", vec![contest])?,
    })
}

/// Measures ingestion, compared with the engine's own bulk interface.
fn ingest(bench: &Bench<'_>) -> Result<Table> {
    let rows = bench.options.ingest_rows.get();
    let host = bench.host();
    let keeper = host.open(bench.config)?;
    insert::create(host, &keeper)?;
    let method = insert::method(&keeper.info()?);
    keeper.close()?;
    // With the embedded engine, the reference is another process that needs exclusive access to the database.
    let check = || -> Result<()> {
        let keeper = host.open(bench.config)?;
        insert::check(&keeper, rows)?;
        Ok(keeper.close()?)
    };
    let ours = || {
        let sample = bench.driver.ingest(insert::TABLE, rows)?;
        check()?;
        Ok(sample)
    };
    let theirs = match &bench.reference {
        Reference::Peer(peer) => Some(|| {
            let inserted = peer.insert(host, &insert::sql(), rows, method)?;
            check()?;
            Ok(Sample::from(inserted))
        }),
        Reference::Absent(_) => None,
    };
    let contest = Contest::new("adbc_ingest, append", None, rows, ours).against(PEER, rows, theirs);
    let cases = bench.stage.run("ingest", vec![contest])?;
    insert::remove(host, &host.open(bench.config)?)?;
    let columns = &[Column::Wall, Column::RowsPerSecond, Column::Speed, Column::ClientCpu, Column::ServerCpu];
    let title = format!(
        "Ingesting {} rows of {} INTEGER, sums right, {} repetitions; reference: {}",
        thousands(rows),
        insert::COLUMNS,
        bench.stage.repetitions,
        if method.contains(&"one") { "one by one" } else { "batches of 10,000" },
    );
    let notes = vec!["time: without connecting and the commit".into()];
    Ok(Table { id: "ingest".into(), title, notes, columns, cases })
}

/// Returns the circumstances, one per line.
fn heading(environment: &Environment, reference: &Reference, server: &Server) -> String {
    let mut text = report::place(environment);
    text += &server.line();
    text += &match reference {
        Reference::Peer(peer) => {
            format!("reference of ingesting: a loop over the client library, {}\n", peer.name)
        }
        Reference::Absent(reason) => format!("reference of ingesting: none; {reason}\n"),
    };
    text += report::HOW_TO_READ;
    text + &report::warnings(environment)
}

/// Converts an error of the driver or its manager.
fn failed(error: impl std::fmt::Display) -> Error {
    Error::other(format!("the driver: {error}"))
}
