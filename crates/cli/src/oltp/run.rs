//! `firearrow oltp run`

use super::crash::{self, CrashArgs};
use super::work::{WayArgs, WorkArgs};
use super::{environment, print_json};
use crate::args::TimeLimit;
use crate::bench::CommandHost;
use crate::failure::{Failure, Result};
use crate::open;
use crate::output::print;
use crate::terminal;
use clap::{Args, ValueEnum, ValueHint};
use firearrow::config::Config;
use firearrow_bench::text::{size, thousands};
use firearrow_bench::{Peer, Reference, ReferenceChoice, save};
use firearrow_oltp::{self as oltp, Client, Locality, Mode, Operation, Rival, Run};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow oltp run firebird://SYSDBA@localhost//data/oltp.fdb
  firearrow oltp run oltp.fdb --locality uniform --measure 60s --warm-up 10s
  firearrow oltp run firebird://SYSDBA@localhost//data/oltp.fdb --mode sql-pipelined --terminals 50
  firearrow oltp run firebird://SYSDBA@localhost//data/oltp.fdb --kill-server-at 10s \\
      --restart-command 'systemctl start firebird3.0'

Each terminal is a connection that runs new-order, payment, order-status,
delivery and stock-level operations without a pause, each in a transaction of
its own. At home, each terminal works at its home warehouse, as in TPC-C;
uniform means everywhere. After a conflict an operation is retried, up to ten
attempts, and the latency includes that.

Afterwards the database must show exactly what the terminals did, the
consistency conditions must hold, the mix must be the wanted one and next to
nothing may have failed. Otherwise the figures are not printed and the exit
status is 1. With --kill-server-at every commit that the server acknowledged
must be there after its restart. These are not TPC-C results, and must not be
called so.")]
pub(super) struct RunArgs {
    /// The database
    #[arg(value_name = "FILE|URL", value_hint = ValueHint::AnyPath)]
    url: String,
    #[command(flatten)]
    work: WorkArgs,
    #[command(flatten)]
    way: WayArgs,
    /// Where terminals work
    #[arg(long, default_value = "home")]
    locality: Locality,
    /// Warm-up time, not measured (500ms, 30s, 5min)
    #[arg(long, value_name = "TIME", default_value = "10s")]
    warm_up: TimeLimit,
    /// Measured time
    #[arg(long, value_name = "TIME", default_value = "60s")]
    measure: TimeLimit,
    /// Client that runs the operations
    #[arg(long, value_enum, default_value = "firearrow")]
    driver: Driver,
    /// The client library of --driver libfbclient and firebird-driver, of the server's version
    #[arg(long, alias = "client-library", value_name = "PATH", value_hint = ValueHint::FilePath)]
    reference_client: Option<PathBuf>,
    /// The Python of --driver firebird-driver
    #[arg(long, value_name = "PATH", value_hint = ValueHint::ExecutablePath, default_value = "python3")]
    python: PathBuf,
    /// Write the operations of each second as CSV
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    series: Option<PathBuf>,
    /// Check all twelve conditions of consistency, not only the first four
    #[arg(long)]
    full_check: bool,
    /// Write DIR/DATE-oltp-PLATFORM/raw.jsonl and report.md
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    save: Option<PathBuf>,
    #[command(flatten)]
    crash: CrashArgs,
}

/// Client that runs the operations.
#[allow(clippy::enum_variant_names, reason = "firebird-driver is a name")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Driver {
    /// This command
    Firearrow,
    /// The client library, in the program firearrow-peer-libfb
    Libfbclient,
    /// Python's firebird-driver, in a process for each terminal
    FirebirdDriver,
}

