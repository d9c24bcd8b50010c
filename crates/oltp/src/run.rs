//! Runs the terminals, and checks that what they did is what the database shows.

use crate::asynchronous;
use crate::check::{self, Condition};
use crate::credible;
use crate::gates::gates;
use crate::input::{Locality, Mix, Operation};
use crate::pace::Pace;
use crate::peer;
use crate::plan::{LOCK_TIMEOUT_S, Level, PATIENCE, Plan};
use crate::rival::{Meter, Metered, Rival};
use crate::scale::Scale;
use crate::schema;
use crate::shown::{Shown, ledger_problems};
use crate::tally::{Ledger, Tally};
use crate::terminal::{self, Conduct, Worked};
use crate::way::{self, Mode};
use firearrow::config::Config;
use firearrow::{Connection, LockResolution, TransactionOptions};
use firearrow_bench::{CpuTime, Error, Host, Peer, Result, Server, plausible};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// How to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Connections that work side by side.
    pub terminals: usize,
    /// How operations reach the server.
    pub mode: Mode,
    /// Where terminals work.
    pub locality: Locality,
    /// How often each operation comes.
    pub mix: Mix,
    /// `None` = READ COMMITTED READ CONSISTENCY, or READ COMMITTED RECORD VERSION on Firebird 3.
    pub isolation: Option<Level>,
    /// When operations begin.
    pub pace: Pace,
    /// How firearrow's terminals share threads.
    pub connections: Connections,
    /// Warm-up time, not measured.
    pub warm_up: Duration,
    /// Measured time.
    pub measure: Duration,
    /// The same seed gives the same inputs, though not the same order between terminals.
    pub seed: u64,
    /// Whether all twelve conditions are checked, not only the first four.
    pub full_check: bool,
}

/// How firearrow's terminals share threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Connections {
    /// A thread for each terminal
    #[default]
    Threads,
    /// All terminals as tasks on two threads, by the asynchronous API; calls procedures (--mode sp)
    Async,
}

impl Connections {
    /// Its name, as in the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        ["threads", "async"][self as usize]
    }
}

/// The client that runs the operations.
#[derive(Clone, Copy, Debug, Default)]
pub enum Client<'a> {
    /// Firearrow, in this process.
    #[default]
    Firearrow,
    /// The client library, in a program of its own.
    Library(&'a Peer),
    /// firebird-driver, in a Python process for each terminal.
    Python(&'a Rival),
}

impl Client<'_> {
    /// Its name, as in the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Firearrow => firearrow_report::OURS,
            Self::Library(_) => "libfbclient",
            Self::Python(_) => "firebird-driver",
        }
    }

    /// Its version, or the file of its library.
    fn version(self) -> String {
        match self {
            Self::Firearrow => env!("CARGO_PKG_VERSION").to_owned(),
            Self::Library(peer) => peer.name.clone(),
            Self::Python(rival) => rival.version.clone(),
        }
    }
}

/// What a run found.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Run {
    /// Version of the engine.
    pub engine: String,
    /// The size of the database.
    pub scale: Scale,
    /// Bytes of the database before the run.
    pub bytes: u64,
    /// Bytes that the server keeps in memory.
    pub cache_bytes: u64,
    /// Whether writes waited for the disk.
    pub forced_writes: bool,
    /// Who did the operations.
    pub driver: &'static str,
    /// Its version, or the file of its library.
    pub driver_version: String,
    /// Connections.
    pub terminals: usize,
    /// How operations reached the server.
    pub mode: Mode,
    /// Where terminals worked.
    pub locality: Locality,
    /// How often each operation came.
    pub mix: Mix,
    /// The isolation of transactions.
    pub isolation: &'static str,
    /// When operations began.
    pub pace: Pace,
    /// How terminals shared threads.
    pub connections: Connections,
    /// The seed of the inputs.
    pub seed: u64,
    /// Seconds of work before measuring.
    pub warm_up_s: f64,
    /// With a rate: operations that were due and had not begun when measuring ended.
    pub backlog: u64,
    /// Seconds measured.
    pub seconds: f64,
    /// Operations completed in that time.
    pub completed: u64,
    /// New orders per minute.
    pub new_orders_per_minute: f64,
    /// By operation.
    pub operations: Vec<OperationFigures>,
    /// Operations completed in each second, all kinds together.
    pub series: Vec<u32>,
    /// The same by operation.
    pub series_by_operation: Vec<[u32; 5]>,
    /// Repetitions by reason.
    pub retries: BTreeMap<String, u64>,
    /// Operations given up, by reason.
    pub errors: BTreeMap<String, u64>,
    /// What the engine did in the measured time.
    pub engine_work: EngineWork,
    /// Processor time of the client's processes in the measured time, in seconds.
    pub client_cpu_s: f64,
    /// Processor time of the server in the measured time, in seconds, if it can be known.
    pub server_cpu_s: Option<f64>,
    /// What operations changed, the warm-up included.
    pub ledger: Ledger,
    /// The conditions after the run.
    pub conditions: Vec<Condition>,
    /// Whether the database shows what the terminals say they did, and the conditions hold.
    pub is_exact: bool,
    /// What makes the run invalid; empty if nothing does.
    pub problems: Vec<String>,
}

