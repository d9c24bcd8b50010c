//! Loads the tables: several connections, one warehouse at a time each, then indexes and procedures.

mod tables;

use self::tables::Part;
use crate::check;
use crate::depth::{self, IndexDepth};
use crate::disk;
use crate::scale::Scale;
use crate::schema::{self, Meta};
use firearrow::config::Config;
use firearrow::{Connection, Kind, OnFailure, TransactionOptions};
use firearrow_bench::{CpuTime, Error, Goal, Host, Result, Server};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How to load.
#[derive(Clone, Debug)]
pub struct Options {
    /// The size.
    pub scale: Scale,
    /// The same seed and scale give the same rows.
    pub seed: u64,
    /// Connections that load side by side.
    pub workers: usize,
    /// Whether indexes are made before the rows, not after them.
    pub indexes_first: bool,
    /// Whether existing tables of the workload are replaced.
    pub replace: bool,
}

/// What loading took.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Loaded {
    /// Version of the engine.
    pub engine: String,
    /// The size.
    pub scale: Scale,
    /// The seed.
    pub seed: u64,
    /// Connections that loaded side by side.
    pub workers: usize,
    /// Whether writes waited for the disk.
    pub forced_writes: bool,
    /// Bytes per page.
    pub page_size: u32,
    /// Pages that the server keeps in memory.
    pub page_buffers: u64,
    /// Seconds for the rows.
    pub rows_s: f64,
    /// Seconds for the indexes, apart from the rows.
    pub indexes_s: f64,
    /// Rows of each table.
    pub rows: BTreeMap<&'static str, u64>,
    /// Indexes and how deep they are.
    pub indexes: Vec<IndexDepth>,
    /// Bytes of the database at the end.
    pub bytes: u64,
    /// Seconds since the start, and bytes of the database, about every second.
    pub curve: Vec<(f64, u64)>,
    /// Processor time of this process in seconds.
    pub client_cpu_s: f64,
    /// Processor time of the server in seconds, if it can be known.
    pub server_cpu_s: Option<f64>,
}

impl Loaded {
    /// Bytes per second: the size at the end, less what was there before, by the time for the rows, as the published curves have
    /// it.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        let before = self.curve.first().map_or(0, |(_, bytes)| *bytes);
        self.bytes.saturating_sub(before) as f64 / self.rows_s
    }

    /// All rows.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.rows.values().sum()
    }
}

/// Rows that a transaction holds at most, roughly.
const ROWS_PER_TRANSACTION: usize = 10_000;

/// Loads a database, which is created if there is none, and checks it.
///
/// # Errors
/// If tables of the workload exist and are not to be replaced, if a row cannot be inserted, and if the loaded database
/// is not what it should be.
pub fn load(host: &dyn Host, config: &Config, options: &Options) -> Result<Loaded> {
    let connection = open_or_create(host, config, options.scale)?;
    schema::check_free(&connection, options.replace)?;
    disk::check(config, options.scale, if options.replace { size(&connection)? } else { 0 })?;
    if schema::is_marked(&connection)? {
        schema::remove(&connection)?;
    }
    host.leaves(Some(
        "the tables of the workload are incomplete; `firearrow oltp load --force` replaces them".into(),
    ));
    let server = Server::find(config);
    let (cpu, server_cpu) = (CpuTime::now()?, server.cpu_seconds()?);
    schema::create_tables(&connection)?;
    let mut indexes_s = 0.0;
    if options.indexes_first {
        indexes_s = timed(|| schema::create_indexes(&connection))?;
    }
    let rows = fill(host, &connection, config, options)?;
    if !options.indexes_first {
        host.status("indexes");
        indexes_s = timed(|| schema::create_indexes(&connection))?;
    }
    schema::create_procedures(&connection)?;
    let cpu = CpuTime::now()?.since(cpu);
    let after = server.cpu_seconds()?;
    host.status("checking");
    check::loaded(&connection, options.scale, rows.counts.get("ORDER_LINE").copied().unwrap_or(0))?;
    schema::store(&connection, Meta { scale: options.scale, seed: options.seed })?;
    let indexes = depth::depths(&connection)?;
    host.status("");
    host.leaves(None);
    let state = connection.statistics()?;
    Ok(Loaded {
        engine: connection.info()?.engine_version,
        scale: options.scale,
        seed: options.seed,
        workers: options.workers,
        forced_writes: state.forced_writes,
        page_size: state.page_size,
        page_buffers: state.page_buffers,
        rows_s: rows.seconds,
        indexes_s,
        rows: rows.counts,
        indexes,
        bytes: state.pages * u64::from(state.page_size),
        curve: rows.curve,
        client_cpu_s: cpu.seconds(),
        server_cpu_s: server_cpu.zip(after).map(|(before, after)| after - before),
    })
}

fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed().as_secs_f64())
}

fn open_or_create(host: &dyn Host, config: &Config, scale: Scale) -> Result<Connection> {
    let refused = match host.open(config) {
        Ok(connection) => return Ok(connection),
        Err(error) if error.kind() == Kind::Database => error,
        Err(error) => return Err(error.into()),
    };
    // Before there is a database that nobody wanted.
    disk::check(config, scale, 0)?;
    let mut new = config.clone();
    new.overwrite = false;
    new.page_size.get_or_insert(16384);
    host.create(&new).map_err(|_| refused.into())
}

