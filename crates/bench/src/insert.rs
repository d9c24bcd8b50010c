//! Measures inserting many rows, and shares its rows with other benchmarks.

use super::machine::Environment;
use super::measure::CpuTime;
use super::record::{self, Ending};
use super::reference::{Inserted, Reference, ReferenceChoice};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::own;
use crate::text::thousands;
use arrow::array::{ArrayRef, AsArray, Int32Array, RecordBatch};
use arrow::datatypes::Int64Type;
use firearrow::config::Config;
use firearrow::{Connection, OnFailure, ServerInfo, TransactionOptions};
use firearrow_report::{Record, Spread};
use serde::Serialize;
use serde_json::{Value, json};
use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::Arc;
use std::time::Instant;

/// The cost of one repetition.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Run {
    /// Number of inserted rows.
    pub rows: u64,
    /// The elapsed time of all executions, in seconds.
    pub execute_s: f64,
    /// The elapsed time of the commit, in seconds.
    pub commit_s: f64,
    /// Processor time of the process, user and system, in seconds.
    pub cpu_s: f64,
    /// The round trips of the executions; `None` for the reference and for an engine in this process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trips: Option<u64>,
}

impl From<Inserted> for Run {
    fn from(inserted: Inserted) -> Self {
        let Inserted { rows, execute_s, commit_s, cpu_user_s, cpu_sys_s, .. } = inserted;
        Self { rows, execute_s, commit_s, cpu_s: cpu_user_s + cpu_sys_s, round_trips: None }
    }
}

/// How much to insert, and what to compare with.
#[derive(Clone, Debug)]
pub struct Options {
    /// Rows per repetition.
    pub rows: NonZeroU64,
    /// Measured repetitions.
    pub repetitions: NonZeroUsize,
    /// What to compare with.
    pub reference: ReferenceChoice,
}

/// The figures of [`run`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Facts about the server.
    pub info: ServerInfo,
    /// Machine and server.
    pub environment: Environment,
    /// Rows per repetition.
    pub rows: u64,
    /// The reference and its way of inserting, or why there is none.
    pub reference_name: String,
    /// The repetitions of firearrow.
    pub ours: Vec<Run>,
    /// The repetitions of the reference, turn by turn with those of firearrow; empty if there is none.
    pub reference: Vec<Run>,
}

/// Creates the table [`TABLE`], measures inserting rows into it, and drops it. After each repetition, the number of
/// rows and their sums are read back.
///
/// # Errors
/// [`Error::Other`] if they differ from those inserted.
pub fn run(host: &dyn Host, config: &Config, options: &Options) -> Result<Report> {
    let connection = host.open(config)?;
    let info = connection.info()?;
    let reference = Reference::find(&options.reference, config, &info);
    let environment = Environment::read(config, &info, &reference, options.repetitions.get());
    let method = method(&info);
    create(host, &connection)?;
    let rows = options.rows.get();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    // One extra run at first, which fills caches and makes the file grow.
    for repetition in 0..=options.repetitions.get() {
        host.check()?;
        let mine = insert(&connection, rows)?;
        check(&connection, rows)?;
        let other = match &reference {
            Reference::Peer(peer) => Some(peer.insert(host, &sql(), rows, method)?),
            Reference::Absent(_) => None,
        };
        if other.is_some() {
            check(&connection, rows)?;
        }
        if repetition > 0 {
            ours.push(mine);
            theirs.extend(other.map(Run::from));
        }
    }
    remove(host, &connection)?;
    let reference_name = match &reference {
        Reference::Peer(peer) => format!("{}, {}", peer.name, method[1]),
        Reference::Absent(reason) => format!("none: {reason}"),
    };
    Ok(Report { info, environment, rows, reference_name, ours, reference: theirs })
}

impl Report {
    /// Makes a record of it.
    ///
    /// # Errors
    /// If a value is not JSON, which does not happen.
    pub fn record(&self) -> Result<Record> {
        record::of_inserting(self, Ending::Measured { missing: Vec::new() })
    }

    /// Returns an object for programs.
    #[must_use]
    pub fn json(&self) -> Value {
        let Self { info, rows, reference_name, ours, reference, .. } = self;
        json!({
            "engine": info.engine_version, "protocol": info.protocol, "cipher": info.cipher,
            "rows": rows, "reference_name": reference_name, "ours": ours, "reference": reference,
        })
    }

    /// Formats medians, minimums, maximums and ratios for people.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { info, rows, reference_name, ours, reference, .. } = self;
        let mut text = format!(
            "Firebird {}, {} rows of {COLUMNS} INTEGER, sums right, {} repetitions\nreference: {reference_name}\n",
            info.engine_version,
            thousands(*rows),
            ours.len()
        );
        let rate = |run: &Run| run.rows as f64 / run.execute_s;
        for (what, is_rate, figure) in [
            ("rows/s", true, &rate as &dyn Fn(&Run) -> f64),
            ("insert s", false, &|run| run.execute_s),
            ("commit s", false, &|run| run.commit_s),
            ("CPU s", false, &|run| run.cpu_s),
        ] {
            let show =
                |value: f64| if value > 100.0 { thousands(value as u64) } else { format!("{value:.3}") };
            let cell = |runs: &[Run]| {
                Spread::of(runs.iter().map(figure)).map_or("–".to_owned(), |spread| spread.text(show))
            };
            // Above 1, ours is better.
            let ratios = ours.iter().zip(reference).map(|(ours, theirs)| match is_rate {
                true => figure(ours) / figure(theirs),
                false => figure(theirs) / figure(ours),
            });
            let ratio = Spread::of(ratios).map_or("–".to_owned(), |spread| format!("{:.2}", spread.median));
            text += &format!("  {what:9} {:32} {:32} {ratio:>6}\n", cell(ours), cell(reference));
        }
        if let Some(trips) = ours.last().and_then(|run| run.round_trips) {
            text += &format!("  round trips {trips}\n");
        }
        text
    }
}

