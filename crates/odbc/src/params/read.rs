//! All parameters of some sets at once.

use super::binding::Binding;
use super::cell::{Cells, Failed, Source};
use super::column::{internal, no_conversion};
use super::target::Target;
use super::{binary, datetime, guid, number, text};
use crate::abi::c_type;
use crate::diagnostics::{Failure, Result, State};
use arrow::array::{ArrayRef, BooleanArray, NullArray, RecordBatch, RecordBatchOptions};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Field, Schema};
use firearrow::Descriptor;
use std::sync::Arc;

/// Sets of parameters as rows.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) batch: RecordBatch,
    /// The set of each row.
    pub(crate) sets: Vec<usize>,
    /// Sets that could not be read, in order, with everything that is wrong with them.
    pub(crate) failed: Vec<(usize, Failure)>,
}

/// Reads sets of parameters as the server describes them. A failure of the whole concerns what was bound, or types; values
/// that cannot be converted only take their sets out.
///
/// # Safety
/// The buffers of the bindings are NULL, or may be read for these sets.
pub(crate) unsafe fn read(
    bindings: &[Binding],
    source: Source<'_>,
    parameters: &[Descriptor],
) -> Result<Read> {
    if bindings.len() < parameters.len() {
        let message =
            format!("the statement has {} parameters, {} are bound", parameters.len(), bindings.len());
        return Err(Failure::new(State::PARAMETER_COUNT, message));
    }
    let mut columns = Vec::with_capacity(parameters.len());
    let mut failed = Vec::new();
    for (at, (binding, parameter)) in bindings.iter().zip(parameters).enumerate() {
        let mut here = Failed::new();
        // SAFETY: the caller's promise.
        let cells = unsafe { Cells::find(binding, at, source, &mut here) };
        let array = match column(&cells, binding, Target::new(parameter), &mut here) {
            // NULL goes into any parameter.
            Err(_) if cells.is_all_null() => Arc::new(NullArray::new(source.sets.len())),
            array => array.map_err(|failure| failure.in_column(binding.number))?,
        };
        columns.push(array);
        failed.extend(here.into_iter().map(|(row, failure)| (row, failure.in_column(binding.number))));
    }
    let fields: Vec<Field> =
        columns.iter().map(|column| Field::new("", column.data_type().clone(), true)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(source.sets.len()));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options);
    without(batch.map_err(internal)?, source.sets, failed)
}

/// Takes the rows out that failed.
fn without(batch: RecordBatch, sets: &[usize], mut failed: Failed) -> Result<Read> {
    if failed.is_empty() {
        return Ok(Read { batch, sets: sets.to_vec(), failed });
    }
    let mut is_good = vec![true; sets.len()];
    for (row, _) in &failed {
        is_good[*row] = false;
    }
    failed.sort_by_key(|(row, failure)| (*row, failure.column));
    let failed = failed
        .into_iter()
        .map(|(row, failure)| (sets[row], failure.in_row(sets[row].saturating_add(1))))
        .collect();
    let good = sets.iter().zip(&is_good).filter(|(_, is_good)| **is_good).map(|(&set, _)| set).collect();
    let batch = filter_record_batch(&batch, &BooleanArray::from(is_good)).map_err(internal)?;
    Ok(Read { batch, sets: good, failed })
}

fn column(cells: &Cells<'_>, binding: &Binding, target: Target, failed: &mut Failed) -> Result<ArrayRef> {
    use c_type::*;
    match binding.c_type {
        CHAR | WCHAR => text::column(cells, binding, target, failed),
        BINARY => binary::column(cells, target),
        GUID => guid::column(cells, target, failed),
        DATE | TIME | TIMESTAMP | TYPE_DATE | TYPE_TIME | TYPE_TIMESTAMP => {
            datetime::column(cells, binding, target, failed)
        }
        interval if INTERVALS.contains(&interval) => Err(no_conversion("an interval")),
        _ => number::column(cells, binding, target, failed),
    }
}
