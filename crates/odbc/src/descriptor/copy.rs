//! Copying descriptors.

use super::verbose;
use crate::column::Column;
use crate::diagnostics::{Failure, Result, State};
use crate::handle::{Descriptor, Record, Role};

/// Copies everything but how the descriptor was allocated.
pub(crate) fn copy(from: &Descriptor, to: &mut Descriptor) -> Result<()> {
    if to.role == Role::Columns {
        return Err(Failure::new(
            State::READ_ONLY_DESCRIPTOR,
            "the descriptor of the result's columns is read-only",
        ));
    }
    if from.role == Role::Columns && from.columns.is_none() {
        return Err(Failure::new(State::NOT_PREPARED, "the statement has not been prepared"));
    }
    to.array_size = from.array_size;
    to.bind_type = from.bind_type;
    to.bind_offset_ptr = from.bind_offset_ptr;
    to.array_status_ptr = from.array_status_ptr;
    to.rows_processed_ptr = from.rows_processed_ptr;
    to.bookmark = from.bookmark.clone();
    to.records = match &from.columns {
        None => from.records.clone(),
        Some(columns) => columns.iter().map(|column| of_column(column, to.role)).collect(),
    };
    if to.role == Role::Parameters {
        to.records.iter_mut().for_each(|record| record.is_given = true);
    }
    to.touch();
    Ok(())
}

/// A record that describes a column or a parameter.
pub(crate) fn of_column(column: &Column, role: Role) -> Record {
    let of = &column.sql_type;
    Record {
        concise: of.concise,
        length: of.size,
        octet_length: of.octets,
        precision: precision(of.concise, of.size, of.digits),
        scale: of.digits,
        radix: of.radix.into(),
        nullable: column.nullable,
        name: column.label.clone(),
        type_name: of.name,
        ..Record::new(role)
    }
}

/// The precision of a column: digits of seconds, or of numbers.
fn precision(concise: i16, size: usize, digits: i16) -> i16 {
    match verbose(concise) {
        (crate::abi::sql_type::DATETIME, _) => digits,
        _ => i16::try_from(size).unwrap_or(i16::MAX),
    }
}
