//! Describing columns through a driver.

use super::driver::Driver;
use super::handle::Described;
use super::reading::Subject;
use crate::error::{Error, Result};
use crate::sample::Sample;
use std::time::Instant;

/// Compares the names of the columns of a prepared query.
pub(super) fn verify(driver: &Driver, subject: &Subject) -> Result<()> {
    let connection = driver.connect()?;
    let statement = connection.statement()?;
    statement.prepare(&subject.sql)?;
    let mut described = Described::default();
    for (number, name) in (1..).zip(&subject.columns) {
        statement.describe(number, &mut described)?;
        let found = described.name();
        if !name.encode_utf16().eq(found.iter().copied()) {
            let found = String::from_utf16_lossy(found);
            return Err(Error::other(format!("column {number} is described as {found:?}, not {name}")));
        }
    }
    drop(statement);
    connection.close()
}

/// Describes each column of a prepared query `rounds` times; the rows of the sample are calls.
pub(super) fn describe(driver: &Driver, subject: &Subject, rounds: u64) -> Result<Sample> {
    let connection = driver.connect()?;
    let statement = connection.statement()?;
    statement.prepare(&subject.sql)?;
    let mut described = Described::default();
    let numbers = || (1_u16..).take(subject.columns.len());
    let start = Instant::now();
    for _ in 0..rounds {
        for number in numbers() {
            statement.describe(number, &mut described)?;
        }
    }
    let wall_s = start.elapsed().as_secs_f64();
    drop(statement);
    connection.close()?;
    Ok(Sample { rows: rounds * subject.columns.len() as u64, wall_s, ..Sample::default() })
}
