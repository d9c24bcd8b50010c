//! The terminals of `firearrow oltp`, through the client library: the same inputs and the same statements, as a C++ program would
//! execute them.

mod prepared;
mod procedures;
mod statements;

use crate::arguments::Arguments;
use firearrow_fbapi::{Attachment, Error, Library, Transaction};
use firearrow_oltp::{Customer, Failure, LOCK_TIMEOUT_S, Level, Mode, Plan, Way, serve};
use std::io;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Runs the terminals of a plan, and says what they did.
pub fn oltp_terminals(
    library: &Arc<Library>,
    arguments: &Arguments,
    dpb: &[u8],
    plan: &Plan,
) -> Result<(), Box<dyn std::error::Error>> {
    let open = |_: usize| -> Result<Box<dyn Way>, Failure> {
        let attachment = library.attach(&arguments.database, dpb).map_err(failure)?;
        let session = Session { attachment, tpb: tpb(plan.isolation) };
        Ok(match plan.mode {
            Mode::Sp => Box::new(procedures::Procedures::prepare(session).map_err(failure)?),
            Mode::Sql => Box::new(statements::Statements::prepare(session).map_err(failure)?),
            Mode::SqlPipelined => {
                return Err(Failure::other(
                    "the client library executes one statement after the other: sp or sql",
                ));
            }
        })
    };
    Ok(serve(plan, &open, io::stdin().lock(), io::stdout().lock())?)
}

/// A connection, and how its transactions begin.
struct Session {
    attachment: Attachment,
    tpb: Vec<u8>,
}

impl Session {
    fn begin(&self) -> Result<Transaction, Error> {
        self.attachment.start_transaction(&self.tpb)
    }

    fn has_lost_connection(&self) -> bool {
        self.attachment.ping().is_err()
    }
}

fn tpb(level: Level) -> Vec<u8> {
    const VERSION: u8 = 3;
    const CONCURRENCY: u8 = 2;
    const WAIT: u8 = 6;
    const WRITE: u8 = 9;
    const READ_COMMITTED: u8 = 15;
    const RECORD_VERSION: u8 = 17;
    const LOCK_TIMEOUT: u8 = 21;
    const READ_CONSISTENCY: u8 = 22;
    let isolation = match level {
        Level::ReadConsistency => &[READ_COMMITTED, READ_CONSISTENCY][..],
        Level::ReadCommitted => &[READ_COMMITTED, RECORD_VERSION],
        Level::Snapshot => &[CONCURRENCY],
    };
    let timeout = u32::from(LOCK_TIMEOUT_S).to_le_bytes();
    [&[VERSION], isolation, &[WRITE, WAIT, LOCK_TIMEOUT, 4], &timeout].concat()
}

/// What the engine reported.
fn failure(error: Error) -> Failure {
    let codes: Vec<i32> = error.status().map(|status| status.errors().collect()).unwrap_or_default();
    Failure::of_engine(&codes, &error.to_string())
}

/// A row that must be there.
fn found<T>(row: Option<T>, what: &str) -> Result<T, Failure> {
    row.ok_or_else(|| Failure::other(format!("{what} is missing")))
}

/// Ends a transaction with what came of it: dropping one that has failed rolls it back.
fn committed<T>(mut transaction: Transaction, done: T) -> Result<T, Failure> {
    transaction.commit().map_err(failure)?;
    Ok(done)
}

/// Days since 1858-11-17, and ten-thousandths of a second.
fn now() -> [i32; 2] {
    const UNIX_EPOCH_DAY: i32 = 40_587;
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, seconds) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    [UNIX_EPOCH_DAY + days as i32, (seconds * 10_000) as i32 + (since.subsec_micros() / 100) as i32]
}

/// Number and name of a customer, of which one is NULL.
fn parts(customer: &Customer) -> (Option<i32>, Option<&str>) {
    match customer {
        Customer::Number(number) => (Some(*number), None),
        Customer::Name(name) => (None, Some(name)),
    }
}
