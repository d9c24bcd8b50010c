//! Reading tables through a driver.

use super::abi;
use super::driver::Driver;
use super::handle::Connection;
use super::kind::Kind;
use super::rowset::Rowset;
use crate::demo::{self, Expected};
use crate::error::{Error, Result};
use crate::measure::CpuTime;
use crate::sample::Sample;
use std::time::Instant;

/// What to read.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) name: &'static str,
    pub(super) sql: String,
    pub(super) columns: Vec<&'static str>,
    pub(super) kinds: Vec<Kind>,
}

/// How an application reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Columns are bound, and there is room for so many rows.
    Bound(usize),
    /// SQLGetData is called for each value.
    Cells,
}

impl Way {
    pub(super) const ALL: [Self; 3] = [Self::Bound(1), Self::Bound(1000), Self::Cells];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bound(1) => "row by row",
            Self::Bound(_) => "row array",
            Self::Cells => "SQLGetData",
        }
    }

    fn rows(self) -> usize {
        match self {
            Self::Bound(rows) => rows,
            Self::Cells => 1,
        }
    }
}

impl Subject {
    /// All columns of a demo table whose names `is_wanted` accepts.
    pub(super) fn of(name: &'static str, table: &str, is_wanted: impl Fn(&str) -> bool) -> Result<Self> {
        let table = demo::TABLES.iter().chain(&demo::MORE_TABLES).find(|known| known.name == table);
        let table = table.ok_or_else(|| Error::usage("there is no such demo table"))?;
        let columns: Vec<_> = table.columns.iter().filter(|column| is_wanted(column.name)).collect();
        let names: Vec<_> = columns.iter().map(|column| column.name).collect();
        let list = if columns.len() == table.columns.len() { "*".to_owned() } else { names.join(", ") };
        Ok(Self {
            name,
            sql: format!("SELECT {list} FROM {}", table.name),
            columns: names,
            kinds: columns.into_iter().map(Kind::of).collect(),
        })
    }

    /// Reads all rows once, on a new connection. The time is that from executing to the last row.
    pub(super) fn read(&self, driver: &Driver, way: Way) -> Result<Sample> {
        let cpu = CpuTime::now()?;
        let connection = driver.connect()?;
        let (rows, wall_s) = self.run(&connection, way, |_, _| Ok(()))?;
        connection.close()?;
        self.sample(rows, wall_s, cpu)
    }

    /// Compares the number of rows and the checksum of each column with those of the demo table.
    pub(super) fn verify(&self, driver: &Driver, way: Way, expected: &Expected) -> Result<()> {
        let connection = driver.connect()?;
        let mut sums = vec![0; self.kinds.len()];
        let (rows, _) = self.run(&connection, way, |rowset, rows| rowset.sum(rows, &mut sums))?;
        connection.close()?;
        let wrong = |what: String| {
            let text =
                format!("{}, {}, {}: {what}; its figures are withheld", self.name, way.name(), driver.route);
            Err(Error::other(text))
        };
        if rows != expected.rows {
            return wrong(format!("{rows} rows were read, {} were made", expected.rows));
        }
        for (name, sum) in self.columns.iter().zip(sums) {
            let known = expected.columns.iter().find(|(known, _)| known == name).map(|(_, sum)| *sum);
            if known != Some(sum) {
                return wrong(format!(
                    "column {name} has checksum {sum:016x}, not {:016x}",
                    known.unwrap_or(0)
                ));
            }
        }
        Ok(())
    }

    /// Reads all rows and shows them to `visit`. Returns their number, and the time in seconds from executing to the
    /// last row.
    fn run(
        &self,
        connection: &Connection<'_>,
        way: Way,
        mut visit: impl FnMut(&Rowset, usize) -> Result<()>,
    ) -> Result<(u64, f64)> {
        let statement = connection.statement()?;
        let mut rowset = Rowset::new(&self.kinds, way.rows());
        let mut rows = 0;
        let start = Instant::now();
        statement.execute_directly(&self.sql)?;
        if way == Way::Cells {
            while statement.fetch()? {
                for (number, buffer) in (1..).zip(&mut rowset.columns) {
                    statement.get(number, buffer)?;
                }
                rows += 1;
                visit(&rowset, 1)?;
            }
            let seconds = start.elapsed().as_secs_f64();
            statement.close()?;
            return Ok((rows, seconds));
        }
        let mut fetcher = statement.bind(rowset)?;
        loop {
            let count = fetcher.fetch()?;
            if count == 0 {
                break;
            }
            rows += count as u64;
            visit(fetcher.rowset(), count)?;
        }
        let seconds = start.elapsed().as_secs_f64();
        fetcher.close()?;
        Ok((rows, seconds))
    }

    /// Fetches rows that the driver has at hand, all of them once: those of a static cursor that has been at its end. The
    /// time is that of fetching.
    pub(super) fn fetch_again(&self, driver: &Driver, size: usize) -> Result<Sample> {
        let cpu = CpuTime::now()?;
        let connection = driver.connect()?;
        let statement = connection.statement()?;
        statement.make_static()?;
        statement.execute_directly(&self.sql)?;
        let mut fetcher = statement.bind(Rowset::new(&self.kinds, size))?;
        fetcher.scroll(abi::FETCH_LAST)?;
        let start = Instant::now();
        let mut count = fetcher.scroll(abi::FETCH_FIRST)?;
        let mut rows = 0;
        while count > 0 {
            rows += count as u64;
            count = fetcher.fetch()?;
        }
        let wall_s = start.elapsed().as_secs_f64();
        fetcher.close()?;
        drop(fetcher);
        connection.close()?;
        self.sample(rows, wall_s, cpu)
    }

    /// The figures of a reading of so many rows, whose processor time began to count at `cpu`.
    fn sample(&self, rows: u64, wall_s: f64, cpu: CpuTime) -> Result<Sample> {
        Ok(Sample {
            rows,
            wall_s,
            cells: Some(rows * self.kinds.len() as u64),
            cpu_s: Some(CpuTime::now()?.since(cpu).seconds()),
            ..Sample::default()
        })
    }
}
