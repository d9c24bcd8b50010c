//! Runs the terminals, and checks that what they did is what the database shows.

use crate::check::{self, Condition};
use crate::input::{Inputs, Locality, Mix, Operation};
use crate::scale::Scale;
use crate::schema;
use crate::tally::{Ledger, Tally};
use crate::terminal::{self, Clock};
use crate::way::Mode;
use firearrow::config::Config;
use firearrow::{Connection, Decimal, Isolation, LockResolution, TransactionOptions};
use firearrow_bench::{CpuTime, Error, Host, Result, Server};
use serde::Serialize;
use std::collections::BTreeMap;
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
    pub isolation: Option<Isolation>,
    /// Time before operations count.
    pub warm_up: Duration,
    /// Time in which they count.
    pub measure: Duration,
    /// The same seed gives the same inputs, though not the same order between terminals.
    pub seed: u64,
    /// Whether all twelve conditions are checked, not only the first four.
    pub full_check: bool,
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
    /// Connections.
    pub terminals: usize,
    /// How operations reached the server.
    pub mode: Mode,
    /// Where terminals worked.
    pub locality: Locality,
    /// How often each operation came.
    pub mix: Mix,
    /// The isolation of transactions.
    pub isolation: String,
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
    /// Repetitions by reason.
    pub retries: BTreeMap<String, u64>,
    /// Operations given up, by reason.
    pub errors: BTreeMap<String, u64>,
    /// What the engine did in the measured time.
    pub engine_work: EngineWork,
    /// Processor time of this process in the measured time, in seconds.
    pub client_cpu_s: f64,
    /// Processor time of the server in the measured time, in seconds, if it can be known.
    pub server_cpu_s: Option<f64>,
    /// What operations changed, the warm-up included.
    pub ledger: Ledger,
    /// The conditions after the run.
    pub conditions: Vec<Condition>,
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

/// What the database shows of the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shown {
    orders: i64,
    lines: i64,
    payments: i64,
    open: i64,
    paid_cents: i128,
}

impl Shown {
    fn read(connection: &Connection) -> Result<Self> {
        let transaction = connection.begin(TransactionOptions::reading())?;
        let count = |table: &str| -> Result<i64> {
            Ok(transaction.query(&format!("SELECT COUNT(*) FROM {table}"))?.value()?)
        };
        let paid: Decimal = transaction.query("SELECT SUM(W_YTD) FROM WAREHOUSE")?.value()?;
        Ok(Self {
            orders: count("ORDERS")?,
            lines: count("ORDER_LINE")?,
            payments: count("HISTORY")?,
            open: count("NEW_ORDER")?,
            paid_cents: paid.unscaled,
        })
    }
}

/// Compares what the database shows with what terminals say that they did.
fn compare(before: Shown, after: Shown, ledger: &Ledger) -> Vec<String> {
    let signed = |count: u64| i128::from(count);
    let facts = [
        ("orders", i128::from(after.orders - before.orders), signed(ledger.orders)),
        ("order lines", i128::from(after.lines - before.lines), signed(ledger.lines)),
        ("payments", i128::from(after.payments - before.payments), signed(ledger.payments)),
        (
            "open orders",
            i128::from(after.open - before.open),
            signed(ledger.orders) - signed(ledger.delivered),
        ),
        ("hundredths paid", after.paid_cents - before.paid_cents, i128::from(ledger.paid_cents)),
    ];
    let wrong = facts.into_iter().filter(|(_, shown, told)| shown != told);
    let hint = match ledger.unknown {
        0 => String::new(),
        count => format!(" ({count} commits whose answer was lost)"),
    };
    wrong
        .map(|(what, shown, told)| {
            format!("the database has {shown:+} {what}, the terminals did {told:+}{hint}")
        })
        .collect()
}

