//! Rows one at a time, out of record batches.

use crate::arrow::BatchBuilder;
use crate::error::{Error, Kind, Result};
use crate::value::{FromValue, FromValueError, Raw, Value, cell};
use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use std::ops::Range;

/// Adds [`rows`](Self::rows) to record batches.
///
/// An extension trait, so that cursors can go on returning plain record batches, which every Arrow library takes.
pub trait BatchExt {
    /// Returns the rows of the batch, from the first to the last.
    fn rows(&self) -> Rows<'_>;
}

impl BatchExt for RecordBatch {
    fn rows(&self) -> Rows<'_> {
        Rows { batch: self, range: 0..self.num_rows() }
    }
}

/// The rows of a [`RecordBatch`]; see [`BatchExt`].
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    batch: &'a RecordBatch,
    range: Range<usize>,
}

impl<'a> Iterator for Rows<'a> {
    type Item = Row<'a>;

    fn next(&mut self) -> Option<Row<'a>> {
        self.range.next().map(|index| Row { source: Source::Batch(self.batch), index })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }

    fn nth(&mut self, n: usize) -> Option<Row<'a>> {
        self.range.nth(n).map(|index| Row { source: Source::Batch(self.batch), index })
    }
}

impl DoubleEndedIterator for Rows<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.range.next_back().map(|index| Row { source: Source::Batch(self.batch), index })
    }
}

impl ExactSizeIterator for Rows<'_> {}

/// One row of a result: a view that copies nothing.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    source: Source<'a>,
    index: usize,
}

/// Where the row is.
#[derive(Clone, Copy, Debug)]
enum Source<'a> {
    Batch(&'a RecordBatch),
    /// In columns of which no batch was made.
    Columns(&'a BatchBuilder),
}

impl<'a> Row<'a> {
    /// The row at this 0-based index of a batch; `None` if it has fewer.
    pub fn new(batch: &'a RecordBatch, index: usize) -> Option<Self> {
        (index < batch.num_rows()).then_some(Self { source: Source::Batch(batch), index })
    }

    /// The only row of these columns; `None` where only a batch has its values.
    pub(crate) fn of_columns(columns: &'a BatchBuilder) -> Option<Self> {
        let count = columns.schema_ref().fields().len();
        let has_all = (0..count).all(|column| columns.raw(column, 0).is_some());
        has_all.then_some(Self { source: Source::Columns(columns), index: 0 })
    }

    fn schema(&self) -> &'a SchemaRef {
        match self.source {
            Source::Batch(batch) => batch.schema_ref(),
            Source::Columns(columns) => columns.schema_ref(),
        }
    }

    fn cell(&self, column: usize) -> Result<Value<'a>, FromValueError> {
        match self.source {
            Source::Batch(batch) => cell(batch.column(column), self.index),
            Source::Columns(columns) => {
                let raw = columns.raw(column, self.index).unwrap_or(Raw::Null);
                raw.value(columns.schema_ref().field(column).data_type())
            }
        }
    }

    /// Returns the 0-based index within the batch.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.schema().fields().len()
    }

    /// Returns the value of a column, given by its 0-based index or its name, as a Rust type; [`FromValue`] lists the types.
    ///
    /// A name must match exactly or, if no column has exactly this name, without regard to ASCII case. Finding a name takes time for
    /// each row; an index does not.
    ///
    /// # Errors
    /// - [`Kind::Data`]: the value is NULL and the type is no `Option`, the value is of another type, or it would have to be
    ///   rounded or cut. [`Error::row`] and [`Error::column_index`] identify the value.
    /// - [`Kind::Misuse`]: there is no such column, or several have the name.
    pub fn get<T: FromValue<'a>>(&self, column: impl ColumnIndex) -> Result<T> {
        let column = column.column_of(self.schema())?;
        self.cell(column).and_then(T::from_value).map_err(|error| self.refuse(column, error))
    }

    /// Returns the value of a column as the variant of [`Value`] that matches its Arrow type.
    ///
    /// # Errors
    /// As with [`get`](Self::get); columns of Arrow types that Firebird's results never have are [`Kind::Data`].
    pub fn value(&self, column: impl ColumnIndex) -> Result<Value<'a>> {
        self.get(column)
    }

    fn refuse(&self, column: usize, error: FromValueError) -> Error {
        let field = self.schema().field(column);
        let mut text = format!("column {} (\"{}\"), row {}: {error}", column + 1, field.name(), self.index);
        if matches!(error, FromValueError::Type { .. }) {
            // The declared type is more specific than the kind of the value.
            let declared = field.metadata().get("FIREBIRD:type").map_or("", String::as_str);
            let separator = if declared.is_empty() { "" } else { ", " };
            text = format!("{text} (the column is {declared}{separator}{} in Arrow)", field.data_type());
        }
        Error::new(Kind::Data, text).in_row(self.index).in_column(column, field.name()).with_source(error)
    }
}

