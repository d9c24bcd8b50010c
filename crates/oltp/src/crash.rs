//! A server that is killed while terminals work: afterwards every commit that it acknowledged must be there.

use crate::check::{self, Condition, Hidden};
use crate::run::{Options, Site, terminals, wait};
use crate::scale::Scale;
use crate::shown::{Shown, bounds};
use crate::tally::{Ledger, OrderKey};
use crate::terminal::{self, Conduct, Worked};
use firearrow::config::Config;
use firearrow::{BatchExt, Connection, TransactionOptions};
use firearrow_bench::{Error, Host, Result, Standalone};
use serde::Serialize;
use std::collections::HashSet;
use std::thread;
use std::time::{Duration, Instant};

/// When and how the server dies and comes back.
pub struct Outage<'a> {
    /// How long terminals work before it.
    pub after: Duration,
    /// Kills the server, and nobody else, without giving it time for anything.
    pub kill: &'a dyn Fn() -> Result<()>,
    /// Starts it again; it need not wait until the server is ready.
    pub restart: &'a dyn Fn() -> Result<()>,
    /// How long to wait until the server answers again.
    pub patience: Duration,
}

/// What was found after a crash.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Crash {
    /// Version of the engine.
    pub engine: String,
    /// The size of the database.
    pub scale: Scale,
    /// Whether writes waited for the disk.
    pub forced_writes: bool,
    /// Connections.
    pub terminals: usize,
    /// What the server had acknowledged. Operations whose answer was lost are counted as unknown.
    pub acknowledged: Ledger,
    /// Terminals that were in the middle of an operation.
    pub interrupted: usize,
    /// Seconds from the restart until the database could be read.
    pub recovery_s: f64,
    /// The conditions afterwards.
    pub conditions: Vec<Condition>,
    /// Tables of which a scan misses rows, which the engine has to repair; without that, conditions are violated.
    pub hidden: Vec<Hidden>,
    /// What is wrong; empty if nothing was lost.
    pub problems: Vec<String>,
}

/// Runs the terminals on a loaded database, kills the server, and checks the database after its restart.
///
/// # Errors
/// If the database is not loaded, the server cannot be killed, or it does not come back. Lost commits are no error: see
/// [`Crash::problems`].
pub fn crash(host: &dyn Host, config: &Config, options: &Options, outage: &Outage<'_>) -> Result<Crash> {
    let Site { connection, plan, before, .. } = Site::open(host, config, options)?;
    let scale = plan.scale;
    let state = connection.statistics()?;
    let engine = connection.info()?.engine_version;
    let terminals = terminals(host, config, &plan)?;
    let worked = terminal::together(&plan, &|terminal| terminals.open(terminal), |clock| {
        wait(host, "working", outage.after, &|| true)?;
        match clock.failed() {
            0 => (outage.kill)(),
            count => {
                Err(Error::other(format!("{count} terminals failed before the server was to be killed")))
            }
        }
    })?;
    let Worked { tally, ended, .. } = worked;
    // The server is dead: disconnecting would only fail.
    drop(connection);
    host.status("waiting for the server");
    let restarted = Instant::now();
    (outage.restart)()?;
    let connection = reopen(host, config, outage.patience)?;
    let recovery_s = restarted.elapsed().as_secs_f64();

    host.status("checking");
    let after = Shown::read(&connection)?;
    let transaction = connection.begin(TransactionOptions::reading())?;
    let conditions = check::conditions(&transaction, true)?;
    let hidden = check::hidden(&transaction)?;
    transaction.commit()?;
    let interrupted = ended.iter().filter(|error| error.is_some()).count();
    let mut problems: Vec<String> = hidden.iter().map(Hidden::problem).collect();
    problems.extend(conditions.iter().filter_map(Condition::problem));
    problems.extend(bounds(before, after, &tally.ledger, interrupted as u64));
    problems.extend(lost(&connection, scale, &tally.orders)?);
    if interrupted == 0 {
        problems.push("no terminal noticed that the server died: it was not killed".to_owned());
    }
    if tally.ledger.orders == 0 {
        problems.push("no order had been acknowledged: let terminals work longer".to_owned());
    }
    host.status("");
    Ok(Crash {
        engine,
        scale,
        forced_writes: state.forced_writes,
        terminals: options.terminals,
        acknowledged: tally.ledger,
        interrupted,
        recovery_s,
        conditions,
        hidden,
        problems,
    })
}

/// Connects to a server that is starting.
fn reopen(host: &dyn Host, config: &Config, patience: Duration) -> Result<Connection> {
    let started = Instant::now();
    loop {
        host.check()?;
        // The host's own connection may have settings that a crash has invalidated, and it reports each failure.
        match Standalone.open(config) {
            Ok(connection) => return Ok(connection),
            Err(error) if started.elapsed() > patience => {
                let text = error.message().lines().next().unwrap_or_default().to_owned();
                return Err(Error::other(format!(
                    "the server does not answer {} s after its restart: {text}",
                    patience.as_secs()
                )));
            }
            Err(_) => thread::sleep(Duration::from_millis(100)),
        }
    }
}

/// Orders that were acknowledged and are not there.
fn lost(connection: &Connection, scale: Scale, acknowledged: &[OrderKey]) -> Result<Option<String>> {
    let sql = format!("SELECT O_W_ID, O_D_ID, O_ID FROM ORDERS WHERE O_ID > {}", scale.customers);
    let mut there = HashSet::new();
    for batch in connection.query(&sql)? {
        for row in batch.map_err(firearrow::Error::from)?.rows() {
            there.insert((row.get::<i32>(0)?, row.get::<i32>(1)?, row.get::<i32>(2)?));
        }
    }
    let lost: Vec<&OrderKey> = acknowledged.iter().filter(|order| !there.contains(order)).collect();
    Ok(lost.first().map(|(warehouse, district, order)| {
        format!(
            "{} of {} acknowledged orders are lost, such as order {order} of district {district} of warehouse {warehouse}",
            lost.len(),
            acknowledged.len()
        )
    }))
}