/// Runs the terminals on a loaded database.
///
/// # Errors
/// If the database is not loaded, a terminal cannot connect, or the run is stopped. An invalid run is not an error:
/// see [`Run::problems`].
pub fn run(host: &dyn Host, config: &Config, options: &Options) -> Result<Run> {
    let connection = host.open(config)?;
    let schema::Meta { scale, .. } = schema::meta(&connection)?;
    if options.terminals == 0 {
        return Err(Error::usage("a run needs a terminal"));
    }
    let (isolation, transactions) = transactions(options, connection.has_firebird4());
    let state = connection.statistics()?;
    host.status("counting what is there");
    let before = Shown::read(&connection)?;
    let server = Server::find(config);
    host.status(&format!("connecting {} terminals", options.terminals));
    let mut connections = Vec::new();
    for _ in 0..options.terminals {
        host.check()?;
        connections.push(host.open(config)?);
    }

    let clock = Clock::new(options.terminals);
    let mut measured = Measured::default();
    let (tallies, ended) = thread::scope(|scope| {
        let start = |(terminal, connection)| {
            let clock = &clock;
            let work = move || {
                let connection: Connection = connection;
                let mut inputs = Inputs::new(scale, options.locality, options.mix, options.seed, terminal);
                terminal::work(&connection, options.mode, transactions, &mut inputs, clock)
            };
            scope.spawn(work)
        };
        let terminals: Vec<_> = connections.into_iter().enumerate().map(start).collect();
        clock.ready.wait();
        let timed = watch(host, &connection, &server, &clock, options, &mut measured);
        clock.stop();
        let done: Vec<_> =
            terminals.into_iter().map(|terminal| terminal.join().expect("no terminal panics")).collect();
        timed.map(|()| done.into_iter().unzip::<_, _, Vec<Tally>, Vec<Option<firearrow::Error>>>())
    })?;

    host.status("checking");
    let tally = Tally::sum(&tallies);
    let after = Shown::read(&connection)?;
    let conditions =
        check::conditions(&connection.begin(TransactionOptions::reading())?, options.full_check)?;
    let mut problems: Vec<String> = ended
        .iter()
        .enumerate()
        .filter_map(|(terminal, error)| {
            Some(format!("terminal {}: {}", terminal + 1, error.as_ref()?.message().trim_end()))
        })
        .collect();
    problems.extend(conditions.iter().filter(|condition| condition.violations > 0).map(|condition| {
        format!(
            "condition {} is violated {} times: {}",
            condition.number, condition.violations, condition.rule
        )
    }));
    problems.extend(compare(before, after, &tally.ledger));
    problems.extend(gates(&tally, options, measured.seconds));
    host.status("");
    Ok(Run {
        engine: connection.info()?.engine_version,
        scale,
        bytes: state.pages * u64::from(state.page_size),
        cache_bytes: state.page_buffers * u64::from(state.page_size),
        forced_writes: state.forced_writes,
        terminals: options.terminals,
        mode: options.mode,
        locality: options.locality,
        mix: options.mix,
        isolation,
        seconds: measured.seconds,
        completed: tally.completed(),
        new_orders_per_minute: tally.operations[0].committed as f64 * 60.0 / measured.seconds,
        operations: Operation::ALL.iter().map(|operation| figures(&tally, *operation)).collect(),
        series: tally.series.iter().map(|second| second.iter().sum()).collect(),
        retries: tally.retries,
        errors: tally.errors,
        engine_work: measured.work,
        client_cpu_s: measured.client_cpu_s,
        server_cpu_s: measured.server_cpu_s,
        ledger: tally.ledger,
        conditions,
        problems,
    })
}

/// What was measured beside the terminals.
#[derive(Default)]
struct Measured {
    seconds: f64,
    work: EngineWork,
    client_cpu_s: f64,
    server_cpu_s: Option<f64>,
}

/// Sets the clock, and reads the counters where measuring begins and ends.
fn watch(
    host: &dyn Host,
    connection: &Connection,
    server: &Server,
    clock: &Clock,
    options: &Options,
    measured: &mut Measured,
) -> Result<()> {
    wait(host, "warming up", options.warm_up)?;
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
    wait(host, "measuring", options.measure)?;
    measured.seconds = started.elapsed().as_secs_f64();
    clock.stop();
    let after = read()?;
    let work = after.0.since(&before.0);
    measured.work = EngineWork {
        page_fetches: work.page_fetches,
        page_reads: work.page_reads,
        page_writes: work.page_writes,
        transactions: after.1.saturating_sub(before.1),
    };
    let cpu = after.2.since(before.2);
    measured.client_cpu_s = cpu.seconds();
    measured.server_cpu_s = before.3.zip(after.3).map(|(before, after)| after - before);
    Ok(())
}

