//! Arrow data into a table.

use super::execution::Place;
use crate::api::{Blocking, ready};
use crate::connection::Shared;
use crate::flow::Ingestion;
use crate::signal;
use crate::transaction::Transaction;
use pyo3::prelude::*;
use std::sync::Arc;

#[allow(clippy::too_many_arguments)] // Those of the Python method.
/// Inserts rows. `begin` is called when the table exists, and returns the transaction for the rows.
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
    let (ingestion, mut rows) = Ingestion::new(py, data, table, mode, text)?;
    // Without the connection: they may come from it.
    signal::wait(py, || ingestion.look_ahead(&mut rows))?;
    let all = rows.all();
    let defined = shared.run(py, |connection| {
        Ok(ready(ingestion.define::<Blocking>(connection, all, shared.facts.has_firebird4, has_begun)))
    })?;
    defined.map_err(|failed| failed.into_exception(py))?;
    let transaction = begin.call0()?.cast_into::<Transaction>()?;
    let place = Place::new(shared, Some(transaction.get()));
    let done = place.run_in(py, |running| ready(ingestion.insert::<Blocking>(running, rows)))?;
    Ingestion::tell(py, done)
}