/// Figures of one operation.
#[derive(Clone, Debug, Serialize)]
pub struct OperationFigures {
    /// Which one.
    pub operation: Operation,
    /// Done and committed.
    pub committed: u64,
    /// Rolled back, as they should be.
    pub refused: u64,
    /// Mean latency, repetitions included, in microseconds.
    pub mean_us: f64,
    /// Latency by percentile, in microseconds: 50, 90, 95, 99, 99.9 and the longest.
    pub percentiles_us: [u64; 6],
}

/// The percentiles of [`OperationFigures::percentiles_us`]; 100 = the longest.
pub const PERCENTILES: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 100.0];

impl OperationFigures {
    /// Latency in microseconds that so many of a hundred do not exceed: one of [`PERCENTILES`], otherwise `None`.
    #[must_use]
    pub fn percentile(&self, percentile: f64) -> Option<u64> {
        let at = PERCENTILES.iter().position(|each| *each == percentile)?;
        Some(self.percentiles_us[at])
    }
}

/// What the engine did.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct EngineWork {
    /// Pages looked at in the cache.
    pub page_fetches: u64,
    /// Pages read from the disk.
    pub page_reads: u64,
    /// Pages written to the disk.
    pub page_writes: u64,
    /// Transactions begun.
    pub transactions: u64,
}

impl Run {
    /// Operations per second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        self.completed as f64 / self.seconds
    }

    /// The figures of new orders.
    #[must_use]
    pub fn new_orders(&self) -> &OperationFigures {
        &self.operations[Operation::NewOrder as usize]
    }

    /// Whether nothing speaks against the figures.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }

    /// Pages read from the disk for each operation.
    #[must_use]
    pub fn reads_per_operation(&self) -> f64 {
        self.engine_work.page_reads as f64 / self.completed.max(1) as f64
    }
}

/// A loaded database, before anybody works on it.
pub(crate) struct Site {
    /// A connection for everything else.
    pub(crate) connection: Connection,
    pub(crate) server: Server,
    pub(crate) plan: Plan,
    pub(crate) before: Shown,
}

impl Site {
    pub(crate) fn open(host: &dyn Host, config: &Config, options: &Options) -> Result<Self> {
        if options.terminals == 0 {
            return Err(Error::usage("a run needs a terminal"));
        }
        if options.connections == Connections::Async && options.mode != Mode::Sp {
            return Err(Error::usage("asynchronous terminals call procedures: --mode sp"));
        }
        if options.pace.rate.is_some_and(|rate| !(rate.is_finite() && rate > 0.0)) {
            return Err(Error::usage("a rate is a number of operations per second above 0"));
        }
        let connection = host.open(config)?;
        let schema::Meta { scale, .. } = schema::meta(&connection)?;
        let isolation = options.isolation.unwrap_or(match connection.has_firebird4() {
            true => Level::ReadConsistency,
            false => Level::ReadCommitted,
        });
        host.status("counting what is there");
        let before = Shown::read(&connection)?;
        let plan = Plan {
            scale,
            terminals: options.terminals,
            mode: options.mode,
            locality: options.locality,
            mix: options.mix,
            pace: options.pace,
            isolation,
            seed: options.seed,
        };
        let server = Server::find(config);
        Ok(Self { connection, server, plan, before })
    }
}

/// Firearrow's terminals, connected.
pub(crate) fn terminals(host: &dyn Host, config: &Config, plan: &Plan) -> Result<Terminals> {
    host.status(&format!("connecting {} terminals", plan.terminals));
    let config = patient(config);
    let mut connections = Vec::new();
    for _ in 0..plan.terminals {
        host.check()?;
        connections.push(Some(host.open(&config)?));
    }
    Ok(Terminals {
        mode: plan.mode,
        transactions: transactions(plan.isolation),
        connections: Mutex::new(connections),
    })
}

