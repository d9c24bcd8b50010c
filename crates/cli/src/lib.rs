//! The `firearrow` command: queries, copies, inspects and benchmarks Firebird databases, and receives their events.
//!
//! ```text
//!  args ─► query  shell ─► runner ─┐
//!    │                             ├─► output
//!    ├──► copy  info  tables  ddl ─┘
//!    ├──► load  limbo  events  create ─► firearrow (the client), firearrow-driver
//!    ├──► adbc  odbc: installs the drivers
//!    ├──► demo
//!    └──► handover ─► the program firearrow-bench:  bench ─► firearrow-bench (the crate)
//!                                                   oltp ─► firearrow-oltp
//! ```
//! Two programs, which have their command line in common: `firearrow`, and `firearrow-bench` for what only some people need.
#![forbid(unsafe_code)]

mod adbc;
mod args;
mod bench;
mod byte_order_mark;
mod copy;
mod create;
mod datetime;
mod ddl;
mod demo;
mod engines;
mod events;
mod failure;
mod folder;
mod handover;
mod hint;
mod info;
mod installed;
mod interrupt;
mod limbo;
mod load;
mod name;
mod odbc;
mod oltp;
mod open;
mod output;
mod pager;
mod parameters;
mod phases;
mod platform;
mod profile;
mod progress;
mod query;
mod runner;
mod shell;
mod similar;
mod sql_words;
mod tables;
mod terminal;
mod version;
mod wan;

use args::{Cli, Command};
use bench::args::BenchCommand;
use clap::{CommandFactory, Parser};
use failure::{Failure, Result};
use firearrow_bench::secret;
use std::env;
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

/// The program `firearrow`.
pub fn command() -> ExitCode {
    start(|cli| match cli.command {
        // Before signals are watched: the other program does that.
        Command::Bench(_) | Command::Oltp(_) => handover::run(),
        _ => run(cli, run_command),
    })
}

/// The program `firearrow-bench`.
pub fn benchmarks() -> ExitCode {
    start(|cli| {
        handover::check_version()?;
        run(cli, run_benchmark)
    })
}

fn start(work: fn(&Cli) -> Result<()>) -> ExitCode {
    let cli = match Cli::try_parse_from(comments_are_no_options(env::args_os())) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let status = match work(&cli) {
        Ok(()) => 0,
        Err(failure) => failure.report(cli.verbose, cli.json),
    };
    interrupt::finish(status)
}

/// Keeps SQL that begins with a comment from being taken for an option, by a blank before it.
fn comments_are_no_options(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut kept: Vec<OsString> = Vec::new();
    for argument in arguments {
        let rest = argument.to_str().and_then(|text| text.strip_prefix("--"));
        // An option may have its value in the same argument, which may have several lines.
        let is_text = |rest: &str| rest.split_once('\n').is_some_and(|(first, _)| !first.contains('='));
        let is_comment = rest.is_some_and(|rest| rest.starts_with(char::is_whitespace) || is_text(rest));
        // The values of these may be anything.
        let is_value = kept.last().is_some_and(|last| last == "--param" || last == "--null");
        kept.push(match is_comment && !is_value {
            true => [OsStr::new(" "), &argument].into_iter().collect(),
            false => argument,
        });
    }
    kept
}

fn run(cli: &Cli, work: fn(&Cli) -> Result<()>) -> Result<()> {
    let _watch = interrupt::watch(cli.limit())?;
    open::set_password_file(cli.password_file.as_deref())?;
    work(cli)
}

/// Runs what the command line names; the shell has some of it, too.
fn run_command(cli: &Cli) -> Result<()> {
    match &cli.command {
        Command::Shell(args) => shell::run(args, cli.json),
        Command::Query(args) => query::run(args, cli.json),
        Command::Copy(args) => copy::run(args, cli.json),
        Command::Load(args) => load::run(args, cli.json),
        Command::Info(args) => info::run(args, cli.json),
        Command::Tables(args) => tables::run(args, cli.json),
        Command::Ddl(args) => ddl::run(args, cli.json),
        Command::Limbo(args) => limbo::run(args, cli.json),
        Command::Events(args) => events::run(args, cli.timeout.map(|limit| limit.0), cli.json),
        Command::Create(args) => create::run(args, cli.json),
        Command::CreateDemo(args) => demo::run(args, cli.json),
        // They were handed over before signals were watched.
        Command::Bench(_) | Command::Oltp(_) => Err(Failure::other("this runs on the command line only")),
        Command::Adbc(args) => adbc::run(args, cli.json),
        Command::Odbc(args) => odbc::run(args, cli.json),
        Command::WanProxy(args) => wan::run(args, cli.json),
        Command::Completions(args) => {
            let mut script = Vec::new();
            clap_complete::generate(args.shell, &mut Cli::command(), "firearrow", &mut script);
            output::print_data(&String::from_utf8_lossy(&script))
        }
    }
}

/// Runs benchmarks and workloads.
fn run_benchmark(cli: &Cli) -> Result<()> {
    match &cli.command {
        Command::Bench(args) => match &args.command {
            BenchCommand::All(args) => bench::all::run(args, cli.json),
            BenchCommand::Adbc(args) => bench::adbc(args, cli.json),
            BenchCommand::Fetch(args) => bench::fetch(args, cli.json),
            BenchCommand::Insert(args) => bench::insert(args, cli.json),
            BenchCommand::Odbc(args) => bench::odbc(args, cli.json),
            BenchCommand::Blob(args) => bench::blob::run(args, cli.json),
            BenchCommand::Driver(args) => bench::driver::run(args, cli.json),
            BenchCommand::DriverContestant => bench::driver::serve(),
            BenchCommand::Report(args) => bench::report::run(args),
            BenchCommand::Wire(args) => bench::wire(args, cli.json),
        },
        Command::Oltp(args) => oltp::run(args, cli.json),
        _ => Err(Failure::usage("this program runs `bench` and `oltp`; the rest is done by firearrow")),
    }
}

/// Help and version go to standard output. Errors repeat the command line, which may contain a password.
fn usage(error: &clap::Error) -> ExitCode {
    let is_version = error.kind() == clap::error::ErrorKind::DisplayVersion;
    if is_version && version::is_wanted(std::env::args_os()) {
        return if output::print(&version::text()).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    if error.use_stderr() && secret::redact(&error.to_string()) != error.to_string() {
        eprint!("{}", secret::redact(&error.to_string()));
    } else if error.print().is_err() {
        return ExitCode::FAILURE;
    }
    if let Some(database) = database_as_command(error) {
        eprintln!("  tip: firearrow shell {}", terminal::line(database));
    }
    if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS }
}

/// What was given in place of a command, if it is rather a database, as it is with the commands of other systems.
fn database_as_command(error: &clap::Error) -> Option<&str> {
    let is_unknown = error.kind() == clap::error::ErrorKind::InvalidSubcommand;
    let given = error.get(clap::error::ContextKind::InvalidSubcommand).filter(|_| is_unknown)?;
    let clap::error::ContextValue::String(given) = given else { return None };
    // A URL that may contain a password is not repeated.
    (given.contains(['.', '/', ':']) && !given.contains(['@', ';', ' '])).then_some(given)
}
