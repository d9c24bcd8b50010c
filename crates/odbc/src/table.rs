//! Results that the driver makes itself: those of the catalog functions.

use arrow::array::{ArrayRef, Int16Array, Int32Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use std::sync::Arc;

/// A column of such a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    pub(crate) name: &'static str,
    /// Its name for applications of ODBC 2.
    pub(crate) former: &'static str,
    pub(crate) kind: Kind,
    pub(crate) nullable: bool,
}

/// The type of such a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// At most this many characters; 0 = as long as names can be.
    Text(u32),
    SmallInt,
    Integer,
}

/// A value of such a column. Numbers that do not fit are a mistake of the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    Null,
    Text(String),
    Number(i64),
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Number(_) => None,
        }
    }

    pub(crate) fn number(number: impl Into<i64>) -> Self {
        Self::Number(number.into())
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<i32> for Cell {
    fn from(number: i32) -> Self {
        Self::number(number)
    }
}

impl From<i16> for Cell {
    fn from(number: i16) -> Self {
        Self::number(number)
    }
}

impl Kind {
    fn data_type(self) -> DataType {
        match self {
            Self::Text(_) => DataType::Utf8,
            Self::SmallInt => DataType::Int16,
            Self::Integer => DataType::Int32,
        }
    }
}

/// A result that the driver has made.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) headings: &'static [Heading],
    pub(crate) batch: RecordBatch,
}

impl Table {
    /// Makes a result of rows, each of which has a cell for each heading.
    pub(crate) fn new(headings: &'static [Heading], rows: &[Vec<Cell>]) -> Self {
        let columns: Vec<ArrayRef> =
            headings.iter().enumerate().map(|(at, heading)| array(heading.kind, rows, at)).collect();
        let fields = headings.iter().map(|heading| Field::new(heading.name, heading.kind.data_type(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let batch = RecordBatch::try_new(schema, columns).expect("each column has its kind and all rows");
        Self { headings, batch }
    }
}

fn array(kind: Kind, rows: &[Vec<Cell>], at: usize) -> ArrayRef {
    let cells = rows.iter().map(|row| &row[at]);
    let number = |cell: &Cell| match cell {
        Cell::Number(number) => Some(*number),
        _ => None,
    };
    match kind {
        Kind::Text(_) => Arc::new(cells.map(Cell::as_text).collect::<StringArray>()),
        Kind::SmallInt => {
            let small = |number| i16::try_from(number).expect("a small number");
            Arc::new(cells.map(|cell| number(cell).map(small)).collect::<Int16Array>())
        }
        Kind::Integer => {
            let integer = |number| i32::try_from(number).expect("an integer");
            Arc::new(cells.map(|cell| number(cell).map(integer)).collect::<Int32Array>())
        }
    }
}