/// A server that stands still must not keep terminals for ever.
fn patient(config: &Config) -> Config {
    let mut config = config.clone();
    config.read_timeout.get_or_insert(PATIENCE);
    config
}

/// Connections that wait for their threads.
pub(crate) struct Terminals {
    mode: Mode,
    transactions: TransactionOptions,
    connections: Mutex<Vec<Option<Connection>>>,
}

impl Terminals {
    pub(crate) fn open(&self, terminal: usize) -> way::Result<Box<dyn way::Way>> {
        let connection = self.connections.lock().expect("nobody panics here")[terminal].take();
        let connection = connection.expect("a terminal opens once");
        Ok(way::open(self.mode, connection, self.transactions)?)
    }
}

/// The options of all transactions.
pub(crate) fn transactions(level: Level) -> TransactionOptions {
    TransactionOptions::default()
        .isolation(level.isolation())
        .lock_resolution(LockResolution::Timeout(LOCK_TIMEOUT_S))
}

/// Runs the terminals on a loaded database.
///
/// # Errors
/// If the database is not loaded, a terminal cannot connect, or the run is stopped. An invalid run is not an error:
/// see [`Run::problems`].
pub fn run(host: &dyn Host, config: &Config, options: &Options) -> Result<Run> {
    run_with(host, config, options, Client::Firearrow)
}

/// Runs the terminals of a client on a loaded database.
///
/// # Errors
/// As [`run`]; also if the client's program fails.
pub fn run_with(host: &dyn Host, config: &Config, options: &Options, client: Client<'_>) -> Result<Run> {
    if options.connections == Connections::Async && !matches!(client, Client::Firearrow) {
        return Err(Error::usage(format!(
            "only firearrow has asynchronous terminals, not {}",
            client.name()
        )));
    }
    let Site { connection, server, plan, before } = Site::open(host, config, options)?;
    let state = connection.statistics()?;
    let watched = |clock: &dyn Conduct| watch(host, &connection, &server, clock, options);
    let (worked, client_cpu_s) = match client {
        Client::Firearrow if options.connections == Connections::Async => {
            host.status(&format!("connecting {} terminals", plan.terminals));
            let worked = asynchronous::together(&patient(config), &plan, watched)?;
            let cpu = worked.during.client_cpu_s;
            (worked, cpu)
        }
        Client::Firearrow => {
            let terminals = terminals(host, config, &plan)?;
            let worked =
                terminal::together(&plan, &|terminal| terminals.open(terminal), |clock| watched(clock))?;
            let cpu = worked.during.client_cpu_s;
            (worked, cpu)
        }
        Client::Library(peer) => peer::conduct(host, peer, &plan, watched)?,
        Client::Python(rival) => {
            host.status(&format!("connecting {} terminals of firebird-driver", plan.terminals));
            let meter = Meter::new(plan.terminals);
            let (kept, processes) = rival.start(host, plan.terminals)?;
            let open = |terminal| rival.open(&plan, &processes, terminal, meter.hand(terminal));
            let worked = terminal::together(&plan, &open, |clock| {
                let clock = Metered::new(clock, &meter);
                // If that fails, the processes end here, and nobody waits for their answers.
                Ok((watched(&clock)?, clock.seconds(), kept))
            })?;
            let (during, cpu, _kept) = worked.during;
            (Worked { during, tally: worked.tally, ended: worked.ended }, cpu)
        }
    };
    let Worked { during: measured, tally, ended } = worked;

    host.status("checking");
    // Programs of others hear a little later that measuring is over, so it counts what was begun until they ended.
    let begun = connection.statistics()?.next_transaction.saturating_sub(measured.first_transaction);
    let after = Shown::read(&connection)?;
    let conditions =
        check::conditions(&connection.begin(TransactionOptions::reading())?, options.full_check)?;
    let mut problems: Vec<String> = ended
        .iter()
        .enumerate()
        .filter_map(|(terminal, error)| Some(format!("terminal {}: {}", terminal + 1, error.as_ref()?)))
        .collect();
    let mut contradictions: Vec<String> = conditions.iter().filter_map(Condition::problem).collect();
    contradictions.extend(ledger_problems(before, after, &tally.ledger));
    let is_exact = contradictions.is_empty();
    if !matches!(client, Client::Firearrow) {
        let seen = Duration::from_secs_f64(measured.seconds);
        let possible = plausible::processor_time(seen, client_cpu_s);
        contradictions.extend(possible.err().map(|error| error.to_string()));
        contradictions.extend(credible::problems(&tally, &plan, measured.seconds, measured.all_s));
        if problems.is_empty() {
            contradictions.extend(credible::idle(&tally, &plan, measured.seconds));
        }
    }
    contradictions.extend(tally.contradictions(plan.terminals, measured.seconds));
    contradictions.extend(work_problems(&tally, &plan, begun));
    problems.extend(contradictions);
    problems.extend(gates(&tally, options, measured.seconds));
    host.status("");
    Ok(Run {
        engine: connection.info()?.engine_version,
        scale: plan.scale,
        bytes: state.pages * u64::from(state.page_size),
        cache_bytes: state.page_buffers * u64::from(state.page_size),
        forced_writes: state.forced_writes,
        driver: client.name(),
        driver_version: client.version(),
        terminals: options.terminals,
        mode: options.mode,
        locality: options.locality,
        mix: options.mix,
        isolation: plan.isolation.name(),
        pace: options.pace,
        connections: options.connections,
        seed: options.seed,
        warm_up_s: options.warm_up.as_secs_f64(),
        backlog: tally.backlog,
        seconds: measured.seconds,
        completed: tally.completed(),
        new_orders_per_minute: tally.operations[0].committed as f64 * 60.0 / measured.seconds,
        operations: Operation::ALL.iter().map(|operation| figures(&tally, *operation)).collect(),
        series: tally.series.iter().map(|second| second.iter().sum()).collect(),
        series_by_operation: tally.series,
        retries: tally.retries,
        errors: tally.errors,
        engine_work: measured.work,
        client_cpu_s,
        server_cpu_s: measured.server_cpu_s,
        ledger: tally.ledger,
        conditions,
        is_exact,
        problems,
    })
}

