//! `firearrow bench insert`

use super::measure::CpuTime;
use super::reference::{Inserted, Reference};
use super::statistics::Spread;
use crate::args::InsertArgs;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::open::open;
use crate::output::{print, print_data};
use crate::progress::thousands;
use arrow::array::{ArrayRef, AsArray, Int32Array, RecordBatch};
use arrow::datatypes::Int64Type;
use firearrow::config::Config;
use firearrow::{Connection, OnFailure, ServerInfo, TransactionOptions};
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;

/// What one repetition cost, in seconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Run {
    pub(super) rows: u64,
    pub(super) execute_s: f64,
    pub(super) commit_s: f64,
    pub(super) cpu_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    round_trips: Option<u64>,
}

impl From<Inserted> for Run {
    fn from(inserted: Inserted) -> Self {
        let Inserted { rows, execute_s, commit_s, cpu_user_s, cpu_sys_s, .. } = inserted;
        Self { rows, execute_s, commit_s, cpu_s: cpu_user_s + cpu_sys_s, round_trips: None }
    }
}

pub(crate) fn run(args: &InsertArgs, json: bool) -> Result<()> {
    let config = Config::parse(&args.url)?;
    let connection = open(&config)?;
    let info = connection.info()?;
    let reference = Reference::find(args.reference_client.as_deref(), &config, &info);
    let method = method(&info);
    create(&connection)?;
    let rows = args.rows.get();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    // One run more than wanted: the first one fills caches and makes the file grow.
    for repetition in 0..=args.repeat.get() {
        interrupt::check()?;
        let mine = insert(&connection, rows)?;
        check(&connection, rows)?;
        let other = match &reference {
            Reference::Peer(peer) => Some(peer.insert(&sql(), rows, method)?),
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
    remove(&connection)?;
    let name = match &reference {
        Reference::Peer(peer) => format!("{}, {}", peer.name, method[1]),
        Reference::Absent(reason) => format!("none: {reason}"),
    };
    if json {
        let report = json!({
            "engine": info.engine_version, "protocol": info.protocol, "cipher": info.cipher,
            "rows": rows, "reference_name": name, "ours": ours, "reference": theirs,
        });
        return print_data(&format!("{report:#}\n"));
    }
    let mut text = format!(
        "Firebird {}, {} rows of {COLUMNS} INTEGER, sums right, {} repetitions\nreference: {name}\n",
        info.engine_version,
        thousands(rows),
        ours.len()
    );
    let rate = |run: &Run| run.rows as f64 / run.execute_s;
    for (what, figure) in [
        ("rows/s", &rate as &dyn Fn(&Run) -> f64),
        ("insert s", &|run| run.execute_s),
        ("commit s", &|run| run.commit_s),
        ("CPU s", &|run| run.cpu_s),
    ] {
        let show = |value: f64| if value > 100.0 { thousands(value as u64) } else { format!("{value:.3}") };
        let cell = |runs: &[Run]| {
            Spread::of(runs.iter().map(figure)).map_or("–".to_owned(), |spread| spread.text(show))
        };
        let ratios = ours.iter().zip(&theirs).map(|(ours, theirs)| figure(ours) / figure(theirs));
        let ratio = Spread::of(ratios).map_or("–".to_owned(), |spread| format!("{:.2}", spread.median));
        text += &format!("  {what:9} {:32} {:32} {ratio:>6}\n", cell(&ours), cell(&theirs));
    }
    if let Some(trips) = ours.last().and_then(|run| run.round_trips) {
        text += &format!("  round trips {trips}\n");
    }
    print(&text)
}

/// How the reference inserts: servers before Firebird 4 have no batches.
pub(super) fn method(info: &ServerInfo) -> &'static [&'static str] {
    match info.engine_version.starts_with('3') {
        true => &["--method", "one"],
        false => &["--method", "batch", "--chunk", "10000"],
    }
}

/// Makes the table that rows are inserted into.
pub(super) fn create(connection: &Connection) -> Result<()> {
    interrupt::stays(Some(format!("the table {TABLE} stays; the next run replaces it")));
    let columns: Vec<String> = (0..COLUMNS).map(|column| format!("C{column} INTEGER")).collect();
    connection.execute(&format!("RECREATE TABLE {TABLE} ({})", columns.join(", ")))?;
    Ok(())
}

/// Drops it.
pub(super) fn remove(connection: &Connection) -> Result<()> {
    connection.execute(&format!("DROP TABLE {TABLE}"))?;
    interrupt::stays(None);
    Ok(())
}

/// Inserts the rows that the reference inserts.
pub(super) fn insert(connection: &Connection, rows: u64) -> Result<Run> {
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

/// Column c of row r is r * 31 + c, as the reference has it.
pub(super) fn batch(first: u64, rows: u64) -> RecordBatch {
    let value = |row: u64, column: u64| (row as i32).wrapping_mul(31).wrapping_add(column as i32);
    let columns = (0..COLUMNS).map(|column| {
        let values = (first..first + rows).map(|row| value(row, column));
        (format!("C{column}"), Arc::new(Int32Array::from_iter_values(values)) as ArrayRef)
    });
    RecordBatch::try_from_iter(columns).expect("columns of equal length")
}

/// Reads back what was inserted, and deletes it.
pub(super) fn check(connection: &Connection, rows: u64) -> Result<()> {
    let mut cursor = connection.query(&format!("SELECT COUNT(*), SUM(C0), SUM(C9) FROM {TABLE}"))?;
    let batch = cursor.next_batch()?.ok_or_else(|| Failure::other("no sums"))?;
    let sums: Vec<i64> =
        (0..3).map(|column| batch.column(column).as_primitive::<Int64Type>().value(0)).collect();
    let sum = |column: i64| {
        (0..rows as i64)
            .map(|row| i64::from((row as i32).wrapping_mul(31).wrapping_add(column as i32)))
            .sum::<i64>()
    };
    if sums != [rows as i64, sum(0), sum(9)] {
        return Err(Failure::other(format!(
            "{TABLE} has {sums:?} after {rows} rows; the figures are withheld"
        )));
    }
    cursor.close()?;
    connection.execute(&format!("DELETE FROM {TABLE}"))?;
    // Sweeps up what was deleted, so that no run pays for the one before.
    let mut cursor = connection.query(&format!("SELECT COUNT(*) FROM {TABLE}"))?;
    while cursor.next_batch()?.is_some() {}
    Ok(())
}

/// The statement of ours and of the reference.
pub(super) fn sql() -> String {
    let names: Vec<String> = (0..COLUMNS).map(|column| format!("C{column}")).collect();
    format!("INSERT INTO {TABLE} ({}) VALUES ({})", names.join(", "), vec!["?"; names.len()].join(", "))
}

pub(super) const TABLE: &str = "FIREARROW_BENCH";
/// Columns of the table, all INTEGER.
pub(super) const COLUMNS: u64 = 10;
/// Rows of one record batch.
const BATCH: u64 = 100_000;