/// The only row of a result, while its batches come in.
#[derive(Default)]
pub(crate) struct OnlyRow(Option<RecordBatch>);

impl OnlyRow {
    /// # Errors
    /// [`Kind::Data`] at the second row.
    pub(crate) fn add(&mut self, batch: RecordBatch) -> Result<()> {
        match (batch.num_rows(), &self.0) {
            (0, _) => Ok(()),
            (1, None) => {
                self.0 = Some(batch);
                Ok(())
            }
            _ => Err(more_than_one_row()),
        }
    }

    pub(crate) fn read<T>(self, read: impl FnOnce(Row<'_>) -> Result<T>) -> Result<Option<T>> {
        self.0.as_ref().and_then(|batch| Row::new(batch, 0)).map(read).transpose()
    }
}

pub(crate) fn more_than_one_row() -> Error {
    Error::new(Kind::Data, "the query returned more than one row; one_row accepts at most one")
}

/// The engine has one code for a second row of a query and of a subquery in it.
pub(crate) fn one_row_too_many(error: Error) -> Error {
    error
        .of_kind(Kind::Data)
        .context("the query, or a subquery of it, returned more than one row; one_row accepts at most one")
}

pub(crate) fn no_value() -> Error {
    Error::new(Kind::Data, "the query returned no row, so it has no value")
}

/// A reference to a column of a [`Row`]: a 0-based index, or its name.
pub trait ColumnIndex: sealed::Sealed {
    /// Finds the column.
    #[doc(hidden)]
    fn column_of(&self, schema: &Schema) -> Result<usize>;
}

impl ColumnIndex for usize {
    fn column_of(&self, schema: &Schema) -> Result<usize> {
        let columns = schema.fields().len();
        if *self < columns {
            return Ok(*self);
        }
        Err(Error::new(
            Kind::Misuse,
            format!("there is no column with index {self}; the row has {columns} columns, from index 0"),
        ))
    }
}

impl ColumnIndex for str {
    fn column_of(&self, schema: &Schema) -> Result<usize> {
        let all = |matches: fn(&str, &str) -> bool| -> Vec<usize> {
            let fields = schema.fields().iter().enumerate();
            fields.filter(|(_, field)| matches(field.name(), self)).map(|(index, _)| index).collect()
        };
        let mut found = all(|name, wanted| name == wanted);
        if found.is_empty() {
            found = all(|name, wanted| name.eq_ignore_ascii_case(wanted));
        }
        let message = match found[..] {
            [index] => return Ok(index),
            [] => {
                let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
                format!("there is no column \"{self}\"; the row has {}", names.join(", "))
            }
            _ => format!(
                "{} columns are called \"{self}\"; use an index, or give them different names with AS",
                found.len()
            ),
        };
        Err(Error::new(Kind::Misuse, message))
    }
}

impl ColumnIndex for String {
    fn column_of(&self, schema: &Schema) -> Result<usize> {
        self.as_str().column_of(schema)
    }
}

impl<T: ColumnIndex + ?Sized> ColumnIndex for &T {
    fn column_of(&self, schema: &Schema) -> Result<usize> {
        (**self).column_of(schema)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for usize {}
    impl Sealed for str {}
    impl Sealed for String {}
    impl<T: Sealed + ?Sized> Sealed for &T {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Int32Array, StringArray};
    use arrow::datatypes::{DataType, Field};
    use std::error::Error as _;
    use std::sync::Arc;

    fn batch() -> RecordBatch {
        let declared: std::collections::HashMap<_, _> =
            [("FIREBIRD:type".to_owned(), "VARCHAR".to_owned())].into();
        let schema = Schema::new(vec![
            Field::new("ID", DataType::Int32, true),
            Field::new("NAME", DataType::Utf8, true).with_metadata(declared),
            Field::new("name", DataType::Utf8, true),
            Field::new("TWICE", DataType::Int32, true),
            Field::new("TWICE", DataType::Int32, true),
        ]);
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3]));
        let names: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("c")]));
        let columns = vec![Arc::clone(&numbers), Arc::clone(&names), names, Arc::clone(&numbers), numbers];
        RecordBatch::try_new(Arc::new(schema), columns).unwrap()
    }

    #[test]
    fn rows_are_read_by_index_and_name() {
        let batch = batch();
        let read = batch.rows().map(|row| Ok((row.get(0)?, row.get("NAME")?)));
        let read: Vec<(i64, Option<&str>)> = read.collect::<Result<_>>().unwrap();
        assert_eq!(read, [(1, Some("a")), (2, None), (3, Some("c"))]);
        let row = Row::new(&batch, 2).unwrap();
        assert_eq!((row.index(), row.columns()), (2, 5));
        assert_eq!(row.get::<i64>("id").unwrap(), 3);
        assert_eq!(row.get::<String>(String::from("name")).unwrap(), "c");
        assert_eq!(row.value(1).unwrap(), Value::Text("c"));
        assert!(Row::new(&batch, 3).is_none());
    }

    #[test]
    fn values_outlive_the_row() {
        let batch = batch();
        let name: &str = batch.rows().next().unwrap().get("NAME").unwrap();
        assert_eq!(name, "a");
    }

    #[test]
    fn rows_have_an_end_and_a_length() {
        let batch = batch();
        let mut rows = batch.rows();
        assert_eq!(rows.len(), 3);
        assert_eq!(rows.next_back().map(|row| row.index()), Some(2));
        assert_eq!(rows.nth(1).map(|row| row.index()), Some(1));
        assert!(rows.next().is_none());
    }

    #[test]
    fn errors_name_the_value() {
        let batch = batch();
        let row = batch.rows().nth(1).unwrap();
        let error = row.get::<String>("NAME").unwrap_err();
        assert_eq!(
            error.to_string(),
            "column 2 (\"NAME\"), row 1: the value is NULL; read it as Option<String>"
        );
        assert_eq!(
            (error.kind(), error.row(), error.column_index(), error.column_name()),
            (Kind::Data, Some(1), Some(1), Some("NAME"))
        );
        assert!(error.source().is_some_and(|source| source.is::<FromValueError>()));
        let error = batch.rows().next().unwrap().get::<i64>(1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "column 2 (\"NAME\"), row 0: text cannot be read as i64; read it as String (the column is VARCHAR, Utf8 in Arrow)"
        );
    }

    #[test]
    fn columns_that_are_not_there_are_misuse() {
        let batch = batch();
        let row = batch.rows().next().unwrap();
        for (error, text) in [
            (
                row.get::<i64>(5).unwrap_err(),
                "there is no column with index 5; the row has 5 columns, from index 0",
            ),
            (
                row.get::<i64>("X").unwrap_err(),
                "there is no column \"X\"; the row has ID, NAME, name, TWICE, TWICE",
            ),
            (
                row.get::<i64>("Name").unwrap_err(),
                "2 columns are called \"Name\"; use an index, or give them different names with AS",
            ),
            (
                row.get::<i64>("TWICE").unwrap_err(),
                "2 columns are called \"TWICE\"; use an index, or give them different names with AS",
            ),
        ] {
            assert_eq!((error.kind(), error.to_string().as_str()), (Kind::Misuse, text));
        }
    }
}
