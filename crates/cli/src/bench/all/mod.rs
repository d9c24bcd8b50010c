//! `firearrow bench all`: runs all [`SUITES`], and writes a folder with their records and one page.

mod kept;
mod size;
mod suites;

use self::kept::Kept;
use self::size::Profile;
use self::suites::{Outcome, SUITES, Setup, Suite};
use crate::bench::CommandHost;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::open;
use crate::output::{print, print_data};
use crate::terminal;
use clap::{Args, ValueHint};
use firearrow_bench::{Environment, Error, Reference, ReferenceChoice, demo};
use serde_json::json;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow bench all firebird://SYSDBA@localhost//data/bench.fdb
  firearrow bench all firebird://SYSDBA@localhost//data/bench.fdb --profile full --save runs \\
      --reference-client /opt/firebird/lib/libfbclient.so.2
  firearrow bench all bench.fdb --only fetch,oltp

Suites: fetch, insert, wire, odbc, adbc, blob, driver, oltp. Each leaves its
record in a folder of its own below DIR/DATE-all-PLATFORM, and report.html there
shows all of them. A suite that cannot run is named with its reason, on the
terminal and in the report; the exit status is 1 only if a suite has failed.
Ctrl-C ends the run: what has been measured is kept, and marked as partial.
Missing tables are created first, and stay.")]
pub(crate) struct AllArgs {
    /// A database of its own; created if it does not exist
    #[arg(value_name = "FILE|URL", value_hint = ValueHint::AnyPath)]
    url: String,
    /// How much to measure
    #[arg(long, default_value = "smoke")]
    profile: Profile,
    /// Suites to run [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// The client library (libfbclient) to compare with, of the server's version
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, conflicts_with = "no_reference")]
    reference_client: Option<PathBuf>,
    /// Do not compare with the client library
    #[arg(long)]
    no_reference: bool,
    /// A Python in which rivals are installed, for the suite "driver"
    #[arg(long, value_name = "PATH", value_hint = ValueHint::ExecutablePath, default_value = "python3")]
    python: PathBuf,
    /// Where the folder is made
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, default_value = "runs")]
    save: PathBuf,
}

pub(crate) fn run(args: &AllArgs, json: bool) -> Result<()> {
    let config = crate::open::parse(&args.url)?;
    let suites = chosen(&args.only)?;
    let host = CommandHost { quiet: json };
    // Suites connect to a database that is there.
    drop(demo::open_or_create(&host, &config)?);
    let none = Reference::Absent("each suite has its own".to_owned());
    let environment = Environment::read(&config, &open::attach(&config)?.info()?, &none, 1);
    let mut kept = Kept::create(&args.save, environment)?;
    kept.announce(&suites)?;
    terminal::remark(&format!("keeping records in {}", kept.folder().display()));
    let setup = Setup {
        host: &host,
        config: &config,
        url: &args.url,
        size: args.profile.size(),
        python: &args.python,
        reference: match args.no_reference {
            true => ReferenceChoice::Nothing("--no-reference".to_owned()),
            false => ReferenceChoice::Client(args.reference_client.clone()),
        },
    };
    let mut results = Vec::new();
    for (at, suite) in suites.iter().enumerate() {
        terminal::status("");
        terminal::remark(&format!("[{}/{}] {}: {}", at + 1, suites.len(), suite.name, suite.title));
        match one(suite, &setup, &mut kept)? {
            State::Stopped => return Err(Failure::Stopped),
            state => results.push((suite.name, state)),
        }
    }
    if json {
        let suites: Vec<_> = results.iter().map(|(name, state)| state.json(name)).collect();
        print_data(&format!("{:#}\n", json!({ "folder": kept.folder(), "suites": suites })))?;
    } else {
        print(&format!("the page with all of it: {}\n", kept.page().display()))?;
    }
    let failed = results.iter().filter(|(_, state)| matches!(state, State::Failed(_))).count();
    match failed {
        0 => Ok(()),
        count => Err(Failure::other(format!("{count} of {} suites have failed", results.len()))),
    }
}

/// The suites of these names, or all.
fn chosen(names: &[String]) -> Result<Vec<&'static Suite>> {
    if let Some(wrong) = names.iter().find(|name| !SUITES.iter().any(|suite| suite.name == **name)) {
        let all: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
        return Err(Failure::usage(format!("unknown suite {wrong}; choose from {}", all.join(", "))));
    }
    let is_wanted = |suite: &&Suite| names.is_empty() || names.iter().any(|name| name == suite.name);
    Ok(SUITES.iter().filter(is_wanted).collect())
}

/// How a suite ended.
enum State {
    Measured,
    /// It cannot run here, and why not.
    Unavailable(String),
    Failed(String),
    Stopped,
}

impl State {
    fn json(&self, name: &str) -> serde_json::Value {
        let (state, reason) = match self {
            Self::Measured => ("measured", None),
            Self::Unavailable(reason) => ("unavailable", Some(reason)),
            Self::Failed(reason) => ("failed", Some(reason)),
            Self::Stopped => ("stopped", None),
        };
        json!({ "suite": name, "state": state, "reason": reason })
    }
}

/// Runs a suite. What it could not do is part of the report; an error is one of writing files.
fn one(suite: &Suite, setup: &Setup<'_>, kept: &mut Kept) -> Result<State> {
    let done = (suite.run)(setup, &mut |record| {
        kept.add(suite, record).map_err(|failure| Error::other(failure.text(false)))
    });
    if interrupt::reason().is_some() {
        return Ok(State::Stopped);
    }
    let state = match done {
        Ok(Outcome::Measured { missing }) if missing.is_empty() => State::Measured,
        Ok(Outcome::Measured { missing }) => State::Failed(missing.join("; ")),
        Ok(Outcome::Unavailable(reason)) => State::Unavailable(reason),
        Err(error) => State::Failed(error.to_string()),
    };
    match &state {
        State::Unavailable(reason) => {
            terminal::remark(&format!("{}: cannot run here: {reason}", suite.name));
            kept.missing(suite, &format!("{}, which cannot run here: {reason}", suite.name))?;
        }
        State::Failed(reason) => {
            terminal::remark(&format!("{}: failed: {reason}", suite.name));
            kept.missing(suite, &format!("{}, which has failed: {reason}", suite.name))?;
        }
        State::Measured | State::Stopped => {}
    }
    Ok(state)
}