pub(super) fn run(args: &RunArgs, json: bool) -> Result<()> {
    let config = crate::open::parse(&args.url)?;
    let mut options = args.way.apply(args.work.options(args.locality, args.warm_up.0, args.measure.0));
    options.full_check = args.full_check;
    if let Some(outage) = args.crash.outage() {
        return crash::run(&config, &options, outage, json);
    }
    if let Some(path) = &args.series {
        // What cannot be written should be known before measuring.
        save::check_file(path)?;
    }
    let host = CommandHost { quiet: json };
    let other = other(&host, args, &config)?;
    let client = match &other {
        None => Client::Firearrow,
        Some(Other::Library(peer)) => Client::Library(peer),
        Some(Other::Python(rival)) => Client::Python(rival),
    };
    let done = oltp::run_with(&host, &config, &options, client)?;
    if !done.is_valid() {
        return Err(Failure::other(format!(
            "the run is invalid, so its figures are withheld:\n  {}",
            done.problems.join("\n  ")
        )));
    }
    match json {
        true => print_json(&done)?,
        false => print(&text(&done))?,
    }
    if let Some(path) = &args.series {
        save::file(path, series(&done).as_bytes())?;
    }
    if let Some(folder) = &args.save {
        let environment = environment(&config, 1)?;
        let record = oltp::run_record(&environment, &done)?;
        let name = format!("{}-oltp-{}", environment.day(), environment.platform());
        let report = firearrow_report::markdown(std::slice::from_ref(&record));
        terminal::remark(&format!("saved in {}", save::write(folder, &name, &record, &report)?.display()));
    }
    Ok(())
}

/// Another client than this command.
enum Other {
    Library(Peer),
    Python(Rival),
}

/// Who does the operations, if it is not this command.
fn other(host: &CommandHost, args: &RunArgs, config: &Config) -> Result<Option<Other>> {
    let name = match args.driver {
        Driver::Firearrow => return Ok(None),
        Driver::Libfbclient => "libfbclient",
        Driver::FirebirdDriver => "firebird-driver",
    };
    if args.way.mode == Mode::SqlPipelined {
        return Err(Failure::usage(format!(
            "{name} executes one statement after the other: --mode sp or sql"
        )));
    }
    let info = open::attach(config)?.info()?;
    let library = args.reference_client.as_deref();
    let other = if args.driver == Driver::FirebirdDriver {
        Rival::find(host, &args.python, library, config, &info).map(Other::Python)
    } else {
        match Reference::find(&ReferenceChoice::Client(library.map(Path::to_owned)), config, &info) {
            Reference::Peer(peer) => Ok(Other::Library(peer)),
            Reference::Absent(reason) => Err(reason),
        }
    };
    other.map(Some).map_err(|reason| Failure::usage(format!("--driver {name}: {reason}")))
}

/// A line for each second.
fn series(run: &Run) -> String {
    let names: Vec<String> = Operation::ALL.iter().map(|each| each.name().replace(' ', "_")).collect();
    let mut text = format!("second,{},operations\r\n", names.join(","));
    for (second, counts) in run.series_by_operation.iter().enumerate() {
        let cells: Vec<String> = counts.iter().map(u32::to_string).collect();
        text += &format!("{second},{},{}\r\n", cells.join(","), counts.iter().sum::<u32>());
    }
    text
}

fn text(run: &Run) -> String {
    // Some say their name themselves: libfbclient.so.2.
    let who = match &run.driver_version {
        version if version.starts_with(run.driver) => version.clone(),
        version => format!("{} {version}", run.driver),
    };
    let mut text = format!(
        "Firebird {}, {}, {} (cache {}), forced writes {}\n",
        run.engine,
        run.scale.in_words(),
        size(run.bytes),
        size(run.cache_bytes),
        if run.forced_writes { "on" } else { "off" }
    );
    text += &format!(
        "{who}: {} terminals, {}, {}, {}, {:.0} s measured\n\n",
        run.terminals,
        run.mode.name(),
        run.locality.name(),
        run.isolation,
        run.seconds
    );
    text += &format!(
        "{} operations/s, {} new orders/min\n\n",
        thousands(run.per_second() as u64),
        thousands(run.new_orders_per_minute as u64)
    );
    if let Some(rate) = run.pace.rate {
        text += &format!(
            "wanted: {} operations/s; {} were due at the end and had not begun\n\n",
            thousands(rate as u64),
            thousands(run.backlog)
        );
    }
    text += "              committed   p50 ms   p90 ms   p99 ms p99.9 ms   max ms\n";
    for figures in &run.operations {
        let ms = |percentile| figures.percentile(percentile).unwrap_or(0) as f64 / 1000.0;
        text += &format!(
            "{:12} {:>10} {:>8.2} {:>8.2} {:>8.2} {:>8.2} {:>8.2}\n",
            figures.operation.name(),
            thousands(figures.committed),
            ms(50.0),
            ms(90.0),
            ms(99.0),
            ms(99.9),
            ms(100.0)
        );
    }
    let counts = |counts: &BTreeMap<String, u64>| {
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
