//! Terminals whose connections are those of firebird-driver, in a Python process each.
//!
//! Inputs, clock, repetitions and ledger are those of the other terminals; only the operations are done elsewhere:
//!
//! ```text
//!  terminal ──── job, then an input a line ───► terminal.py ───► libfbclient ───► server
//!           ◄─── what came of it ──────────────
//! ```

mod meter;
#[cfg(unix)]
mod process;
#[cfg(windows)]
#[path = "no_process.rs"]
mod process;

use crate::failure::{Failure, shortened};
use crate::input::{Delivery, Input, NewOrder, OrderStatus, Payment, StockLevel};
use crate::plan::{Level, Plan};
use crate::run::transactions;
use crate::way::{self, Mode, Outcome, Way, sql};
use firearrow::ServerInfo;
use firearrow::config::{Config, Target};
use firearrow_bench::{Host, Kept, secret};
use meter::Hand;
pub(crate) use meter::{Meter, Metered};
use process::Process;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// firebird-driver on a Python interpreter, and where it connects.
#[derive(Debug)]
pub struct Rival {
    python: PathBuf,
    /// What a terminal needs to connect.
    login: Map<String, Value>,
    /// The versions of the driver and of Python.
    pub version: String,
}

/// What a process says, one line each.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Said {
    /// It is connected; its versions.
    Ready(String),
    /// It cannot work, and ends.
    Refused(String),
    Done(Outcome),
    Failed(Failed),
}

#[derive(Deserialize)]
struct Failed {
    codes: Vec<i32>,
    message: String,
    is_lost: bool,
    is_unknown: bool,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(flatten)]
    said: Said,
    /// Processor time of the process so far, in seconds; unknown before it has worked.
    cpu_s: Option<f64>,
}

impl Rival {
    /// Connects once. `client` is the client library that the driver loads; without it, the driver looks for one itself.
    ///
    /// # Errors
    /// A text for reports: why it cannot take part.
    pub fn find(
        host: &dyn Host,
        python: &Path,
        client: Option<&Path>,
        config: &Config,
        info: &ServerInfo,
    ) -> Result<Self, String> {
        let Target::Remote { host: server, port, database } = &config.target else {
            return Err("its processes cannot share an embedded database with this one".to_owned());
        };
        let login = json!({
            "host": server,
            "port": port,
            "database": database,
            "user": config.login(),
            "password": config.password.as_ref().map_or("", |password| password.reveal()),
            "role": config.role,
            "client": client.map(|client| client.display().to_string()),
            "encrypted": info.cipher.is_some(),
            "compressed": info.compressed,
        });
        let Value::Object(login) = login else { unreachable!("it is written as one") };
        let mut rival = Self { python: python.to_owned(), login, version: String::new() };
        let version = Process::start(host, python)
            .map_err(Failure::from)
            .and_then(|(_kept, mut process)| rival.connect(&mut process, &[], "sp", Level::Snapshot));
        rival.version = version.map_err(|failure| failure.message)?.0;
        Ok(rival)
    }

    /// Starts the processes of all terminals, which do not connect yet.
    pub(crate) fn start<'a>(
        &self,
        host: &'a dyn Host,
        terminals: usize,
    ) -> firearrow_bench::Result<(Vec<Kept<'a>>, Processes)> {
        let started: Vec<_> =
            (0..terminals).map(|_| Process::start(host, &self.python)).collect::<Result<_, _>>()?;
        let (kept, processes): (Vec<_>, Vec<_>) = started.into_iter().unzip();
        Ok((kept, Processes(Mutex::new(processes.into_iter().map(Some).collect()))))
    }

    /// The way of a terminal.
    pub(crate) fn open(
        &self,
        plan: &Plan,
        processes: &Processes,
        terminal: usize,
        hand: Hand,
    ) -> way::Result<Box<dyn Way>> {
        let statements: &[(&str, &str)] = match plan.mode {
            Mode::Sp => &sql::CALLS,
            Mode::Sql => &sql::STATEMENTS,
            Mode::SqlPipelined => {
                return Err(Failure::other("firebird-driver executes one statement after the other"));
            }
        };
        let process = processes.0.lock().expect("nobody panics here")[terminal].take();
        let mut process = process.expect("a terminal opens once");
        let (_, cpu_s) = self.connect(&mut process, statements, plan.mode.name(), plan.isolation)?;
        // What it has used to start and to connect is not measured.
        cpu_s.and_then(|seconds| hand.set(seconds));
        Ok(Box::new(Terminal { process, hand, password: self.password().to_owned(), is_lost: false }))
    }

    fn password(&self) -> &str {
        self.login.get("password").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns its versions, and the processor time that it has used so far.
    fn connect(
        &self,
        process: &mut Process,
        statements: &[(&str, &str)],
        mode: &str,
        isolation: Level,
    ) -> way::Result<(String, Option<f64>)> {
        let mut job = self.login.clone();
        job.insert("sql".to_owned(), statements.iter().map(|(name, sql)| (*name, *sql)).collect());
        job.insert("mode".to_owned(), json!(mode));
        job.insert("options".to_owned(), json!(transactions(isolation).tpb()));
        let text = match process.ask(&Value::Object(job)) {
            Ok(Answer { said: Said::Ready(version), cpu_s }) => {
                return Ok((shortened(&secret::hide(&version, self.password())), cpu_s));
            }
            Ok(Answer { said: Said::Refused(reason), .. }) => reason,
            Ok(Answer { said: Said::Done(_) | Said::Failed(_), .. }) => UNEXPECTED.to_owned(),
            Err(error) => error.hidden(self.password()),
        };
        Err(Failure::other(shortened(&secret::hide(&text, self.password()))))
    }
}

