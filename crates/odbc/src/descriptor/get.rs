//! Reading fields.

use super::{unknown, verbose};
use crate::abi::field::descriptor as field;
use crate::abi::{Integer, Len, SmallInt, ULen};
use crate::describe::{Value, describe};
use crate::diagnostics::{Failure, Result, State};
use crate::handle::{Descriptor, Record, Role};
use crate::text::Text;

/// A field's value, in the width that the standard gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Short(SmallInt),
    Integer(Integer),
    Length(Len),
    Unsigned(ULen),
    Pointer(*mut u8),
    Text(Text),
}

/// Reads a field. `None` if there is no record with this number.
pub(crate) fn get(descriptor: &Descriptor, number: SmallInt, identifier: SmallInt) -> Result<Option<Field>> {
    if let Some(field) = of_header(descriptor, identifier)? {
        return Ok(Some(field));
    }
    let number = usize::try_from(number)
        .map_err(|_| Failure::new(State::BAD_INDEX, "the number of a record is negative"))?;
    if descriptor.role == Role::Columns {
        return of_column(descriptor, number, identifier);
    }
    match descriptor.record(number) {
        Some(record) => of_record(descriptor, record, identifier).map(Some),
        // That the field exists at all is checked nevertheless.
        None => of_record(descriptor, &Record::new(descriptor.role), identifier).map(|_| None),
    }
}

fn not_prepared() -> Failure {
    Failure::new(State::NOT_PREPARED, "the statement has not been prepared")
}

fn of_header(descriptor: &Descriptor, identifier: SmallInt) -> Result<Option<Field>> {
    /// `SQL_DESC_ALLOC_AUTO` and `SQL_DESC_ALLOC_USER`
    const AUTO: SmallInt = 1;
    const USER: SmallInt = 2;
    Ok(Some(match identifier {
        field::ALLOC_TYPE => Field::Short(if descriptor.is_explicit { USER } else { AUTO }),
        field::COUNT if descriptor.role == Role::Columns && descriptor.columns.is_none() => {
            return Err(not_prepared());
        }
        field::COUNT => Field::Short(SmallInt::try_from(descriptor.count()).unwrap_or(SmallInt::MAX)),
        field::ARRAY_SIZE => Field::Unsigned(descriptor.array_size),
        field::ARRAY_STATUS_PTR => Field::Pointer(descriptor.array_status_ptr.cast()),
        field::BIND_OFFSET_PTR => Field::Pointer(descriptor.bind_offset_ptr.cast()),
        field::BIND_TYPE => Field::Integer(Integer::try_from(descriptor.bind_type).unwrap_or(Integer::MAX)),
        field::ROWS_PROCESSED_PTR => Field::Pointer(descriptor.rows_processed_ptr.cast()),
        _ => return Ok(None),
    }))
}

/// A field of a column of the result.
fn of_column(descriptor: &Descriptor, number: usize, identifier: SmallInt) -> Result<Option<Field>> {
    let Some(columns) = &descriptor.columns else {
        return Err(not_prepared());
    };
    let Some(column) = number.checked_sub(1).and_then(|at| columns.get(at)) else { return Ok(None) };
    let value = describe(column, identifier, false).ok_or_else(|| unknown(identifier))?;
    Ok(Some(match value {
        Value::Text(text) => Field::Text(text.into_owned()),
        Value::Number(number) => sized(identifier, number),
    }))
}

/// A number in the width of its field.
fn sized(identifier: SmallInt, number: Len) -> Field {
    match identifier {
        field::AUTO_UNIQUE_VALUE
        | field::CASE_SENSITIVE
        | field::NUM_PREC_RADIX
        | field::DATETIME_INTERVAL_PRECISION => Field::Integer(number as Integer),
        field::DISPLAY_SIZE | field::OCTET_LENGTH => Field::Length(number),
        field::LENGTH => Field::Unsigned(number.unsigned_abs()),
        _ => Field::Short(SmallInt::try_from(number).unwrap_or(SmallInt::MAX)),
    }
}

fn of_record(descriptor: &Descriptor, record: &Record, identifier: SmallInt) -> Result<Field> {
    let (kind, code) = verbose(record.concise);
    let is_parameter = descriptor.role == Role::Parameters;
    Ok(match identifier {
        field::CONCISE_TYPE => Field::Short(record.concise),
        field::TYPE => Field::Short(kind),
        field::DATETIME_INTERVAL_CODE => Field::Short(code),
        field::LENGTH => Field::Unsigned(record.length),
        field::OCTET_LENGTH => Field::Length(record.octet_length),
        field::PRECISION => Field::Short(record.precision),
        field::SCALE => Field::Short(record.scale),
        field::DATETIME_INTERVAL_PRECISION => Field::Integer(record.leading_precision),
        field::NUM_PREC_RADIX => Field::Integer(record.radix),
        field::DATA_PTR if !is_parameter => Field::Pointer(record.data),
        field::OCTET_LENGTH_PTR if !is_parameter => Field::Pointer(record.octet_length_ptr.cast()),
        field::INDICATOR_PTR if !is_parameter => Field::Pointer(record.indicator_ptr.cast()),
        field::PARAMETER_TYPE if is_parameter => Field::Short(record.parameter_type),
        field::NULLABLE if is_parameter => Field::Short(record.nullable),
        field::NAME if is_parameter => Field::Text(record.name.clone()),
        field::UNNAMED if is_parameter => Field::Short(record.name.as_str().is_empty().into()),
        field::TYPE_NAME | field::LOCAL_TYPE_NAME if is_parameter => Field::Text(record.type_name.into()),
        field::CASE_SENSITIVE if is_parameter => Field::Integer(1),
        field::FIXED_PREC_SCALE | field::UNSIGNED | field::ROWVER if is_parameter => Field::Short(0),
        // The fields of columns exist, but have no meaning here.
        field::DISPLAY_SIZE => Field::Length(0),
        field::UPDATABLE | field::SEARCHABLE => Field::Short(0),
        field::AUTO_UNIQUE_VALUE => Field::Integer(0),
        field::DATA_PTR | field::OCTET_LENGTH_PTR | field::INDICATOR_PTR => {
            Field::Pointer(std::ptr::null_mut())
        }
        field::NAME
        | field::LABEL
        | field::BASE_COLUMN_NAME
        | field::BASE_TABLE_NAME
        | field::TABLE_NAME
        | field::SCHEMA_NAME
        | field::CATALOG_NAME
        | field::TYPE_NAME
        | field::LOCAL_TYPE_NAME
        | field::LITERAL_PREFIX
        | field::LITERAL_SUFFIX => Field::Text(Text::default()),
        field::PARAMETER_TYPE | field::NULLABLE | field::UNNAMED => Field::Short(0),
        field::CASE_SENSITIVE => Field::Integer(0),
        field::FIXED_PREC_SCALE | field::UNSIGNED | field::ROWVER => Field::Short(0),
        _ => return Err(unknown(identifier)),
    })
}
