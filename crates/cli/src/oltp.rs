//! `firearrow oltp`: passes options to the crate `firearrow-oltp`, and prints its figures.

use crate::args::TimeLimit;
use crate::bench::Terminal;
use crate::failure::{Failure, Result};
use crate::output::{print, print_data};
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use firearrow::config::Config;
use firearrow_bench::text::{size, thousands};
use firearrow_oltp::{self as oltp, Loaded, Operation, Run, Scale};
use serde::Serialize;
use std::num::{NonZeroU32, NonZeroUsize};
use std::thread;

#[derive(Args, Debug)]
pub(crate) struct OltpArgs {
    #[command(subcommand)]
    command: OltpCommand,
}

#[derive(Debug, Subcommand)]
enum OltpCommand {
    /// Fill nine tables, as large as you want, and check them
    Load(LoadArgs),
    /// Run terminals on a loaded database, and check what they did
    Run(RunArgs),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow oltp load oltp.fdb --warehouses 2
  firearrow oltp load 'firebird://SYSDBA@localhost//data/oltp.fdb?force_writes=off' --warehouses 20 --force

The tables are those of TPC-C: about 107 MB for each warehouse. A missing database is created, with pages of
16 KiB unless the URL says otherwise. Several connections insert, one warehouse at a time each; then indexes and
procedures are made, and rows and consistency are checked. The same seed and size give the same rows.")]
struct LoadArgs {
    /// The database; created if it does not exist
    #[arg(value_name = "FILE|URL", value_hint = ValueHint::AnyPath)]
    url: String,
    /// Size of the database
    #[arg(long, short, value_name = "N", default_value = "1")]
    warehouses: NonZeroU32,
    /// Connections that insert side by side [default: processors]
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroUsize>,
    /// Seed of the rows
    #[arg(long, value_name = "N", default_value_t = 42)]
    seed: u64,
    /// When indexes are made: before or after the rows
    #[arg(long, value_name = "WHEN", default_value = "after")]
    index: When,
    /// Replace existing tables of the workload
    #[arg(long)]
    force: bool,
    /// A hundredth of the rows, to try things out; figures mean nothing
    #[arg(long, hide = true)]
    tiny: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum When {
    Before,
    After,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow oltp run firebird://SYSDBA@localhost//data/oltp.fdb
  firearrow oltp run oltp.fdb --locality uniform --measure 60s --warm-up 10s
  firearrow oltp run firebird://SYSDBA@localhost//data/oltp.fdb --mode sql-pipelined --terminals 50

Each terminal is a connection that orders, pays, asks, delivers and counts stock without a pause, in transactions of
their own. At home, terminal k works at warehouse k, as in TPC-C; uniform means everywhere. Conflicts are repeated up
to ten times, and the latency includes that.

Afterwards the database must show exactly what the terminals did, the consistency conditions must hold, the mix
must be the wanted one and next to nothing may have failed. Otherwise the figures are not printed and the
exit status is 1. These are not TPC-C results, and must not be called so.")]
struct RunArgs {
    /// The database
    #[arg(value_name = "FILE|URL", value_hint = ValueHint::AnyPath)]
    url: String,
    /// Connections that work side by side
    #[arg(long, value_name = "N", default_value = "20")]
    terminals: NonZeroUsize,
    /// How operations reach the server
    #[arg(long, default_value = "sp")]
    mode: Mode,
    /// Where terminals work
    #[arg(long, default_value = "home")]
    locality: Locality,
    /// How often each operation comes
    #[arg(long, default_value = "tpcc")]
    mix: Mix,
    /// Isolation of the transactions [default: read-consistency; read-committed on Firebird 3]
    #[arg(long)]
    isolation: Option<Isolation>,
    /// Time before operations count (500ms, 30s, 5min)
    #[arg(long, value_name = "TIME", default_value = "10s")]
    warm_up: TimeLimit,
    /// Time in which they count
    #[arg(long, value_name = "TIME", default_value = "60s")]
    measure: TimeLimit,
    /// Seed of what terminals ask for
    #[arg(long, value_name = "N", default_value_t = 42)]
    seed: u64,
    /// Check all twelve conditions of consistency, not only the first four
    #[arg(long)]
    full_check: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mode {
    /// A stored procedure and a commit
    Sp,
    /// Statement by statement
    Sql,
    /// Statement by statement, with those together that need not wait for each other
    SqlPipelined,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Locality {
    /// Each terminal at a warehouse of its own
    Home,
    /// Every terminal at every warehouse
    Uniform,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mix {
    /// 10 orders and 10 payments for one of each other
    Tpcc,
    /// All alike
    Equal,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Isolation {
    /// READ COMMITTED READ CONSISTENCY
    ReadConsistency,
    /// READ COMMITTED RECORD VERSION
    ReadCommitted,
    /// SNAPSHOT
    Snapshot,
}

pub(crate) fn run(args: &OltpArgs, json: bool) -> Result<()> {
    match &args.command {
        OltpCommand::Load(args) => load(args, json),
        OltpCommand::Run(args) => run_terminals(args, json),
    }
}

fn load(args: &LoadArgs, json: bool) -> Result<()> {
    let config = Config::parse(&args.url)?;
    let warehouses = args.warehouses.get();
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    let options = oltp::LoadOptions {
        scale: if args.tiny { Scale::tiny(warehouses) } else { Scale::of(warehouses) },
        seed: args.seed,
        workers: args.workers.map_or_else(processors, usize::from),
        indexes_first: args.index == When::Before,
        replace: args.force,
    };
    let loaded = oltp::load(&Terminal { quiet: json }, &config, &options)?;
    if json { print_json(&loaded) } else { print(&load_text(&loaded)) }
}

fn run_terminals(args: &RunArgs, json: bool) -> Result<()> {
    let config = Config::parse(&args.url)?;
    let options = oltp::RunOptions {
        terminals: args.terminals.get(),
        mode: match args.mode {
            Mode::Sp => oltp::Mode::Sp,
            Mode::Sql => oltp::Mode::Sql,
            Mode::SqlPipelined => oltp::Mode::SqlPipelined,
        },
        locality: match args.locality {
            Locality::Home => oltp::Locality::Home,
            Locality::Uniform => oltp::Locality::Uniform,
        },
        mix: match args.mix {
            Mix::Tpcc => oltp::Mix::TpcC,
            Mix::Equal => oltp::Mix::Equal,
        },
        isolation: args.isolation.map(|isolation| match isolation {
            Isolation::ReadConsistency => firearrow::Isolation::ReadCommittedReadConsistency,
            Isolation::ReadCommitted => firearrow::Isolation::ReadCommittedRecordVersion,
            Isolation::Snapshot => firearrow::Isolation::Snapshot,
        }),
        warm_up: args.warm_up.0,
        measure: args.measure.0,
        seed: args.seed,
        full_check: args.full_check,
    };
    let done = oltp::run(&Terminal { quiet: json }, &config, &options)?;
    if json {
        print_json(&done)?;
    }
    if !done.is_valid() {
        return Err(Failure::other(format!(
            "the run is invalid, so its figures are withheld:\n  {}",
            done.problems.join("\n  ")
        )));
    }
    if json { Ok(()) } else { print(&run_text(&done)) }
}

fn print_json(value: &impl Serialize) -> Result<()> {
    print_data(&format!("{:#}\n", serde_json::to_value(value)?))
}

fn load_text(loaded: &Loaded) -> String {
    let rate = size(loaded.bytes_per_second() as u64);
    let mut text = format!(
        "loaded {} warehouses into Firebird {}: {}, {} rows\n",
        loaded.scale.warehouses,
        loaded.engine,
        size(loaded.bytes),
        thousands(loaded.total())
    );
    text += &format!(
        "rows {:.1} s ({rate}/s, {} connections), indexes {:.1} s; forced writes {}\n",
        loaded.rows_s,
        loaded.workers,
        loaded.indexes_s,
        if loaded.forced_writes { "on" } else { "off" }
    );
    let server = loaded.server_cpu_s.map_or_else(String::new, |cpu| format!(", of the server {cpu:.1} s"));
    text += &format!("processor time {:.1} s{server}\n", loaded.client_cpu_s);
    text + "checked: rows of every table, consistency conditions 1 to 4\n"
}

fn run_text(run: &Run) -> String {
    let mut text = format!(
        "Firebird {}, {} warehouses, {} (cache {}), forced writes {}\n",
        run.engine,
        run.scale.warehouses,
        size(run.bytes),
        size(run.cache_bytes),
        if run.forced_writes { "on" } else { "off" }
    );
    text += &format!(
        "{} terminals, {}, {:?}, {}, {:.0} s measured\n\n",
        run.terminals,
        run.mode.name(),
        run.locality,
        run.isolation,
        run.seconds
    )
    .to_lowercase();
    text += &format!(
        "{} operations/s, {} new orders/min\n\n",
        thousands(run.per_second() as u64),
        thousands(run.new_orders_per_minute as u64)
    );
    text += "              committed   p50 ms   p90 ms   p99 ms   max ms\n";
    for figures in &run.operations {
        let ms = |at: usize| figures.percentiles_us[at] as f64 / 1000.0;
        text += &format!(
            "{:12} {:>10} {:>8.2} {:>8.2} {:>8.2} {:>8.2}\n",
            figures.operation.name(),
            thousands(figures.committed),
            ms(0),
            ms(1),
            ms(3),
            ms(5)
        );
    }
    let counts = |counts: &std::collections::BTreeMap<String, u64>| {
        let all: Vec<String> = counts.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        if all.is_empty() { "none".to_owned() } else { all.join(", ") }
    };
    let refused: u64 = run.operations.iter().map(|figures| figures.refused).sum();
    debug_assert_eq!(run.operations.len(), Operation::ALL.len());
    text += &format!(
        "\nrolled back as intended {refused}; repeated: {}; failed: {}\n",
        counts(&run.retries),
        counts(&run.errors)
    );
    text += &format!(
        "pages for each operation: {:.1} looked at, {:.2} read from disk\n",
        run.engine_work.page_fetches as f64 / run.completed.max(1) as f64,
        run.reads_per_operation()
    );
    let server = run.server_cpu_s.map_or_else(String::new, |cpu| format!(", of the server {cpu:.1} s"));
    text += &format!("processor time {:.1} s{server}\n", run.client_cpu_s);
    text += &format!(
        "checked: the ledger of {} orders and {} payments, consistency conditions 1 to {}\n",
        thousands(run.ledger.orders),
        thousands(run.ledger.payments),
        run.conditions.len()
    );
    if run.scale.is_full() { text } else { text + "The tables are tiny: the figures mean nothing.\n" }
}
