//! One repetition, phase by phase.

use crate::error::Result;
use crate::host::Host;
use crate::platform;
use arrow::array::{Array, RecordBatch};
use arrow::buffer::Buffer;
use firearrow::config::Config;
use firearrow::{BatchLimits, Params, TransactionOptions, WireStats};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The cost of reading the rows of a query once, phase by phase.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Run {
    /// Number of rows read.
    pub rows: u64,
    /// Connecting.
    pub connect: Lap,
    /// Starting a transaction, preparing and executing.
    pub execute: Lap,
    /// Waiting for the first batch, or in the reference for the first row.
    pub first_row: Lap,
    /// Reading the rest.
    pub drain: Lap,
    /// Closing the cursor, committing and disconnecting.
    pub release: Lap,
    /// Processor time of the process in user mode, in seconds.
    pub cpu_user_s: f64,
    /// Processor time of the process in the kernel, in seconds.
    pub cpu_system_s: f64,
    /// Peak resident memory of the process in bytes; unknown if the kernel does not reset the peak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_rss_bytes: Option<u64>,
    /// The traffic; `None` for an engine in this process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
    /// The sum over all bytes of all values, if they were consumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consumed: Option<u64>,
}

/// The cost of one phase.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Lap {
    /// Elapsed time in seconds.
    pub wall_s: f64,
    /// Processor time of the process in seconds; the reference does not report it by phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
}

/// The traffic of a repetition on the socket, without disconnecting.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Wire {
    /// Bytes that the client received.
    pub bytes_received: u64,
    /// Bytes that the client sent.
    pub bytes_sent: u64,
    /// Round trips, including those of connecting.
    pub round_trips: u64,
    /// Round trips of connecting.
    pub connect_round_trips: u64,
}

impl Run {
    /// Returns all phases with their names, in order.
    #[must_use]
    pub fn phases(&self) -> [(&'static str, Lap); 5] {
        [
            ("connect", self.connect),
            ("execute", self.execute),
            ("first row", self.first_row),
            ("drain", self.drain),
            ("release", self.release),
        ]
    }

    /// Returns the elapsed time of all phases, in seconds.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.phases().iter().map(|(_, lap)| lap.wall_s).sum()
    }

    /// Returns the processor time of the process, user and system, in seconds.
    #[must_use]
    pub fn cpu(&self) -> f64 {
        self.cpu_user_s + self.cpu_system_s
    }

    /// Returns the elapsed time of fetching all rows, including the first one, in seconds.
    #[must_use]
    pub fn fetch(&self) -> f64 {
        self.first_row.wall_s + self.drain.wall_s
    }

    /// Returns rows per second of elapsed time, from executing to the last row.
    #[must_use]
    pub fn rows_per_second(&self) -> f64 {
        self.rows as f64 / (self.execute.wall_s + self.fetch())
    }
}

/// What to read, and how.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// How to connect.
    pub config: &'a Config,
    /// The query, without parameters.
    pub sql: &'a str,
    /// The size of the batches.
    pub limits: BatchLimits,
    /// Whether to sum the bytes of all values, as if a program used them.
    pub consume: bool,
}

/// Reads all rows of a query once, on a new connection and in a read-only snapshot.
///
/// # Errors
/// The errors of connecting and reading.
pub fn run(host: &dyn Host, plan: Plan<'_>) -> Result<Run> {
    let mut clock = Clock::start()?;
    let mut run = Run { consumed: plan.consume.then_some(0), ..Run::default() };

    let connection = host.open(plan.config)?;
    run.connect = clock.lap()?;
    let connected = connection.wire_stats();

    let transaction = connection.begin(TransactionOptions::reading())?;
    let statement = transaction.prepare(plan.sql)?.with_limits(plan.limits);
    let mut cursor = statement.query(&transaction, Params::none())?;
    run.execute = clock.lap()?;

    let mut batch = cursor.next_batch()?;
    run.first_row = clock.lap()?;

    while let Some(rows) = batch {
        run.rows += rows.num_rows() as u64;
        if let Some(sum) = &mut run.consumed {
            *sum = sum.wrapping_add(consume(&rows));
        }
        batch = cursor.next_batch()?;
    }
    run.drain = clock.lap()?;

    cursor.close()?;
    drop(statement);
    transaction.commit()?;
    run.wire = Wire::of(connection.wire_stats(), connected.round_trips);
    connection.close()?;
    run.release = clock.lap()?;

    let cpu = clock.cpu();
    (run.cpu_user_s, run.cpu_system_s) = (cpu.user.as_secs_f64(), cpu.system.as_secs_f64());
    run.peak_rss_bytes = clock.peak_memory();
    Ok(run)
}

