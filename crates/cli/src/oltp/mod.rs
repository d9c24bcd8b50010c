//! `firearrow oltp`: passes options to the crate `firearrow-oltp`, and prints its figures.

mod campaign;
mod compare;
mod crash;
mod run;
mod work;

use crate::bench::CommandHost;
use crate::bench::args::up_to;
use crate::failure::Result;
use crate::open;
use crate::output::{print, print_data};
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use firearrow::config::Config;
use firearrow_bench::text::{size, thousands};
use firearrow_bench::{Environment, Reference};
use firearrow_oltp::{self as oltp, Loaded, Scale};
use serde::Serialize;
use std::num::{NonZeroU32, NonZeroUsize};
use std::thread;

/// More connections than a server loads from at once.
const MOST_WORKERS: u64 = 64;

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
    Run(run::RunArgs),
    /// Run terminals of firearrow, the client library and firebird-driver in turns
    Compare(compare::CompareArgs),
    /// Load and run databases of growing size, and chart throughput against size
    Campaign(campaign::CampaignArgs),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow oltp load oltp.fdb --warehouses 2
  firearrow oltp load 'firebird://SYSDBA@localhost//data/oltp.fdb?force_writes=off' --warehouses 20 --force

The tables are those of TPC-C: about 107 MB for each warehouse. A missing
database is created, with pages of 16 KiB unless the URL says otherwise. Several
connections insert, one warehouse at a time each; then indexes and procedures
are made, and rows and consistency are checked. The same seed and size give the
same rows.")]
struct LoadArgs {
    /// The database; created if it does not exist
    #[arg(value_name = "FILE|URL", value_hint = ValueHint::AnyPath)]
    url: String,
    /// Size of the database
    #[arg(long, short, value_name = "N", default_value = "1")]
    warehouses: NonZeroU32,
    /// Connections that insert side by side [default: processors]
    #[arg(long, value_name = "N", value_parser = up_to(MOST_WORKERS))]
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

pub(crate) fn run(args: &OltpArgs, json: bool) -> Result<()> {
    match &args.command {
        OltpCommand::Load(args) => load(args, json),
        OltpCommand::Run(args) => run::run(args, json),
        OltpCommand::Compare(args) => compare::run(args, json),
        OltpCommand::Campaign(args) => campaign::run(args, json),
    }
}

fn load(args: &LoadArgs, json: bool) -> Result<()> {
    let config = crate::open::parse(&args.url)?;
    let warehouses = args.warehouses.get();
    let options = oltp::LoadOptions {
        scale: scale(warehouses, args.tiny),
        seed: args.seed,
        workers: workers(args.workers),
        indexes_first: args.index == When::Before,
        replace: args.force,
    };
    let loaded = oltp::load(&CommandHost { quiet: json }, &config, &options)?;
    if json { print_json(&loaded) } else { print(&load_text(&loaded)) }
}

fn scale(warehouses: u32, is_tiny: bool) -> Scale {
    if is_tiny { Scale::tiny(warehouses) } else { Scale::of(warehouses) }
}

fn workers(wanted: Option<NonZeroUsize>) -> usize {
    wanted.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), usize::from)
}

/// What the record of a run says of machine and server.
fn environment(config: &Config, repetitions: usize) -> Result<Environment> {
    let connection = open::attach(config)?;
    let none = Reference::Absent("none is needed".to_owned());
    Ok(Environment::read(config, &connection.info()?, &none, repetitions))
}

fn print_json(value: &impl Serialize) -> Result<()> {
    print_data(&format!("{:#}\n", serde_json::to_value(value)?))
}

fn load_text(loaded: &Loaded) -> String {
    // A file that has been used before need not grow.
    let rate = Some(loaded.bytes_per_second()).filter(|rate| *rate >= 1.0);
    let rate = rate.map_or_else(String::new, |rate| format!("{}/s, ", size(rate as u64)));
    let mut text = format!(
        "loaded {} into Firebird {}: {}, {} rows\n",
        loaded.scale.in_words(),
        loaded.engine,
        size(loaded.bytes),
        thousands(loaded.total())
    );
    text += &format!(
        "rows {:.1} s ({rate}{} connections), indexes {:.1} s; forced writes {}\n",
        loaded.rows_s,
        loaded.workers,
        loaded.indexes_s,
        if loaded.forced_writes { "on" } else { "off" }
    );
    let server = loaded.server_cpu_s.map_or_else(String::new, |cpu| format!(", of the server {cpu:.1} s"));
    text += &format!("processor time {:.1} s{server}\n", loaded.client_cpu_s);
    text + "checked: rows of every table, consistency conditions 1 to 4\n"
}
