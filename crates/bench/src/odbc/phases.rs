//! Reading any query through any driver, phase by phase.

use super::driver::Driver;
use super::handle::{Described, Statement};
use super::kind::Kind;
use super::reading::Way;
use super::rowset::Rowset;
use crate::driver::column::{self, Column};
use crate::driver::hash::Found;
use crate::driver::job::{Done, Job};
use crate::error::{Error, Result};
use crate::measure::Clock;

/// A driver that takes part, and the way in which it reads.
#[derive(Debug)]
pub(crate) struct Contestant {
    driver: Driver,
    way: Way,
}

/// The names of the ways.
pub(crate) const ROWS: &str = "odbc-rows";
pub(crate) const BLOCK: &str = "odbc-block";
pub(crate) const CELLS: &str = "odbc-cells";

impl Contestant {
    /// Loads unixODBC, which loads the driver.
    pub(crate) fn load(job: &Job) -> Result<Self> {
        let way = match job.way.as_str() {
            ROWS => Way::Bound(1),
            CELLS => Way::Cells,
            _ => Way::Bound(job.block.max(2)),
        };
        Ok(Self { driver: Driver::named(&job.odbc)?, way })
    }

    /// The driver's name for people.
    pub(crate) fn version(&self) -> Result<String> {
        Ok(format!("driver {}, {}", self.driver.version()?, self.driver.route))
    }

    /// Reads all rows once, on a new connection, and hashes every cell.
    pub(crate) fn run(&self, job: &Job) -> Result<Done> {
        let mut clock = Clock::start()?;
        let connection = self.driver.connect()?;
        let connect_s = clock.lap()?.wall_s;

        let statement = connection.statement()?;
        statement.execute_directly(&job.sql)?;
        let execute_s = clock.lap()?.wall_s;

        let (kinds, columns) = described(&statement, job)?;
        let mut rowset = Rowset::new(&kinds, self.rows(&kinds));
        let mut found = Found::new(kinds.len());
        let (bind_s, drain_s);
        if self.way == Way::Cells {
            bind_s = clock.lap()?.wall_s;
            while statement.fetch()? {
                for (number, buffer) in (1..).zip(&mut rowset.columns) {
                    statement.get(number, buffer)?;
                }
                found.rows += 1;
                rowset.sum(1, &mut found.sums)?;
            }
            drain_s = clock.lap()?.wall_s;
            statement.close()?;
            drop(statement);
        } else {
            let mut fetcher = statement.bind(rowset)?;
            bind_s = clock.lap()?.wall_s;
            loop {
                let count = fetcher.fetch()?;
                if count == 0 {
                    break;
                }
                found.rows += count as u64;
                fetcher.rowset().sum(count, &mut found.sums)?;
            }
            drain_s = clock.lap()?.wall_s;
            fetcher.close()?;
            drop(fetcher);
        }
        connection.close()?;
        let release_s = clock.lap()?.wall_s;
        let done = Done {
            connect_s,
            execute_s,
            bind_s: Some(bind_s),
            drain_s,
            release_s,
            cpu_s: clock.cpu().seconds(),
            peak_rss_bytes: clock.peak_memory(),
            columns,
            ..Done::default()
        };
        Ok(done.with(&found))
    }

    /// The rows of an array; fewer than wanted if they are so wide that the array would fill the memory.
    fn rows(&self, kinds: &[Kind]) -> usize {
        let width: usize = kinds.iter().map(|kind| kind.width()).sum();
        match self.way {
            Way::Bound(rows) => rows.min(LARGEST_ARRAY / width.max(1)).max(1),
            Way::Cells => 1,
        }
    }
}

/// In bytes.
const LARGEST_ARRAY: usize = 256 << 20;

/// Describes the columns, as an application that does not know them does. What the job says of them counts more: it is how the
/// other contestants read them.
fn described(statement: &Statement<'_>, job: &Job) -> Result<(Vec<Kind>, Vec<Column>)> {
    let count = statement.column_count()?;
    if !job.columns.is_empty() && job.columns.len() != usize::from(count) {
        return Err(Error::other(format!("{count} columns, not {}", job.columns.len())));
    }
    let (mut kinds, mut columns) = (Vec::new(), Vec::new());
    let mut described = Described::default();
    for number in 1..=count {
        statement.describe(number, &mut described)?;
        let known = job.columns.get(usize::from(number - 1));
        let kind = known.map_or_else(|| Kind::described(&described), |column| column.kind);
        kinds.push(Kind::sized(kind, described.size, job.longest));
        columns.push(Column { name: String::from_utf16_lossy(described.name()), kind });
    }
    Ok((kinds, columns))
}

impl Kind {
    /// What a driver calls a column. Whatever has no type of its own here is read as text.
    fn described(described: &Described) -> column::Kind {
        use super::abi::sql_type as sql;
        match described.sql_type {
            sql::TINYINT | sql::SMALLINT => column::Kind::Int16,
            sql::INTEGER => column::Kind::Int32,
            sql::BIGINT => column::Kind::Int64,
            sql::REAL => column::Kind::Float32,
            sql::FLOAT | sql::DOUBLE => column::Kind::Float64,
            sql::BIT => column::Kind::Boolean,
            sql::NUMERIC | sql::DECIMAL => {
                column::Kind::Decimal { scale: i8::try_from(described.digits).unwrap_or(0) }
            }
            sql::TYPE_DATE => column::Kind::Date,
            sql::TYPE_TIME => column::Kind::Time,
            sql::TYPE_TIMESTAMP => column::Kind::Timestamp,
            sql::BINARY | sql::VARBINARY | sql::LONGVARBINARY => column::Kind::Binary,
            _ => column::Kind::Text,
        }
    }

    /// A buffer for it. Long columns have no size, or one that nobody has room for.
    fn sized(kind: column::Kind, size: usize, longest: usize) -> Self {
        let characters = longest / 4;
        match kind {
            column::Kind::Int16 => Self::Int16,
            column::Kind::Int32 => Self::Int32,
            column::Kind::Int64 => Self::Int64,
            column::Kind::Float32 => Self::Float32,
            column::Kind::Float64 => Self::Float64,
            column::Kind::Boolean => Self::Boolean,
            column::Kind::Decimal { scale } => Self::Decimal(scale),
            column::Kind::Date => Self::Date,
            column::Kind::Time => Self::Time,
            column::Kind::Timestamp => Self::Timestamp,
            column::Kind::Text => Self::Text(if size == 0 { characters } else { size.min(characters) }),
            column::Kind::Binary => Self::Binary(if size == 0 { longest } else { size.min(longest) }),
        }
    }
}
