//! A terminal: one connection that does one operation after the other.

use crate::input::Inputs;
use crate::tally::{Tally, can_be_repeated, reason};
use crate::way::{self, Mode};
use firearrow::{Connection, Kind, Result, TransactionOptions};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// How often an operation is tried.
const ATTEMPTS: u32 = 10;

/// What all terminals look at.
pub(crate) struct Clock {
    phase: AtomicU8,
    /// When measuring began.
    measuring: OnceLock<Instant>,
    /// Everybody is ready.
    pub(crate) ready: Barrier,
}

const WARMING_UP: u8 = 0;
const MEASURING: u8 = 1;
const STOPPED: u8 = 2;

impl Clock {
    /// For as many terminals, and whoever sets the clock.
    pub(crate) fn new(terminals: usize) -> Self {
        let ready = Barrier::new(terminals + 1);
        Self { phase: AtomicU8::new(WARMING_UP), measuring: OnceLock::new(), ready }
    }

    /// From now on operations count.
    pub(crate) fn measure(&self) -> Instant {
        let now = *self.measuring.get_or_init(Instant::now);
        self.phase.store(MEASURING, Ordering::Release);
        now
    }

    /// No more operations.
    pub(crate) fn stop(&self) {
        self.phase.store(STOPPED, Ordering::Release);
    }

    fn is_running(&self) -> bool {
        self.phase.load(Ordering::Acquire) != STOPPED
    }

    /// The second of the measured time that it is now.
    fn second(&self) -> Option<usize> {
        let is_measuring = self.phase.load(Ordering::Acquire) == MEASURING;
        let since = self.measuring.get().filter(|_| is_measuring)?;
        Some(since.elapsed().as_secs() as usize)
    }
}

/// Works until the clock stops; returns what was counted, and the error that ended it earlier.
pub(crate) fn work(
    connection: &Connection,
    mode: Mode,
    options: TransactionOptions,
    inputs: &mut Inputs,
    clock: &Clock,
) -> (Tally, Option<firearrow::Error>) {
    let way = way::open(mode, connection, options);
    clock.ready.wait();
    let mut tally = Tally::default();
    let ended = way.and_then(|mut way| {
        while clock.is_running() {
            operate(&mut *way, connection, inputs, clock, &mut tally)?;
        }
        Ok(())
    });
    (tally, ended.err())
}

/// One operation, with its repetitions.
fn operate(
    way: &mut dyn way::Way,
    connection: &Connection,
    inputs: &mut Inputs,
    clock: &Clock,
    tally: &mut Tally,
) -> Result<()> {
    let input = inputs.next();
    let operation = input.operation();
    let started = Instant::now();
    for attempt in 1.. {
        let error = match way.perform(&input) {
            Ok(outcome) => {
                tally.ledger.add(outcome);
                tally.fewest[operation as usize] += 1;
                if let Some(second) = clock.second() {
                    tally.measured(operation, outcome, started.elapsed(), second);
                }
                return Ok(());
            }
            Err(error) => error,
        };
        if error.kind() == Kind::CommitUnknown {
            tally.ledger.unknown += 1;
        }
        if connection.is_failed() {
            return Err(error);
        }
        let counts = clock.second().is_some();
        if !can_be_repeated(&error) || attempt == ATTEMPTS {
            count(&mut tally.errors, &error, counts);
            return Ok(());
        }
        count(&mut tally.retries, &error, counts);
        // Not all at once again.
        thread::sleep(Duration::from_micros(1000 + (inputs.random.fraction() * 49_000.0) as u64));
    }
    Ok(())
}

/// Counts an error within the measured time.
fn count(counts: &mut BTreeMap<String, u64>, error: &firearrow::Error, is_measured: bool) {
    if is_measured {
        *counts.entry(reason(error)).or_default() += 1;
    }
}