/// Returns the arguments that select the reference's way of inserting: servers before Firebird 4 have no bulk
/// interface, so rows are inserted one by one. The second argument is the method's name.
#[must_use]
pub fn method(info: &ServerInfo) -> &'static [&'static str] {
    match info.engine_version.starts_with('3') {
        true => &["--method", "one"],
        false => &["--method", "batch", "--chunk", "10000"],
    }
}

/// Creates the table [`TABLE`]; replaces one left by an interrupted run.
///
/// # Errors
/// [`Error::Other`] if there is a table of this name with other columns, which is somebody else's; otherwise the errors
/// of the server.
pub fn create(host: &dyn Host, connection: &Connection) -> Result<()> {
    let names: Vec<String> = (0..COLUMNS).map(|column| format!("C{column}")).collect();
    let ours: Vec<_> = names.iter().map(|name| (name.as_str(), own::Type::Integer)).collect();
    own::check(connection, TABLE, &ours)?;
    host.leaves(Some(format!("the table {TABLE} stays; the next run replaces it")));
    let columns: Vec<String> = names.iter().map(|name| format!("{name} INTEGER")).collect();
    connection.execute(&format!("RECREATE TABLE {TABLE} ({})", columns.join(", ")))?;
    Ok(())
}

/// Drops the table [`TABLE`].
///
/// # Errors
/// The errors of the server.
pub fn remove(host: &dyn Host, connection: &Connection) -> Result<()> {
    connection.execute(&format!("DROP TABLE {TABLE}"))?;
    host.leaves(None);
    Ok(())
}

/// Inserts the first `rows` rows, the same ones as the reference, in one transaction.
///
/// # Errors
/// The errors of the server, even if it refuses only a single row.
pub fn insert(connection: &Connection, rows: u64) -> Result<Run> {
    let cpu = CpuTime::now()?;
    let mut transaction = connection.begin(TransactionOptions::default())?;
    let statement = transaction.prepare(&sql())?;
    let before = connection.wire_stats();
    let mut run = Run { rows: 0, execute_s: 0.0, commit_s: 0.0, cpu_s: 0.0, round_trips: None };
    while run.rows < rows {
        let count = (rows - run.rows).min(BATCH);
        let batch = batch(run.rows, count);
        let start = Instant::now();
        let done = statement.execute_rows(&mut transaction, &batch, OnFailure::Stop)?;
        run.execute_s += start.elapsed().as_secs_f64();
        if let Some(failure) = done.failures.into_iter().next() {
            return Err(failure.error.into());
        }
        run.rows += count;
    }
    let trips = connection.wire_stats().since(&before).round_trips;
    run.round_trips = (trips > 0).then_some(trips);
    let start = Instant::now();
    transaction.commit()?;
    run.commit_s = start.elapsed().as_secs_f64();
    run.cpu_s = CpuTime::now()?.since(cpu).seconds();
    Ok(run)
}

/// Returns `rows` rows from row number `first`: column c of row r is r * 31 + c, as in the reference.
pub fn batch(first: u64, rows: u64) -> RecordBatch {
    let columns = (0..COLUMNS).map(|column| {
        let values = (first..first + rows).map(|row| value(row, column));
        (format!("C{column}"), Arc::new(Int32Array::from_iter_values(values)) as ArrayRef)
    });
    RecordBatch::try_from_iter(columns).expect("columns of equal length")
}

/// Returns the value of a row and a column, both counted from 0.
pub(crate) fn value(row: u64, column: u64) -> i32 {
    (row as i32).wrapping_mul(31).wrapping_add(column as i32)
}

/// Reads back the sums of the inserted rows, compares them with those of the first `rows` rows, and deletes the rows.
///
/// # Errors
/// [`Error::Other`] if they differ.
pub fn check(connection: &Connection, rows: u64) -> Result<()> {
    let mut cursor = connection.query(&format!("SELECT COUNT(*), SUM(C0), SUM(C9) FROM {TABLE}"))?;
    let batch = cursor.next_batch()?.ok_or_else(|| Error::other("no sums"))?;
    let sums: Vec<i64> =
        (0..3).map(|column| batch.column(column).as_primitive::<Int64Type>().value(0)).collect();
    let sum = |column| (0..rows).map(|row| i64::from(value(row, column))).sum::<i64>();
    if sums != [rows as i64, sum(0), sum(9)] {
        return Err(Error::other(format!(
            "{TABLE} has {sums:?} after {rows} rows; the figures are withheld"
        )));
    }
    cursor.close()?;
    connection.execute(&format!("DELETE FROM {TABLE}"))?;
    // Garbage-collects the deleted rows, so that the next run does not pay for it.
    let mut cursor = connection.query(&format!("SELECT COUNT(*) FROM {TABLE}"))?;
    while cursor.next_batch()?.is_some() {}
    Ok(())
}

/// Returns the statement that firearrow and the reference execute.
#[must_use]
pub fn sql() -> String {
    let names: Vec<String> = (0..COLUMNS).map(|column| format!("C{column}")).collect();
    format!("INSERT INTO {TABLE} ({}) VALUES ({})", names.join(", "), vec!["?"; names.len()].join(", "))
}

/// The table for inserted rows.
pub const TABLE: &str = "FIREARROW_BENCH";
/// The number of columns of the table, all INTEGER.
pub const COLUMNS: u64 = 10;
/// Rows per record batch.
const BATCH: u64 = 100_000;