/// What the workers share.
struct Work {
    /// The next warehouse; 0 = the items.
    next: AtomicU32,
    rows: AtomicU64,
    has_failed: AtomicBool,
    counts: Mutex<BTreeMap<&'static str, u64>>,
    error: Mutex<Option<Error>>,
}

struct Filled {
    counts: BTreeMap<&'static str, u64>,
    seconds: f64,
    curve: Vec<(f64, u64)>,
}

fn fill(host: &dyn Host, connection: &Connection, config: &Config, options: &Options) -> Result<Filled> {
    let work = Work {
        next: AtomicU32::new(0),
        rows: AtomicU64::new(0),
        has_failed: AtomicBool::new(false),
        counts: Mutex::default(),
        error: Mutex::default(),
    };
    let lines = 10 * u64::from(options.scale.warehouses) * 10 * u64::from(options.scale.customers);
    let goal: u64 = options.scale.rows().iter().map(|(_, rows)| rows).sum::<u64>() + lines;
    let progress = host.progress(Goal::Rows { table: "OLTP", rows: goal });
    let started = Instant::now();
    let mut curve = vec![(0.0, size(connection)?)];
    let mut told = 0;
    let mut stopped = None;
    thread::scope(|scope| {
        let workers: Vec<_> =
            (0..options.workers.max(1)).map(|_| scope.spawn(|| worker(config, options, &work))).collect();
        let mut next_sample = Duration::from_secs(1);
        while workers.iter().any(|worker| !worker.is_finished()) {
            thread::sleep(Duration::from_millis(50));
            let rows = work.rows.load(Ordering::Relaxed);
            progress.add(rows - told);
            told = rows;
            let now = started.elapsed();
            let sampled = if now < next_sample {
                Ok(())
            } else {
                next_sample = now + Duration::from_secs(1);
                size(connection).map(|bytes| curve.push((now.as_secs_f64(), bytes)))
            };
            if let Err(error) = host.check().and(sampled) {
                work.has_failed.store(true, Ordering::Relaxed);
                stopped.get_or_insert(error);
            }
        }
    });
    drop(progress);
    let seconds = started.elapsed().as_secs_f64();
    if let Some(error) = stopped {
        return Err(error);
    }
    if let Some(error) = work.error.into_inner().expect("no worker panics") {
        return Err(error);
    }
    curve.push((seconds, size(connection)?));
    Ok(Filled { counts: work.counts.into_inner().expect("no worker panics"), seconds, curve })
}

/// Bytes of the database. Unlike asking for its statistics this does not make the server write its cache.
fn size(connection: &Connection) -> Result<u64> {
    let bytes: i64 =
        connection.query("SELECT CAST(MON$PAGES * MON$PAGE_SIZE AS BIGINT) FROM MON$DATABASE")?.value()?;
    Ok(bytes.unsigned_abs())
}

fn worker(config: &Config, options: &Options, work: &Work) {
    if let Err(error) = load_warehouses(config, options, work) {
        work.has_failed.store(true, Ordering::Relaxed);
        let mut first = work.error.lock().expect("no worker panics");
        first.get_or_insert(error);
    }
}

fn load_warehouses(config: &Config, options: &Options, work: &Work) -> Result<()> {
    let connection = Connection::open(config)?;
    loop {
        let number = work.next.fetch_add(1, Ordering::Relaxed);
        match number {
            0 => insert(&connection, tables::items(options.scale, options.seed), work)?,
            number if number <= options.scale.warehouses => {
                insert(&connection, tables::warehouse(options.scale, options.seed, number), work)?;
            }
            _ => break,
        }
        if work.has_failed.load(Ordering::Relaxed) {
            break;
        }
    }
    connection.close()?;
    Ok(())
}

/// Inserts parts, with as many parts in a transaction as stay below [`ROWS_PER_TRANSACTION`].
fn insert(connection: &Connection, parts: impl Iterator<Item = Part>, work: &Work) -> Result<()> {
    // Half of a warehouse is of no use, so nothing needs to be undone.
    let options = TransactionOptions::default().no_auto_undo(true);
    let mut transaction = connection.begin(options)?;
    let mut statements = BTreeMap::new();
    let mut held = 0;
    for Part { table, rows } in parts {
        if work.has_failed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let statement = match statements.entry(table) {
            std::collections::btree_map::Entry::Occupied(statement) => statement.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => {
                let marks = vec!["?"; rows.num_columns()].join(", ");
                place.insert(connection.prepare(&format!("INSERT INTO {table} VALUES ({marks})"))?)
            }
        };
        if held > 0 && held + rows.num_rows() > ROWS_PER_TRANSACTION {
            transaction.commit()?;
            transaction = connection.begin(options)?;
            held = 0;
        }
        let done = statement.execute_rows(&mut transaction, &rows, OnFailure::Stop)?;
        if let Some(failure) = done.failures.first() {
            return Err(Error::other(format!("{table}, row {}: {}", failure.row, failure.error)));
        }
        held += rows.num_rows();
        work.rows.fetch_add(rows.num_rows() as u64, Ordering::Relaxed);
        *work.counts.lock().expect("no worker panics").entry(table).or_default() += rows.num_rows() as u64;
    }
    transaction.commit()?;
    Ok(())
}