fn wait(host: &dyn Host, what: &str, time: Duration) -> Result<()> {
    let started = Instant::now();
    loop {
        let left = time.saturating_sub(started.elapsed());
        if left.is_zero() {
            return Ok(());
        }
        host.status(&format!("{what}, {} s left", left.as_secs() + 1));
        host.check()?;
        thread::sleep(left.min(Duration::from_millis(200)));
    }
}

/// Returns the isolation's name and the options of all transactions.
fn transactions(options: &Options, has_firebird4: bool) -> (String, TransactionOptions) {
    let isolation = options.isolation.unwrap_or(match has_firebird4 {
        true => Isolation::ReadCommittedReadConsistency,
        false => Isolation::ReadCommittedRecordVersion,
    });
    // Nobody waits for ever: a lock that is held for so long is an error worth knowing.
    let transactions =
        TransactionOptions::default().isolation(isolation).lock_resolution(LockResolution::Timeout(10));
    (format!("{isolation:?}"), transactions)
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

/// What else makes a run invalid.
fn gates(tally: &Tally, options: &Options, seconds: f64) -> Vec<String> {
    let mut problems = Vec::new();
    let completed = tally.completed();
    let failed: u64 = tally.errors.values().sum();
    if failed * 1000 > completed + failed {
        problems.push(format!("{failed} of {} operations failed, more than 0.1 %", completed + failed));
    }
    for operation in Operation::ALL {
        let of = &tally.operations[operation as usize];
        let share = (of.committed + of.refused) as f64 / completed.max(1) as f64;
        let wanted = options.mix.share(operation);
        if (share - wanted).abs() > 0.02 {
            problems.push(format!(
                "{:.1} % of the operations are {}, not {:.1} %",
                share * 100.0,
                operation.name(),
                wanted * 100.0
            ));
        }
        if tally.fewest[operation as usize] == 0 {
            problems.push(format!("a terminal completed no {}: measure longer", operation.name()));
        }
    }
    if seconds < options.measure.as_secs_f64() * 0.95 {
        problems.push(format!("measured {seconds:.1} s only"));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::way::Outcome;

    fn options() -> Options {
        Options {
            terminals: 1,
            mode: Mode::Sp,
            locality: Locality::Home,
            mix: Mix::Equal,
            isolation: None,
            warm_up: Duration::ZERO,
            measure: Duration::from_secs(10),
            seed: 1,
            full_check: false,
        }
    }

    #[test]
    fn what_makes_a_run_worthless_is_named() {
        let mut tally = Tally { fewest: [200; 5], ..Tally::default() };
        for operation in Operation::ALL {
            for _ in 0..200 {
                tally.measured(operation, Outcome::Read { rows: 1 }, Duration::from_millis(1), 0);
            }
        }
        tally.errors.insert("deadlock".into(), 1);
        assert_eq!(gates(&tally, &options(), 10.0), Vec::<String>::new());
        tally.errors.insert("lost".into(), 1);
        assert_eq!(gates(&tally, &options(), 10.0), ["2 of 1002 operations failed, more than 0.1 %"]);
        tally.errors.clear();
        tally.fewest[3] = 0;
        assert_eq!(
            gates(&tally, &options(), 9.0),
            ["a terminal completed no delivery: measure longer", "measured 9.0 s only"]
        );
        tally.fewest[3] = 1;
        let wrong = gates(&tally, &Options { mix: Mix::TpcC, ..options() }, 10.0);
        assert_eq!(wrong[0], "20.0 % of the operations are new order, not 43.5 %");
        assert_eq!(wrong.len(), 5);
    }

    #[test]
    fn a_ledger_that_does_not_balance_is_a_problem() {
        let before = Shown { orders: 100, lines: 1000, payments: 50, open: 30, paid_cents: 1_000_000 };
        let ledger =
            Ledger { orders: 10, lines: 95, payments: 4, paid_cents: 1234, delivered: 20, unknown: 0 };
        let after = Shown { orders: 110, lines: 1095, payments: 54, open: 20, paid_cents: 1_001_234 };
        assert_eq!(compare(before, after, &ledger), Vec::<String>::new());
        let lost = Shown { lines: 1094, ..after };
        assert_eq!(
            compare(before, lost, &ledger),
            ["the database has +94 order lines, the terminals did +95"]
        );
        let odd = Shown { paid_cents: 1_001_235, open: 21, ..after };
        assert_eq!(compare(before, odd, &Ledger { unknown: 2, ..ledger }).len(), 2);
    }
}
