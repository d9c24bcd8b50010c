//! What is read: the shapes, an empty table, or any query.

use super::column::Column;
use super::hash::Found;
use crate::demo;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::text::thousands;
use firearrow::config::Config;
use firearrow::{Connection, Kind};

/// The shape of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// 22 columns: numbers, decimals, times and texts.
    Wide,
    /// Ten INTEGER.
    Integers,
    /// An integer and nine decimals.
    Decimals,
    /// A number and a text of three to ten kilobytes in a BLOB.
    Blobs,
    /// Ten INTEGER, and no row: what executing costs by itself.
    Empty,
}

impl Shape {
    /// All shapes, in order.
    pub const ALL: [Self; 5] = [Self::Wide, Self::Integers, Self::Decimals, Self::Blobs, Self::Empty];

    fn table(self) -> &'static str {
        match self {
            Self::Wide => "T_WIDE",
            Self::Integers => "T_INT10",
            Self::Decimals => "T_DECIMAL",
            Self::Blobs => "T_BLOB",
            Self::Empty => "T_EMPTY",
        }
    }

    fn id(self) -> &'static str {
        match self {
            Self::Wide => "wide",
            Self::Integers => "integers",
            Self::Decimals => "decimals",
            Self::Blobs => "blobs",
            Self::Empty => "empty",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Wide => "22 columns of numbers, decimals, times and texts",
            Self::Integers => "Ten INTEGER",
            Self::Decimals => "An integer and nine decimals",
            Self::Blobs => "Text BLOBs of 3 to 10 KB",
            Self::Empty => "The control: ten INTEGER of an empty table",
        }
    }
}

/// A query, and what it must give.
#[derive(Debug)]
pub(super) struct Subject {
    /// The table in the record.
    pub(super) id: &'static str,
    pub(super) title: String,
    pub(super) sql: String,
    /// Empty until somebody has read them.
    pub(super) columns: Vec<Column>,
    /// Unknown until somebody has counted them.
    pub(super) rows: Option<u64>,
    /// Unknown until somebody has read it.
    pub(super) expected: Option<Found>,
    pub(super) is_empty: bool,
}

impl Subject {
    /// A demo table, or its first rows if it has more. The demo tables must be there.
    pub(super) fn of(connection: &Connection, shape: Shape, rows: u64) -> Result<Self> {
        let table = shape.table();
        let there = demo::load(connection, table)?;
        let (sql, expected) = match there.rows > rows {
            true => (format!("SELECT * FROM {table} ROWS {rows}"), demo::expected(table, rows)?),
            false => (format!("SELECT * FROM {table}"), there),
        };
        let sums = expected.columns.iter().map(|(_, sum)| *sum).collect();
        let columns = columns(connection, &sql)?;
        Ok(Self {
            id: shape.id(),
            title: format!("{}: {} rows", shape.title(), thousands(expected.rows)),
            sql,
            columns,
            rows: Some(expected.rows),
            expected: Some(Found { rows: expected.rows, sums }),
            is_empty: shape == Shape::Empty,
        })
    }

    /// Any query on Firebird, which is read once to know what it gives.
    pub(super) fn query(host: &dyn Host, config: &Config, sql: &str) -> Result<Self> {
        let connection = host.open(config)?;
        let mut cursor = connection.query(sql).map_err(|error| match error.kind() {
            Kind::Misuse => Error::usage("--sql needs a query; this statement gives no rows"),
            _ => error.into(),
        })?;
        let columns = Column::of_schema(&cursor.schema())?;
        let mut found = Found::new(columns.len());
        while let Some(batch) = cursor.next_batch()? {
            host.check()?;
            found.add(&batch)?;
        }
        drop(cursor);
        connection.close()?;
        let title = format!("The query: {} rows", thousands(found.rows));
        let rows = Some(found.rows);
        Ok(Self { title, columns, rows, expected: Some(found), ..Self::unknown(sql) })
    }

