//! `firearrow odbc`: registers the ODBC driver and its data sources, and tries them.
//!
//! ```text
//!  install  uninstall ─► driver ─┐
//!  dsn add  list  remove ─► dsn ─┼─► firearrow_odbc::setup ─► odbcinst.ini and odbc.ini, or Windows' registry
//!  status ─► status ─────────────┤
//!  test ─► test ─────────────────┘
//! ```

mod driver;
mod dsn;
mod platform;
mod status;
mod test;

use crate::failure::{Failure, Result};
use crate::{output, terminal};
use clap::{Args, Subcommand, ValueHint};
use firearrow_odbc::setup::Scope;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow odbc install
  firearrow odbc dsn add Shop \"firebird://alice@db/shop?wire_crypt=required\"
  firearrow odbc test Shop")]
pub(crate) struct OdbcArgs {
    #[command(subcommand)]
    command: OdbcCommand,
}

#[derive(Debug, Subcommand)]
enum OdbcCommand {
    #[command(about = platform::INSTALL_ABOUT)]
    Install(InstallArgs),
    #[command(about = platform::UNINSTALL_ABOUT)]
    Uninstall(UninstallArgs),
    /// Add, list or remove data sources
    Dsn(DsnArgs),
    /// Show where the driver and its data sources are registered, and whether the library is still there
    #[command(after_help = "\
Examples:
  firearrow odbc status
  firearrow odbc status --json")]
    Status,
    /// Connect as the driver would, and show what was negotiated
    Test(TestArgs),
}

#[derive(Args, Debug)]
#[command(after_help = platform::INSTALL_HELP)]
struct InstallArgs {
    #[command(flatten)]
    place: Place,
    #[arg(long, help = platform::LIBRARY_HELP, value_name = "PATH", value_hint = ValueHint::FilePath)]
    library: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = platform::UNINSTALL_HELP)]
struct UninstallArgs {
    #[command(flatten)]
    place: Place,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow odbc dsn add Shop db:/data/shop.fdb
  firearrow odbc dsn list
  firearrow odbc dsn remove Shop")]
struct DsnArgs {
    #[command(subcommand)]
    command: DsnCommand,
}

#[derive(Debug, Subcommand)]
enum DsnCommand {
    /// Add a data source
    Add(AddArgs),
    /// List the data sources of all drivers
    #[command(after_help = "\
Examples:
  firearrow odbc dsn list
  firearrow odbc dsn list --json

Those of the user come first; they hide those of the system that have the same
name.")]
    List,
    /// Remove a data source
    Remove(RemoveArgs),
}

#[derive(Args, Debug)]
#[command(after_help = platform::ADD_HELP)]
struct AddArgs {
    /// The name of the data source
    name: String,
    /// A URL, a connection string, or host:path
    #[arg(value_hint = ValueHint::Url)]
    url: String,
    #[command(flatten)]
    place: Place,
    /// Replace a data source of this name
    #[arg(long)]
    replace: bool,
}

#[derive(Args, Debug)]
#[command(after_help = platform::REMOVE_HELP)]
struct RemoveArgs {
    /// The name of the data source
    name: String,
    #[command(flatten)]
    place: Place,
}

#[derive(Args, Debug)]
#[command(after_help = platform::TEST_HELP)]
struct TestArgs {
    /// A data source, a connection string, a URL, or host:path
    #[arg(value_name = "DSN|CONNECTION-STRING")]
    text: String,
}

/// Whom the registration is for.
#[derive(Args, Debug)]
#[group(multiple = false)]
struct Place {
    /// For this user [default]
    #[arg(long)]
    user: bool,
    /// For all users
    #[arg(long)]
    system: bool,
}

impl Place {
    fn scope(&self) -> Scope {
        if self.system { Scope::System } else { Scope::User }
    }
}

pub(crate) fn run(args: &OdbcArgs, json: bool) -> Result<()> {
    match &args.command {
        OdbcCommand::Install(args) => driver::install(args, json),
        OdbcCommand::Uninstall(args) => driver::uninstall(args, json),
        OdbcCommand::Dsn(DsnArgs { command }) => match command {
            DsnCommand::Add(args) => dsn::add(args, json),
            DsnCommand::List => dsn::list(json),
            DsnCommand::Remove(args) => dsn::remove(args, json),
        },
        OdbcCommand::Status => status::run(json),
        OdbcCommand::Test(args) => test::run(args, json),
    }
}

fn name_of(scope: Scope) -> &'static str {
    match scope {
        Scope::User => "user",
        Scope::System => "system",
    }
}

/// Turns an error of registering into one of the command's.
fn failure(scope: Scope, error: &io::Error) -> Failure {
    match (error.kind(), scope) {
        (io::ErrorKind::InvalidInput, _) => Failure::usage(error.to_string()),
        (io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem, Scope::System) => {
            Failure::other(format!("{error}; {}", platform::FOR_SYSTEM))
        }
        _ => Failure::other(error.to_string()),
    }
}

/// Prints which file was changed: `what` is its key in JSON, and the sentence that its path ends.
fn tell(json: bool, what: (&str, &str), file: &Path, more: Option<(&str, &str)>) -> Result<()> {
    let ((fact, text), file) = (what, file.display().to_string());
    if json {
        let mut facts = serde_json::json!({ fact: file });
        if let Some((name, value)) = more {
            facts[name] = value.into();
        }
        return output::print_data(&format!("{facts}\n"));
    }
    let more = more.map(|(name, value)| format!("{name}: {value}\n")).unwrap_or_default();
    output::print(&format!("{text} {file}\n{more}"))
}

fn note(remarks: &[String]) {
    for remark in remarks {
        terminal::remark(&format!("note: {remark}"));
    }
}
