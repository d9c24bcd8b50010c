//! A terminal: one connection that does one operation after the other.

use crate::input::{Input, Inputs};
use crate::run::Options;
use crate::scale::Scale;
use crate::tally::{Tally, can_be_repeated, reason};
use crate::way::{self, Mode, Outcome};
use firearrow::{Connection, Kind, Result, TransactionOptions};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
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
    /// Terminals that an error has ended.
    failed: AtomicUsize,
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
        Self {
            phase: AtomicU8::new(WARMING_UP),
            measuring: OnceLock::new(),
            failed: AtomicUsize::new(0),
            ready,
        }
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

    /// How many terminals an error has ended.
    pub(crate) fn failed(&self) -> usize {
        self.failed.load(Ordering::Acquire)
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

/// What came of terminals that worked side by side.
pub(crate) struct Worked<T> {
    /// What was done meanwhile.
    pub(crate) during: T,
    /// The counts of all terminals.
    pub(crate) tally: Tally,
    /// The errors that ended terminals before the clock stopped, by terminal.
    pub(crate) ended: Vec<Option<firearrow::Error>>,
}

/// Runs a terminal on each connection, and `during` beside them; when that is done, the clock stops.
pub(crate) fn together<T>(
    scale: Scale,
    connections: Vec<Connection>,
    options: &Options,
    transactions: TransactionOptions,
    during: impl FnOnce(&Clock) -> firearrow_bench::Result<T>,
) -> firearrow_bench::Result<Worked<T>> {
    let clock = &Clock::new(connections.len());
    let work = |terminal: usize, connection: Connection| {
        let mut inputs = Inputs::new(scale, options.locality, options.mix, options.seed, terminal);
        work(&connection, options.mode, transactions, &mut inputs, clock)
    };
    let (during, done) = thread::scope(|scope| {
        let terminals: Vec<_> = connections
            .into_iter()
            .enumerate()
            .map(|(terminal, connection)| scope.spawn(move || work(terminal, connection)))
            .collect();
        clock.ready.wait();
        let during = during(clock);
        clock.stop();
        let done: Vec<_> =
            terminals.into_iter().map(|terminal| terminal.join().expect("no terminal panics")).collect();
        (during, done)
    });
    let (tallies, ended): (Vec<_>, Vec<_>) = done.into_iter().unzip();
    Ok(Worked { during: during?, tally: Tally::sum(&tallies), ended })
}

/// Works until the clock stops; returns what was counted, and the error that ended it earlier.
fn work(
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
    if ended.is_err() {
        clock.failed.fetch_add(1, Ordering::Release);
    }
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
                if let (Input::NewOrder(made), Outcome::Ordered { order, .. }) = (&input, outcome) {
                    tally.orders.push((made.warehouse, made.district, order));
                }
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