/// Processes that wait for their terminals.
pub(crate) struct Processes(Mutex<Vec<Option<Process>>>);

const UNEXPECTED: &str = "the process of a terminal has said something that was not asked for";

/// A connection in a process of its own.
struct Terminal {
    process: Process,
    hand: Hand,
    /// It must not appear in what the driver says.
    password: String,
    is_lost: bool,
}

impl Way for Terminal {
    fn perform(&mut self, input: &Input) -> way::Result<Outcome> {
        let answer: Answer = self.process.ask(input).map_err(|error| {
            self.is_lost = true;
            Failure::other(shortened(&error.hidden(&self.password)))
        })?;
        if answer.cpu_s.and_then(|seconds| self.hand.set(seconds)).is_none() {
            self.is_lost = true;
            return Err(Failure::other("the process of a terminal says a processor time that cannot be"));
        }
        match answer.said {
            Said::Done(outcome) => Ok(outcome),
            Said::Failed(Failed { codes, message, is_lost, is_unknown }) => {
                self.is_lost = is_lost;
                let message = secret::hide(&message, &self.password);
                Err(Failure { is_unknown, ..Failure::of_engine(&codes, &message) })
            }
            Said::Ready(_) | Said::Refused(_) => {
                self.is_lost = true;
                Err(Failure::other(UNEXPECTED))
            }
        }
    }

    fn has_lost_connection(&self) -> bool {
        self.is_lost
    }

    fn new_order(&mut self, input: &NewOrder) -> way::Result<Outcome> {
        self.perform(&Input::NewOrder(input.clone()))
    }

    fn payment(&mut self, input: &Payment) -> way::Result<Outcome> {
        self.perform(&Input::Payment(input.clone()))
    }

    fn order_status(&mut self, input: &OrderStatus) -> way::Result<Outcome> {
        self.perform(&Input::OrderStatus(input.clone()))
    }

    fn delivery(&mut self, input: &Delivery) -> way::Result<Outcome> {
        self.perform(&Input::Delivery(*input))
    }

    fn stock_level(&mut self, input: &StockLevel) -> way::Result<Outcome> {
        self.perform(&Input::StockLevel(*input))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firearrow_bench::Standalone;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    /// What comes of a Python that is a shell script.
    fn answer(script: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let python = folder.path().join("python");
        fs::write(&python, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&python, fs::Permissions::from_mode(0o700)).unwrap();
        let login = Map::from_iter([("password".to_owned(), json!("s3cret"))]);
        let rival = Rival { python, login, version: String::new() };
        let (_kept, mut process) = Process::start(&Standalone, &rival.python).unwrap();
        match rival.connect(&mut process, &[], "sp", Level::Snapshot) {
            Ok((version, _)) => version,
            Err(failure) => failure.message,
        }
    }

    #[test]
    fn what_is_no_python_is_told() {
        assert_eq!(answer("echo '{\"ready\": \"1.0\"}'; read line"), "1.0");
        assert_eq!(answer("echo '{\"refused\": \"no server\"}'"), "no server");
        assert_eq!(answer("echo first >&2; echo it broke >&2; exit 1"), "it broke");
        assert_eq!(answer("echo 'no login with s3cret' >&2; exit 1"), "no login with ***");
        assert_eq!(answer("echo '{\"refused\": \"is it s3cret?\"}'"), "is it ***?");
        assert_eq!(answer("exit 0"), "the process of a terminal has ended");
        assert_eq!(answer("echo '{\"done\": \"refused\"}'"), UNEXPECTED);
        assert!(answer("echo nonsense").contains("expected"), "{}", answer("echo nonsense"));
        let flood = "the process of a terminal has broken off, or says too much";
        assert_eq!(answer("yes yes | tr -d '\\n'"), flood);
        assert_eq!(answer("printf '{\"ready\": '; read line"), flood);
    }
}