/// The problem, if the server began fewer transactions than operations were counted.
fn work_problems(tally: &Tally, plan: &Plan, begun: u64) -> Option<String> {
    let completed = tally.completed();
    // Those that were under way when measuring began.
    (completed > begun + plan.terminals as u64)
        .then(|| format!("{completed} operations were counted, and the server began {begun} transactions"))
}

/// What was measured beside the terminals.
struct Measured {
    seconds: f64,
    /// Seconds in which terminals worked, before measuring as well.
    all_s: f64,
    /// The number of the next transaction when measuring began.
    first_transaction: u64,
    work: EngineWork,
    client_cpu_s: f64,
    server_cpu_s: Option<f64>,
}

/// Sets the clock, and reads the counters where measuring begins and ends.
fn watch(
    host: &dyn Host,
    connection: &Connection,
    server: &Server,
    clock: &dyn Conduct,
    options: &Options,
) -> Result<Measured> {
    let working = Instant::now();
    wait(host, "warming up", options.warm_up, &|| clock.failed() < options.terminals)?;
    let read = || -> Result<_> {
        Ok((
            connection.counters()?,
            connection.statistics()?.next_transaction,
            CpuTime::now()?,
            server.cpu_seconds()?,
        ))
    };
    let before = read()?;
    let started = clock.measure();
    wait(host, "measuring", options.measure, &|| clock.failed() < options.terminals)?;
    let seconds = started.elapsed().as_secs_f64();
    clock.stop();
    let all_s = working.elapsed().as_secs_f64();
    let after = read()?;
    let work = after.0.since(&before.0);
    let work = EngineWork {
        page_fetches: work.page_fetches,
        page_reads: work.page_reads,
        page_writes: work.page_writes,
        transactions: after.1.saturating_sub(before.1),
    };
    let cpu = after.2.since(before.2);
    Ok(Measured {
        seconds,
        all_s,
        first_transaction: before.1,
        work,
        client_cpu_s: cpu.seconds(),
        server_cpu_s: before.3.zip(after.3).map(|(before, after)| after - before),
    })
}

/// Waits while there is something to wait for.
pub(crate) fn wait(host: &dyn Host, what: &str, time: Duration, is_alive: &dyn Fn() -> bool) -> Result<()> {
    let started = Instant::now();
    loop {
        let left = time.saturating_sub(started.elapsed());
        if left.is_zero() || !is_alive() {
            return Ok(());
        }
        host.status(&format!("{what}, {} s left", left.as_secs() + 1));
        host.check()?;
        thread::sleep(left.min(Duration::from_millis(200)));
    }
}

fn figures(tally: &Tally, operation: Operation) -> OperationFigures {
    let of = &tally.operations[operation as usize];
    OperationFigures {
        operation,
        committed: of.committed,
        refused: of.refused,
        mean_us: of.latency.mean(),
        percentiles_us: PERCENTILES.map(|percentile| of.latency.value_at_quantile(percentile / 100.0)),
    }
}
