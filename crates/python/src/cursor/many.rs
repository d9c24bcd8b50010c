//! One statement for many rows of parameters.

use super::Cursor;
use super::execution::{Place, keep, statement};
use crate::api::{Api, Blocking, ready};
use crate::flow::{Collected, How, Outcome, Sender};
use crate::params::{Sql, is_mapping};
use crate::{capsule, error};
use arrow::array::{RecordBatch, RecordBatchReader};
use firearrow::Statement;
use firearrow_driver::sql::is_dml;
use pyo3::prelude::*;

/// Executes a statement for each row of parameters. With `go_on`, also for those after one that failed.
pub(super) fn execute(
    py: Python<'_>,
    cursor: &Cursor,
    place: &Place,
    sql: &str,
    rows: &Bound<'_, PyAny>,
    go_on: bool,
    how: &How,
) -> PyResult<Outcome<Blocking>> {
    let mut sender = Sender::new(go_on, is_dml(sql));
    if let Some(reader) = capsule::reader(rows)? {
        let sql = Sql::new(py, sql, false)?;
        let prepared = Blocking::with(statement(py, cursor, place, &sql.text)?.0, how);
        send_all(py, &mut sender, place, &prepared, reader)?;
        return Ok(finish(py, cursor, &sql.text, sender, prepared));
    }
    let mut rows = rows.try_iter()?.peekable();
    let is_named = matches!(rows.peek(), Some(Ok(row)) if is_mapping(row));
    let sql = Sql::new(py, sql, is_named)?;
    let prepared = Blocking::with(statement(py, cursor, place, &sql.text)?.0, how);
    let mut collected = Collected::new(prepared.parameters().len());
    for row in rows {
        if let Some(full) = collected.push(py, &row?, &sql, prepared.parameters())? {
            send(py, &mut sender, place, &prepared, full)?;
            if sender.should_stop() {
                return Ok(finish(py, cursor, &sql.text, sender, prepared));
            }
        }
    }
    if let Some(rest) = collected.take() {
        send(py, &mut sender, place, &prepared, rest)?;
    }
    Ok(finish(py, cursor, &sql.text, sender, prepared))
}

fn send(
    py: Python<'_>,
    sender: &mut Sender,
    place: &Place,
    statement: &Statement,
    batch: RecordBatch,
) -> PyResult<()> {
    place.run_in(py, |running| ready(sender.send::<Blocking>(running, statement, &batch)))
}

/// Sends all batches of a reader.
fn send_all(
    py: Python<'_>,
    sender: &mut Sender,
    place: &Place,
    statement: &Statement,
    reader: impl RecordBatchReader + Send,
) -> PyResult<()> {
    if statement.has_rows() {
        for batch in reader {
            send(py, sender, place, statement, batch.map_err(|failed| error::of(py, failed))?)?;
            if sender.should_stop() {
                break;
            }
        }
        return Ok(());
    }
    let on_failure = sender.on_failure;
    let done = place.run_in(py, |running| statement.execute_stream(running, reader, on_failure))?;
    sender.note(done);
    Ok(())
}

fn finish(
    py: Python<'_>,
    cursor: &Cursor,
    sql: &str,
    sender: Sender,
    statement: Statement,
) -> Outcome<Blocking> {
    let outcome = sender.finish(&statement);
    keep(py, cursor, sql, statement, None, true);
    outcome
}
