//! Output parameters: buffers that receive what an execution returned.

use crate::abi::{self, SmallInt, c_type, sql_type};
use crate::column::Column;
use crate::convert::{self, Slots};
use crate::diagnostics::{Failure, Result, State};
use crate::fetch::{moved, normal, slots, wanted};
use crate::handle::Statement;
use crate::handle::statement::Prepared;
use arrow::array::RecordBatch;
use firearrow_driver::Stream;

/// The buffers of output parameters, in the order of what is returned.
pub(crate) struct Outputs(Vec<Output>);

/// The buffer of an output parameter.
struct Output {
    /// Its number, counted from 1.
    number: usize,
    c_type: SmallInt,
    precision: SmallInt,
    scale: SmallInt,
    slots: Slots,
    offset: isize,
}

impl Statement {
    /// The parameters that receive what an execution returns. There are none if it opens a cursor.
    pub(crate) fn outputs(&self, prepared: &Prepared) -> Outputs {
        if prepared.description.has_cursor && !prepared.returns_value {
            return Outputs(Vec::new());
        }
        let (apd, ipd) = (self.apd.lock(), self.ipd.lock());
        let is_output = |kind: SmallInt| matches!(kind, abi::PARAM_OUTPUT | abi::PARAM_INPUT_OUTPUT);
        let receiving = (1..).zip(&ipd.records).filter(|(_, described)| is_output(described.parameter_type));
        let outputs = receiving.filter_map(|(number, described)| {
            let buffer = apd.record(number)?;
            let c_type = match buffer.concise {
                c_type::DEFAULT => convert::default_c_type(described.concise),
                concise => concise,
            };
            Some(Output {
                number,
                c_type,
                precision: buffer.precision,
                scale: buffer.scale,
                slots: slots(&apd, buffer, c_type),
                offset: apd.offset(),
            })
        });
        Outputs(outputs.collect())
    }
}

impl Outputs {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes the rows of these sets, one for each, and reports what was cut or could not be converted.
    ///
    /// # Safety
    /// The buffers are as they were bound, with room for these sets.
    pub(crate) unsafe fn write(
        &self,
        columns: &[Column],
        rows: &[RecordBatch],
        sets: &[usize],
        report: &mut dyn FnMut(usize, Failure),
    ) -> Result<()> {
        for (at, (output, column)) in self.0.iter().zip(columns).enumerate() {
            let mut left = sets.iter();
            for batch in rows {
                let Some(array) = batch.columns().get(at) else { continue };
                let mut wanted = wanted(output.c_type, output.precision, output.scale, 0);
                wanted.is_guid = column.sql_type.concise == sql_type::GUID;
                wanted.narrow = column.narrow;
                let writer = convert::plan(array.data_type(), &wanted);
                let writer = writer.map_err(|failure| failure.in_column(output.number))?;
                for (row, &set) in (0..batch.num_rows()).zip(&mut left) {
                    let slots = moved(&output.slots, output.offset, set);
                    let mut report = |_, failure: Failure| report(set, failure.in_column(output.number));
                    if slots.data.is_null() && slots.length.is_null() {
                        continue;
                    }
                    // SAFETY: the caller's promise.
                    unsafe { writer.write(array.as_ref(), row..row + 1, &slots, &mut report) };
                }
            }
        }
        Ok(())
    }
}

/// All rows of a result, in the types that the conversions know.
pub(crate) fn all_rows(mut stream: Stream) -> Result<Vec<RecordBatch>> {
    let mut rows = Vec::new();
    while let Some(batch) = stream.next_batch()? {
        rows.push(normal::batch(batch)?);
    }
    Ok(rows)
}

/// The failure of a parameter that is bound in a direction that it does not have.
pub(crate) fn wrong_direction(number: usize, text: &str) -> Failure {
    Failure::new(State::PARAMETER_TYPE, format!("parameter {number} {text}")).in_column(number)
}
