//! The contestants that are this program: a process that reads a job and repeats it.

use super::column::Column;
use super::hash::Found;
use super::job::{Done, Failed, Job, Ready, of_wire};
use crate::adbc::phases as adbc;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::measure::{Clock, Wire};
use crate::odbc::phases as odbc;
use firearrow::config::Config;
use firearrow::{Params, TransactionOptions};
use serde::Serialize;
use std::io::{BufRead, Write};

/// The crate itself, in its own words.
pub(super) const CRATE: &str = "crate";

enum Contestant {
    Odbc(Box<odbc::Contestant>),
    Adbc(adbc::Contestant),
    Crate(Box<Config>),
}

/// Serves a run as its contestant: reads a job and, for every further line, reads its rows once and answers with a line.
///
/// # Errors
/// If the job cannot be read, or an answer cannot be written. What goes wrong with a driver is an answer.
pub fn serve(host: &dyn Host, input: &mut dyn BufRead, output: &mut dyn Write) -> Result<()> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    let job: Job = serde_json::from_str(&line)?;
    let contestant = match load(&job) {
        Ok((contestant, ready)) => {
            answer(output, &Ready { ready })?;
            contestant
        }
        Err(error) => return answer(output, &Failed { error: error.to_string() }),
    };
    for line in input.lines() {
        line?;
        let done = match &contestant {
            Contestant::Odbc(contestant) => contestant.run(&job),
            Contestant::Adbc(contestant) => contestant.run(&job),
            Contestant::Crate(config) => by_crate(host, config, &job),
        };
        match done {
            Ok(done) => answer(output, &done)?,
            Err(error) => answer(output, &Failed { error: error.to_string() })?,
        }
    }
    Ok(())
}

fn answer(output: &mut dyn Write, line: &impl Serialize) -> Result<()> {
    let line = serde_json::to_string(line)? + "\n";
    output.write_all(line.as_bytes())?;
    Ok(output.flush()?)
}

fn load(job: &Job) -> Result<(Contestant, String)> {
    Ok(match job.way.as_str() {
        odbc::ROWS | odbc::BLOCK | odbc::CELLS => {
            let contestant = odbc::Contestant::load(job)?;
            let version = contestant.version()?;
            (Contestant::Odbc(Box::new(contestant)), version)
        }
        adbc::HASH | adbc::COUNT => (Contestant::Adbc(adbc::Contestant::load(job)?), String::new()),
        CRATE => {
            let mut config = Config::parse(&job.url).map_err(firearrow::Error::from)?;
            if !job.password.is_empty() {
                config.password = Some(job.password.as_str().into());
            }
            (Contestant::Crate(Box::new(config)), format!("firearrow {}", env!("CARGO_PKG_VERSION")))
        }
        other => return Err(Error::usage(format!("unknown contestant {other}"))),
    })
}

/// Reads all rows once, through the crate on which the drivers are built.
fn by_crate(host: &dyn Host, config: &Config, job: &Job) -> Result<Done> {
    let mut clock = Clock::start()?;
    let connection = host.open(config)?;
    let connect_s = clock.lap()?.wall_s;
    let connected = connection.wire_stats();

    let transaction = connection.begin(TransactionOptions::reading())?;
    let statement = transaction.prepare(&job.sql)?;
    let mut cursor = statement.query(&transaction, Params::none())?;
    let columns = Column::of_schema(&cursor.schema())?;
    let execute_s = clock.lap()?.wall_s;

    let mut found = Found::new(columns.len());
    while let Some(batch) = cursor.next_batch()? {
        found.add(&batch)?;
    }
    let drain_s = clock.lap()?.wall_s;

    cursor.close()?;
    drop(statement);
    transaction.commit()?;
    let wire = Wire::of(connection.wire_stats(), connected.round_trips);
    connection.close()?;
    let release_s = clock.lap()?.wall_s;
    let done = Done {
        connect_s,
        execute_s,
        drain_s,
        release_s,
        cpu_s: clock.cpu().seconds(),
        peak_rss_bytes: clock.peak_memory(),
        columns,
        more: wire.map(of_wire).unwrap_or_default(),
        ..Done::default()
    };
    Ok(done.with(&found))
}