    /// Any query on something else.
    pub(super) fn unknown(sql: &str) -> Self {
        Self {
            id: "query",
            title: "The query".to_owned(),
            sql: sql.to_owned(),
            columns: Vec::new(),
            rows: None,
            expected: None,
            is_empty: false,
        }
    }

    /// Compares what somebody has read with what must be there, or with what the first one has read.
    pub(super) fn check(&mut self, found: Found, columns: &[Column], counts_only: bool) -> Result<()> {
        let withheld = |what: String| Err(Error::other(format!("{what}; its figures are withheld")));
        match self.rows {
            Some(rows) if found.rows != rows => return withheld(format!("{} rows, not {rows}", found.rows)),
            Some(_) => {}
            None => {
                self.title = format!("{}: {} rows", self.title, thousands(found.rows));
                self.rows = Some(found.rows);
            }
        }
        // Who only counts says nothing of the contents.
        if counts_only {
            return Ok(());
        }
        let Some(expected) = &self.expected else {
            self.columns = columns.to_vec();
            self.expected = Some(found);
            return Ok(());
        };
        if found.sums.len() != expected.sums.len() {
            return withheld(format!("{} columns, not {}", found.sums.len(), expected.sums.len()));
        }
        let mut pairs = found.sums.iter().zip(&expected.sums);
        match pairs.position(|(found, expected)| found != expected) {
            None => Ok(()),
            Some(at) => {
                let name = self.columns.get(at).map_or("?", |column| &column.name);
                let (found, expected) = (found.sums[at], expected.sums[at]);
                withheld(format!(
                    "column {name} has other values or types: {found:016x}, not {expected:016x}"
                ))
            }
        }
    }

    /// Whether the client library should look for BLOBs.
    pub(super) fn may_have_blobs(&self) -> bool {
        matches!(self.id, "blobs" | "query")
    }

    pub(super) fn cells(&self) -> u64 {
        self.rows.unwrap_or(0) * self.columns.len() as u64
    }
}

fn columns(connection: &Connection, sql: &str) -> Result<Vec<Column>> {
    let cursor = connection.query(sql)?;
    let columns = Column::of_schema(&cursor.schema())?;
    cursor.close()?;
    Ok(columns)
}

/// The names of the demo tables of these shapes.
pub(super) fn tables(shapes: &[Shape]) -> Vec<&'static str> {
    shapes.iter().map(|shape| shape.table()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::column::Kind;
    use super::*;

    #[test]
    fn the_first_to_hash_says_what_is_right() {
        let mut subject = Subject::unknown("SELECT 1");
        let found = |rows, sums: &[u64]| Found { rows, sums: sums.to_vec() };
        let columns = ["A", "B"].map(|name| Column { name: name.to_owned(), kind: Kind::Int32 });
        subject.check(found(3, &[]), &columns, true).unwrap();
        assert!(subject.expected.is_none());
        // Those who count are compared with each other, and with those who hash.
        for counts_only in [true, false] {
            let error = subject.check(found(4, &[5, 6]), &columns, counts_only).unwrap_err().to_string();
            assert!(error.starts_with("4 rows, not 3; its figures are withheld"), "{error}");
        }
        subject.check(found(3, &[5, 6]), &columns, false).unwrap();
        assert_eq!((subject.cells(), subject.title.as_str()), (6, "The query: 3 rows"));
        subject.check(found(3, &[5, 6]), &[], false).unwrap();
        subject.check(found(3, &[]), &[], true).unwrap();
        let mut wrong = |rows, sums: &[u64], counts_only| {
            subject.check(found(rows, sums), &[], counts_only).unwrap_err().to_string()
        };
        assert!(wrong(2, &[], true).starts_with("2 rows, not 3; its figures are withheld"));
        assert!(wrong(3, &[5, 7], false).starts_with("column B has other values or types: 0000000000000007"));
        assert!(wrong(3, &[5], false).starts_with("1 columns, not 2"));
        assert!(wrong(3, &[], false).starts_with("0 columns"));
    }
}
