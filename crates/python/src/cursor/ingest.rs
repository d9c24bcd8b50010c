//! Arrow data into a table, which is made for it if necessary.

use super::execution::Place;
use crate::connection::Shared;
use crate::transaction::Transaction;
use crate::{capsule, error};
use arrow::array::RecordBatchReader;
use firearrow::catalog::{Name, quoted};
use firearrow::{Connection, OnFailure};
use firearrow_driver::{IngestOptions, TextAs, columns_of_table};
use pyo3::prelude::*;
use std::sync::Arc;

/// What is done about a table that is there, or is not.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Append,
    Create,
    CreateAppend,
    Replace,
}

#[allow(clippy::too_many_arguments)] // those of Python's method
/// Inserts rows. A table is made in a transaction of its own, because Firebird lets nobody use it before it is committed, and only
/// a transaction that begins later sees it: `begin` is called when the table is there, and returns the transaction for the rows.
pub(super) fn run(
    py: Python<'_>,
    shared: &Arc<Shared>,
    begin: &Bound<'_, PyAny>,
    has_begun: bool,
    data: &Bound<'_, PyAny>,
    table: &str,
    mode: &str,
    text: Option<u16>,
) -> PyResult<u64> {
    let mode = match mode {
        "append" => Mode::Append,
        "create" => Mode::Create,
        "create_append" => Mode::CreateAppend,
        "replace" => Mode::Replace,
        _ => {
            return Err(error::programming(
                py,
                format!("mode is 'append', 'create', 'create_append' or 'replace', not '{mode}'"),
            ));
        }
    };
    let Some(reader) = capsule::reader(data)? else {
        return Err(error::programming(
            py,
            "the data must be an Arrow table or stream: a table of pyarrow, a frame of polars, pandas 3 or DuckDB …",
        ));
    };
    let schema = reader.schema();
    let types = text.map_or(TextAs::Blob, TextAs::Varying);
    let options = IngestOptions { table: table.to_owned(), text: types, ..IngestOptions::default() };
    let defined = shared.run(py, |connection| {
        match columns_of_table(&schema, &options, shared.facts.is_modern, connection.dialect()) {
            Ok(columns) => define(connection, table, mode, &columns, has_begun),
            Err(failed) => Ok(Some(failed)),
        }
    })?;
    if let Some(failed) = defined {
        return Err(error::of(py, failed));
    }
    let names: Vec<String> = schema.fields().iter().map(|field| quoted(field.name())).collect();
    let markers = vec!["?"; names.len()].join(", ");
    let insert = format!("INSERT INTO {} ({}) VALUES ({markers})", quoted(table), names.join(", "));
    let transaction = begin.call0()?.cast_into::<Transaction>()?;
    let place = Place::new(shared, Some(transaction.get()));
    let done = place.run_in(py, |running| {
        let statement = running.prepare(&insert)?;
        statement.execute_stream(running, reader, OnFailure::Stop)
    })?;
    match done.failures.into_iter().next() {
        Some(failure) => {
            let failed = error::of(py, failure.error);
            failed.value(py).setattr("row", failure.row)?;
            Err(failed)
        }
        None => Ok(done.rows as u64),
    }
}

/// Makes the table, or finds out that it is there.
fn define(
    connection: &Connection,
    table: &str,
    mode: Mode,
    columns: &[String],
    has_begun: bool,
) -> firearrow::Result<Option<firearrow_driver::Error>> {
    let is_there = !connection.catalog()?.with_system_tables(true).tables(Name::Is(table))?.is_empty();
    let verb = match (mode, is_there) {
        (Mode::Append | Mode::CreateAppend, true) => return Ok(None),
        (Mode::Append, false) => return Ok(Some(firearrow_driver::Error::no_table(table))),
        (Mode::Create, true) => {
            let text = format!("table {} exists already", quoted(table));
            return Ok(Some(firearrow_driver::Error::new(firearrow_driver::Class::Exists, text)));
        }
        (Mode::Replace, _) => "RECREATE",
        (Mode::Create | Mode::CreateAppend, false) => "CREATE",
    };
    if has_begun {
        let text = "the table has to be made, and a transaction that has begun would not see it: commit or roll back first";
        return Ok(Some(firearrow_driver::Error::state(text)));
    }
    connection.execute(&format!("{verb} TABLE {} ({})", quoted(table), columns.join(", ")))?;
    Ok(None)
}
