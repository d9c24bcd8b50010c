//! How many rows there are and what they are like.

mod approximate;
mod exact;

use crate::error::{Error, Result};
use firearrow::catalog::{BaseType, Column, Name, Table, TableKind};
use firearrow::{Connection, Kind};

/// What a statistic measures.
///
/// | | approximate | exact |
/// |---|---|---|
/// | [`RowCount`](Self::RowCount) | of a PRIMARY KEY or UNIQUE constraint whose selectivity is known, else counted | counted |
/// | [`MaxByteWidth`](Self::MaxByteWidth) | from the declaration; not of BLOBs | the longest string or BLOB |
/// | [`DistinctCount`](Self::DistinctCount) | of indexes that begin with the column | counted; not of BLOBs |
/// | [`IndexSelectivity`](Self::IndexSelectivity) | the same, as the engine has it | |
/// | [`NullCount`](Self::NullCount), [`AverageByteWidth`](Self::AverageByteWidth) | | counted; the mean of strings and BLOBs |
/// | [`MinValue`](Self::MinValue), [`MaxValue`](Self::MaxValue) | | of numbers, of shorter text as its bytes; not of DECFLOAT |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Rows of the table.
    RowCount,
    /// NULLs of the column.
    NullCount,
    /// Different values of the column.
    DistinctCount,
    /// The least value of the column.
    MinValue,
    /// The greatest value of the column.
    MaxValue,
    /// The mean of the bytes of a value.
    AverageByteWidth,
    /// The most bytes of a value.
    MaxByteWidth,
    /// 1 ÷ the number of distinct values: the smallest selectivity among the indexes that begin with the column.
    IndexSelectivity,
}

/// One statistic of a table, or of a column of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistic {
    /// The table.
    pub table: String,
    /// The column; `None` for the table itself.
    pub column: Option<String>,
    /// What it measures.
    pub measure: Measure,
    /// The result.
    pub value: Value,
    /// Whether the value is an estimate.
    pub is_approximate: bool,
}

/// The value of a statistic.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A count, or a value of an integer column.
    Integer(i64),
    /// An estimate, a mean, or a value of another numeric column.
    Float(f64),
    /// A value of a string column.
    Bytes(Vec<u8>),
}

impl Statistic {
    fn exact(table: &str, column: Option<&str>, measure: Measure, value: Value) -> Self {
        Self { table: table.into(), column: column.map(Into::into), measure, value, is_approximate: false }
    }

    fn approximate(table: &str, column: Option<&str>, measure: Measure, value: f64) -> Self {
        let value = Value::Float(value);
        Self { is_approximate: true, ..Self::exact(table, column, measure, value) }
    }
}

/// Returns statistics of the user's tables with these names: approximate ones from declarations and indexes, or exact
/// ones from all rows. Least and greatest values of NUMERIC, DECIMAL and INT128 columns with room for more digits than
/// float64 has are approximate in both.
///
/// Figures from indexes are as old as the last `SET STATISTICS INDEX`. Views are left out, because counting their rows
/// means running them. For tables that cannot be read (no privilege, or the file of an external table is missing), only
/// figures from declarations are returned.
///
/// # Errors
/// Those of the client.
pub fn statistics(connection: &Connection, name: Name<'_>, approximate: bool) -> Result<Vec<Statistic>> {
    match approximate {
        true => approximate::statistics(connection, name),
        false => exact::statistics(connection, name),
    }
}

fn is_counted(table: &Table) -> bool {
    !matches!(table.kind, TableKind::View | TableKind::System)
}

/// Returns what reading a table found; `None` if it cannot be read: the user has no privilege on it, or its external file
/// is missing.
fn readable<T>(table: &Table, found: firearrow::Result<T>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == Kind::Permission => Ok(None),
        Err(error) if table.kind == TableKind::External && error.kind() == Kind::Database => Ok(None),
        Err(error) => Err(Error::from(error)),
    }
}

/// Bytes of every value, of types that always take as many.
fn fixed_width(column: &Column) -> Option<u32> {
    use BaseType::{Binary, Blob, Char, Other, TextBlob, VarBinary, VarChar};
    let varies =
        matches!(column.data_type.base, Char | VarChar | Binary | VarBinary | TextBlob | Blob | Other(_));
    (!varies && !column.data_type.is_array()).then_some(column.data_type.length)
}