impl Wire {
    /// Takes the reported figures from a connection's statistics, and the round trips of connecting; `None` for an
    /// engine in this process, which has no traffic.
    #[must_use]
    pub fn of(stats: WireStats, connect_round_trips: u64) -> Option<Self> {
        (stats.round_trips > 0).then_some(Self {
            bytes_received: stats.wire_bytes_received,
            bytes_sent: stats.wire_bytes_sent,
            round_trips: stats.round_trips,
            connect_round_trips,
        })
    }
}

/// Touches every value, as a program that uses them would.
fn consume(batch: &RecordBatch) -> u64 {
    let buffers = |buffers: &[Buffer]| buffers.iter().map(|buffer| sum(buffer)).fold(0, u64::wrapping_add);
    batch.columns().iter().map(|column| buffers(column.to_data().buffers())).fold(0, u64::wrapping_add)
}

fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let words = words.iter().fold(0, |sum: u64, word| sum.wrapping_add(u64::from_le_bytes(*word)));
    rest.iter().fold(words, |sum, byte| sum.wrapping_add(u64::from(*byte)))
}

/// Measures one phase after the other.
pub(crate) struct Clock {
    wall: Instant,
    cpu: CpuTime,
    begin: CpuTime,
    memory_is_fresh: bool,
}

impl Clock {
    /// Begins now; the kernel measures the peak of memory from now on, too.
    pub(crate) fn start() -> Result<Self> {
        let memory_is_fresh = platform::reset_peak_memory();
        let begin = CpuTime::now()?;
        Ok(Self { wall: Instant::now(), cpu: begin, begin, memory_is_fresh })
    }

    /// Processor time since the start, as of the last lap.
    pub(crate) fn cpu(&self) -> CpuTime {
        self.cpu.since(self.begin)
    }

    /// Peak memory since the start; unknown if the kernel does not tell.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        self.memory_is_fresh.then(platform::peak_memory).flatten()
    }

    /// Ends a phase; the next one begins.
    pub(crate) fn lap(&mut self) -> Result<Lap> {
        let (wall, cpu) = (Instant::now(), CpuTime::now()?);
        let spent = cpu.since(self.cpu);
        let lap = Lap {
            wall_s: wall.duration_since(self.wall).as_secs_f64(),
            cpu_s: Some((spent.user + spent.system).as_secs_f64()),
        };
        (self.wall, self.cpu) = (wall, cpu);
        Ok(lap)
    }
}

/// The processor time of this process, all threads together.
#[derive(Clone, Copy, Debug)]
pub struct CpuTime {
    user: Duration,
    system: Duration,
}

impl CpuTime {
    /// Returns the processor time used so far.
    ///
    /// # Errors
    /// The operating system's.
    pub fn now() -> Result<Self> {
        let (user, system) = platform::processor_time()?;
        Ok(Self { user, system })
    }

    /// Returns the processor time used since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        // The kernel splits one sum into the two, not always monotonically.
        Self {
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
        }
    }

    /// Returns user time, in seconds.
    #[must_use]
    pub fn user_seconds(self) -> f64 {
        self.user.as_secs_f64()
    }

    /// Returns user and system time together, in seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        (self.user + self.system).as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_counts() {
        assert_eq!(sum(&[1, 0, 0, 0, 0, 0, 0, 0, 2, 3]), 6);
    }

    #[test]
    fn processor_time_can_be_read() {
        assert!(CpuTime::now().unwrap().user < Duration::from_secs(3600));
    }
}
