//! Arrow data into a table, which is made if necessary.

use super::Pour;
use crate::api::Api;
use crate::capsule::{self, Received};
use crate::error;
use crate::failure::Failure;
use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use firearrow::catalog::{Column, quoted};
use firearrow::{OnFailure, RowsExecuted};
use firearrow_driver::{
    AHEAD_BYTES, Class, Error, IngestOptions, TextAs, columns_of_table, renamed, similar_table,
};
use pyo3::prelude::*;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

/// What is done if the table exists, and if it does not.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Append,
    Create,
    CreateAppend,
    Replace,
}

/// An ingestion: [`define`](Self::define), then [`insert`](Self::insert) in a transaction that begins when the table exists. It is
/// made in a transaction of its own, because Firebird lets nobody use it before it is committed, and only a transaction that begins
/// later sees it.
pub(crate) struct Ingestion {
    table: String,
    mode: Mode,
    text: TextAs,
    schema: SchemaRef,
    /// The table and the names of its columns, once they are known: those of a table that is there, if these differ from the
    /// wanted ones in letter case only.
    meant: OnceLock<(String, SchemaRef)>,
}

impl Ingestion {
    /// Returns the ingestion and the rows.
    pub(crate) fn new(
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        table: &str,
        mode: &str,
        text: Option<u16>,
    ) -> PyResult<(Self, Received)> {
        let mode = match mode {
            "append" => Mode::Append,
            "create" => Mode::Create,
            "create_append" => Mode::CreateAppend,
            "replace" => Mode::Replace,
            _ => {
                let text =
                    format!("mode must be 'append', 'create', 'create_append' or 'replace', not '{mode}'");
                return Err(error::programming(py, text));
            }
        };
        let Some(reader) = capsule::reader(data)? else {
            return Err(error::programming(
                py,
                "the data must be an Arrow table or stream: a table of pyarrow, a frame of polars, pandas 3 or DuckDB …",
            ));
        };
        let text = text.map_or(TextAs::Auto, TextAs::Varying);
        Ok((
            Self { table: table.to_owned(), mode, text, schema: reader.schema(), meant: OnceLock::new() },
            reader,
        ))
    }

    /// Looks at the rows, if a new table's columns depend on them. This may take as long as their producer does.
    pub(crate) fn look_ahead(&self, rows: &mut Received) -> firearrow::Result<()> {
        match (self.text, self.mode) {
            (TextAs::Auto, Mode::Create | Mode::CreateAppend | Mode::Replace) => {
                Ok(rows.look_ahead(AHEAD_BYTES)?)
            }
            _ => Ok(()),
        }
    }

    /// Makes the table unless it exists. `all`: the batches, if they are known. `has_begun`: whether the transaction for the rows has, which would not see a new table.
    pub(crate) async fn define<A: Api>(
        &self,
        connection: &A::Connection,
        all: Option<&VecDeque<RecordBatch>>,
        has_firebird4: bool,
        has_begun: bool,
    ) -> Result<(), Failure> {
        let options =
            IngestOptions { table: self.table.clone(), text: self.text, ..IngestOptions::default() };
        let dialect = A::dialect(connection);
        // Errors of names and types come first.
        columns_of_table(&self.schema, &options, has_firebird4, dialect, None)?;
        let found = self.find::<A>(connection).await?;
        let is_there = found.is_some();
        let (table, schema) = match found {
            Some((table, columns)) => (table, renamed(&self.schema, &columns)?),
            None => (self.table.clone(), Arc::clone(&self.schema)),
        };
        let (table, schema) = self.meant.get_or_init(|| (table, schema));
        let verb = match (self.mode, is_there) {
            (Mode::Append | Mode::CreateAppend, true) => return Ok(()),
            (Mode::Append, false) => return Err(Error::no_table(&self.table).into()),
            (Mode::Create, true) => {
                let text = format!("table {} exists already", quoted(&self.table));
                return Err(Error::new(Class::Exists, text).into());
            }
            (Mode::Replace, _) => "RECREATE",
            (Mode::Create | Mode::CreateAppend, false) => "CREATE",
        };
        if has_begun {
            return Err(Failure::Programming(
                "the table has to be made, and a transaction that has begun would not see it: commit or roll back first",
            ));
        }
        let columns = columns_of_table(schema, &options, has_firebird4, dialect, all)?;
        let sql = format!("{verb} TABLE {} ({})", quoted(table), columns.join(", "));
        Ok(A::execute_alone(connection, &sql).await?)
    }

    /// The table and its columns, if it is there. Only a new one is never another one than it is called.
    async fn find<A: Api>(
        &self,
        connection: &A::Connection,
    ) -> Result<Option<(String, Vec<Column>)>, Failure> {
        let columns = A::columns(connection, &self.table).await?;
        if !columns.is_empty() {
            return Ok(Some((self.table.clone(), columns)));
        }
        if self.mode == Mode::Create {
            return Ok(None);
        }
        let all = A::tables(connection).await?;
        let Some(table) = similar_table(&self.table, all.iter().map(String::as_str))? else {
            return Ok(None);
        };
        Ok(Some((table.to_owned(), A::columns(connection, table).await?)))
    }

    /// Inserts the rows.
    pub(crate) async fn insert<A: Pour>(
        &self,
        running: &mut A::Transaction,
        rows: Received,
    ) -> firearrow::Result<RowsExecuted> {
        let (table, schema) =
            self.meant.get().map_or((&self.table, &self.schema), |(table, schema)| (table, schema));
        let names: Vec<String> = schema.fields().iter().map(|field| quoted(field.name())).collect();
        let markers = vec!["?"; names.len()].join(", ");
        let sql = format!("INSERT INTO {} ({}) VALUES ({markers})", quoted(table), names.join(", "));
        let statement = A::prepare(running, &sql).await?;
        A::pour(&statement, running, rows, OnFailure::Stop).await
    }

    /// The number of rows, or the error of the first one that failed.
    pub(crate) fn tell(py: Python<'_>, done: RowsExecuted) -> PyResult<u64> {
        match done.failures.into_iter().next() {
            Some(failure) => {
                let failed = error::of(py, failure.error);
                failed.value(py).setattr("row", failure.row)?;
                Err(failed)
            }
            None => Ok(done.rows as u64),
        }
    }
}
