//! `firearrow oltp run --kill-server-at`

use super::print_json;
use crate::args::TimeLimit;
use crate::bench::CommandHost;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::open;
use crate::output::print;
use crate::platform::process;
use crate::terminal;
use clap::Args;
use firearrow::config::Config;
use firearrow_bench::text::thousands;
use firearrow_bench::{Error, Process, Server};
use firearrow_oltp::{self as oltp, Crash, Outage, RunOptions};
use std::io;
use std::time::Duration;

#[derive(Args, Debug)]
pub(super) struct CrashArgs {
    /// Kill the server after this time, and check what it has kept; it must run on this machine, and you need permission to kill it
    #[arg(long, value_name = "TIME", conflicts_with_all = ["save", "measure", "warm_up", "full_check", "driver", "series"])]
    kill_server_at: Option<TimeLimit>,
    /// Starts the server again, by the system's shell; without it something else must, such as systemd
    #[arg(long, value_name = "COMMAND", requires = "kill_server_at")]
    restart_command: Option<String>,
}

/// How long a server may take until it answers again.
const RESTART_TIMEOUT: Duration = Duration::from_secs(60);

impl CrashArgs {
    /// When the server is to be killed, and how it is started again.
    pub(super) fn outage(&self) -> Option<(Duration, Option<&str>)> {
        Some((self.kill_server_at?.0, self.restart_command.as_deref()))
    }
}

pub(super) fn run(
    config: &Config,
    options: &RunOptions,
    (after, restart): (Duration, Option<&str>),
    json: bool,
) -> Result<()> {
    let victim = Victim::find(config)?;
    let killed = || victim.kill();
    let restart = || match restart {
        None => Ok(()),
        Some(command) => start(command),
    };
    let outage = Outage { after, kill: &killed, restart: &restart, patience: RESTART_TIMEOUT };
    let found = oltp::crash(&CommandHost { quiet: json }, config, options, &outage)?;
    if json {
        print_json(&found)?;
    }
    if !found.problems.is_empty() {
        return Err(Failure::other(format!("the crash test failed:\n  {}", found.problems.join("\n  "))));
    }
    if json { Ok(()) } else { print(&text(&found)) }
}

/// The server process, which is certainly the one that serves the database.
struct Victim {
    process: Process,
    started: Option<String>,
}

impl Victim {
    fn find(config: &Config) -> Result<Self> {
        let process = match Server::find(config) {
            Server::Process(process) => process,
            Server::Unknown(reason) => {
                return Err(Failure::usage(format!("the server cannot be killed: {reason}")));
            }
        };
        // Whoever listens may be a proxy, or serve each connection with a process of its own.
        let sql = "SELECT MON$SERVER_PID FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = CURRENT_CONNECTION";
        let serving: i64 = open::attach(config)?.query(sql)?.value()?;
        if process.id().map(|id| i64::from(id.get())) != Some(serving) {
            return Err(Failure::usage(format!(
                "the server cannot be killed: {} listens, but process {serving} serves the database: connect directly to \
                 the server, which must run as a SuperServer",
                process.name
            )));
        }
        let started = process.started();
        Ok(Self { process, started })
    }

    fn kill(&self) -> firearrow_bench::Result<()> {
        let failed = |error: io::Error| {
            Error::other(format!("the server {} cannot be killed: {error}", self.process.name))
        };
        // Number 0 would be this command and its relatives; a number may have passed to another process.
        let id = self.process.id().ok_or_else(|| failed(gone()))?;
        if self.started.is_none() || self.process.started() != self.started {
            return Err(failed(gone()));
        }
        process::kill(id).map_err(failed)
    }
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "no such process")
}

/// Runs the command that starts the server. What it prints is not part of the result.
fn start(command: &str) -> firearrow_bench::Result<()> {
    let output = interrupt::output(&mut process::shell(command))?;
    for text in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(text);
        if !text.trim().is_empty() {
            terminal::remark(text.trim_end());
        }
    }
    match output.status.success() {
        true => Ok(()),
        false => Err(Error::other(format!("`{command}`: {}", output.status))),
    }
}

fn text(found: &Crash) -> String {
    format!(
        "Firebird {}, {}, forced writes {}\n\
         the server was killed while {} of {} terminals worked, and could be used again after {:.1} s\n\
         acknowledged before: {} orders, each of which is there, and {} payments\n\
         checked: orders by their numbers, counts and sums as far as {} interrupted operations allow, consistency conditions 1 \
         to {}\n",
        found.engine,
        found.scale.in_words(),
        if found.forced_writes { "on" } else { "off" },
        found.interrupted,
        found.terminals,
        found.recovery_s,
        thousands(found.acknowledged.orders),
        thousands(found.acknowledged.payments),
        found.interrupted,
        found.conditions.len()
    )
}
