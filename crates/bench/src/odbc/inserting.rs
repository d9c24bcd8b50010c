//! Inserting rows through a driver.

use super::driver::Driver;
use super::rowset::Parameters;
use crate::error::Result;
use crate::insert;
use crate::measure::CpuTime;
use crate::sample::Sample;
use std::time::Instant;

/// How an application inserts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// By arrays of parameters of this many rows, in one transaction.
    Arrays(usize),
    /// By one execution for each row, in one transaction.
    Singly,
    /// By one execution for each row, each in its own transaction.
    Autocommit,
}

impl Mode {
    pub(super) const ALL: [Self; 3] = [Self::Arrays(1000), Self::Singly, Self::Autocommit];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Arrays(_) => "arrays of 1,000",
            Self::Singly => "one by one",
            Self::Autocommit => "one by one, autocommit",
        }
    }

    /// Returns how many rows to insert where arrays insert `rows`.
    pub(super) fn rows(self, rows: u64) -> u64 {
        match self {
            Self::Arrays(_) => rows,
            Self::Singly => rows.div_ceil(10),
            Self::Autocommit => rows.div_ceil(100),
        }
    }
}

/// Inserts the first `rows` rows, the same ones as the reference, on a new connection. The time is that of making the
/// values and of all executions, without the commit of a transaction for all rows.
pub(super) fn insert(driver: &Driver, mode: Mode, rows: u64) -> Result<Sample> {
    let cpu = CpuTime::now()?;
    let connection = driver.connect()?;
    if mode != Mode::Autocommit {
        connection.begin()?;
    }
    let size = if let Mode::Arrays(size) = mode { size } else { 1 };
    let statement = connection.statement()?;
    statement.set_rows(size)?;
    statement.prepare(&insert::sql())?;
    let mut executor = statement.bind_parameters(Parameters::new(insert::COLUMNS, size))?;
    let mut done = 0;
    let start = Instant::now();
    while done < rows {
        let count = size.min(usize::try_from(rows - done).unwrap_or(size));
        if count < size {
            executor.set_rows(count)?;
        }
        executor.parameters().fill(done, count, insert::value);
        executor.execute(count)?;
        done += count as u64;
    }
    let execute_s = start.elapsed().as_secs_f64();
    let start = Instant::now();
    if mode != Mode::Autocommit {
        connection.commit()?;
    }
    let commit_s = start.elapsed().as_secs_f64();
    drop(executor);
    connection.close()?;
    Ok(Sample {
        rows: done,
        wall_s: execute_s,
        cpu_s: Some(CpuTime::now()?.since(cpu).seconds()),
        phases: [("execute", execute_s), ("commit", commit_s)].into(),
        ..Sample::default()
    })
}
