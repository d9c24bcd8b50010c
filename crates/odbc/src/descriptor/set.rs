//! Writing fields.

use super::{INTERVAL, concise, is_numeric, unknown, verbose};
use crate::abi::field::descriptor as field;
use crate::abi::{Integer, Len, SmallInt, c_type, sql_type};
use crate::diagnostics::{Failure, Result, State};
use crate::handle::{Descriptor, Record, Role};
use crate::text::Text;
use std::ptr::with_exposed_provenance_mut;

/// A new value: most are numbers or addresses in a pointer.
pub(crate) struct Setting<'a> {
    pub(crate) value: usize,
    /// The value of a text field.
    pub(crate) text: &'a dyn Fn() -> Result<String>,
}

impl Setting<'_> {
    fn short(&self) -> SmallInt {
        self.value as SmallInt
    }

    fn pointer<T>(&self) -> *mut T {
        with_exposed_provenance_mut(self.value)
    }
}

/// Writes a field.
pub(crate) fn set(
    descriptor: &mut Descriptor,
    number: SmallInt,
    identifier: SmallInt,
    setting: &Setting<'_>,
) -> Result<()> {
    let is_free = matches!(identifier, field::ARRAY_STATUS_PTR | field::ROWS_PROCESSED_PTR);
    if descriptor.role == Role::Columns && !is_free {
        return Err(Failure::new(
            State::READ_ONLY_DESCRIPTOR,
            "the descriptor of the result's columns is read-only",
        ));
    }
    if set_header(descriptor, identifier, setting)? {
        return Ok(());
    }
    let number = usize::try_from(number)
        .map_err(|_| Failure::new(State::BAD_INDEX, "the number of a record is negative"))?;
    if number == 0 && descriptor.role == Role::Parameters {
        return Err(Failure::new(State::BAD_INDEX, "parameters are numbered from 1"));
    }
    let role = descriptor.role;
    // An unknown field must not make a record.
    set_record(&mut Record::new(role), role, identifier, setting)?;
    let record = descriptor.record_mut(number);
    set_record(record, role, identifier, setting)?;
    record.is_given = true;
    if identifier == field::DATA_PTR {
        match record.data.is_null() {
            true => descriptor.trim(),
            false => consistent(record)?,
        }
    }
    Ok(())
}

fn set_header(descriptor: &mut Descriptor, identifier: SmallInt, setting: &Setting<'_>) -> Result<bool> {
    match identifier {
        field::ALLOC_TYPE => {
            return Err(Failure::new(State::FIELD, "SQL_DESC_ALLOC_TYPE is read-only"));
        }
        field::COUNT => {
            let count = usize::try_from(setting.short())
                .map_err(|_| Failure::new(State::BAD_INDEX, "the number of records is negative"))?;
            let role = descriptor.role;
            descriptor.records.resize_with(count, || Record::new(role));
        }
        field::ARRAY_SIZE if setting.value == 0 => {
            return Err(Failure::new(State::ATTRIBUTE_VALUE, "an array has at least one row"));
        }
        field::ARRAY_SIZE => descriptor.array_size = setting.value,
        field::ARRAY_STATUS_PTR => descriptor.array_status_ptr = setting.pointer(),
        field::BIND_OFFSET_PTR => descriptor.bind_offset_ptr = setting.pointer(),
        field::BIND_TYPE => {
            let bind_type = usize::try_from(setting.value as Integer)
                .map_err(|_| Failure::new(State::ATTRIBUTE_VALUE, "the length of a row is negative"))?;
            descriptor.bind_type = bind_type;
        }
        field::ROWS_PROCESSED_PTR => descriptor.rows_processed_ptr = setting.pointer(),
        _ => return Ok(false),
    }
    descriptor.touch();
    Ok(true)
}

fn set_record(record: &mut Record, role: Role, identifier: SmallInt, setting: &Setting<'_>) -> Result<()> {
    let is_parameter = role == Role::Parameters;
    let inconsistent = |text: &str| Failure::new(State::INCONSISTENT, text);
    // What changes the buffer's kind unbinds it, until its address is set again.
    match identifier {
        field::CONCISE_TYPE => {
            set_type(record, setting.short());
            record.data = std::ptr::null_mut();
        }
        field::TYPE => {
            let kind = setting.short();
            let (before, code) = verbose(record.concise);
            let known = matches!(kind, sql_type::DATETIME | INTERVAL);
            let concise = if known { concise(kind, code).filter(|_| kind == before) } else { Some(kind) };
            set_type(record, concise.unwrap_or(kind));
            record.data = std::ptr::null_mut();
        }
        field::DATETIME_INTERVAL_CODE => {
            let (kind, _) = verbose(record.concise);
            let new = concise(kind, setting.short())
                .ok_or_else(|| inconsistent("the type has no such datetime or interval code"))?;
            set_type(record, new);
        }
        field::LENGTH => record.length = setting.value,
        field::OCTET_LENGTH => record.octet_length = setting.value as Len,
        field::PRECISION => record.precision = setting.short(),
        field::SCALE => record.scale = setting.short(),
        field::DATETIME_INTERVAL_PRECISION => record.leading_precision = setting.value as Integer,
        field::NUM_PREC_RADIX => record.radix = setting.value as Integer,
        field::DATA_PTR if !is_parameter => record.data = setting.pointer(),
        // Of a parameter, it only asks whether the record is consistent.
        field::DATA_PTR => return consistent(record),
        field::OCTET_LENGTH_PTR if !is_parameter => record.octet_length_ptr = setting.pointer(),
        field::INDICATOR_PTR if !is_parameter => record.indicator_ptr = setting.pointer(),
        field::PARAMETER_TYPE if is_parameter => match setting.short() {
            kind @ (1 | 2 | 4) => record.parameter_type = kind,
            kind => {
                return Err(Failure::new(
                    State::PARAMETER_TYPE,
                    format!("{kind} is not a parameter direction"),
                ));
            }
        },
        field::NAME if is_parameter => record.name = Text::from((setting.text)()?.as_str()),
        field::UNNAMED if is_parameter && setting.short() == 1 => record.name = Text::default(),
        _ => return Err(unknown(identifier)),
    }
    Ok(())
}

/// Sets the type of a record, and what follows from it.
fn set_type(record: &mut Record, concise: SmallInt) {
    record.concise = concise;
    (record.precision, record.scale) = match concise {
        _ if is_numeric(concise) => (38, 0),
        c_type::TYPE_TIMESTAMP | c_type::TIMESTAMP => (6, 0),
        _ => (0, 0),
    };
    if matches!(concise, sql_type::CHAR | sql_type::VARCHAR) {
        record.length = 1;
    }
    record.leading_precision = if (101..=113).contains(&concise) { 2 } else { 0 };
}

/// Whether the fields of a record go together.
fn consistent(record: &Record) -> Result<()> {
    let is_bad = match record.concise {
        concise if is_numeric(concise) => {
            !(1..=38).contains(&record.precision) || record.scale < -1 || record.scale > 38
        }
        // A datetime or interval without its code.
        sql_type::DATETIME | INTERVAL => true,
        _ => record.octet_length < 0,
    };
    match is_bad {
        true => Err(Failure::new(State::INCONSISTENT, "type, precision, scale and length are inconsistent")),
        false => Ok(()),
    }
}
