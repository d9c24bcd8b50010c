//! Attributes of statements.

use super::{bad_value, changed, unknown, unsupported};
use crate::abi::attribute::statement as attribute;
use crate::abi::{Integer, Len};
use crate::diagnostics::{Diagnostics, Failure, Result, State};
use crate::entry::Value;
use crate::handle::{Id, SharedDescriptor, Statement, StatementAttributes, registry};
use std::ptr::with_exposed_provenance_mut;

/// Attributes of the cursor, which it keeps while it is open.
const OF_CURSOR: [Integer; 7] = [
    attribute::CURSOR_TYPE,
    attribute::CONCURRENCY,
    attribute::CURSOR_SCROLLABLE,
    attribute::CURSOR_SENSITIVITY,
    attribute::SIMULATE_CURSOR,
    attribute::USE_BOOKMARKS,
    attribute::KEYSET_SIZE,
];

/// `SQL_SC_UNIQUE`: rows are found by keys.
const SC_UNIQUE: usize = 2;

pub(crate) fn set(statement: &mut Statement, number: Integer, value: usize) -> Result<()> {
    if OF_CURSOR.contains(&number) {
        statement.expect_no_cursor()?;
        if statement.prepared.as_ref().is_some_and(|prepared| !prepared.is_direct) {
            let text = "attributes of the cursor are set before the statement is prepared";
            return Err(Failure::new(State::NOT_NOW, text));
        }
    }
    match number {
        attribute::APP_ROW_DESC => {
            statement.ard = application_descriptor(statement, value, 0)?;
            statement.explicit[0] = Some(Id::from(with_exposed_provenance_mut(value)));
            statement.bound.forget();
        }
        attribute::APP_PARAM_DESC => {
            statement.apd = application_descriptor(statement, value, 1)?;
            statement.explicit[1] = Some(Id::from(with_exposed_provenance_mut(value)));
        }
        attribute::IMP_ROW_DESC | attribute::IMP_PARAM_DESC => {
            return Err(Failure::new(State::IMPLICIT_DESCRIPTOR, "this descriptor belongs to the statement"));
        }
        _ if set_of_descriptor(statement, number, value)? => {}
        _ => return set_plain(&mut statement.attributes, &mut statement.diagnostics, number, value),
    }
    Ok(())
}

/// An explicit descriptor, or the statement's own one for NULL.
fn application_descriptor(statement: &Statement, value: usize, implicit: usize) -> Result<SharedDescriptor> {
    let own = statement.implicit[implicit].clone();
    let id = Id::from(with_exposed_provenance_mut(value));
    if value == 0 || id == statement.descriptors[implicit] {
        return Ok(own);
    }
    let bad = || Failure::new(State::ATTRIBUTE_VALUE, "this is no descriptor of the connection");
    // Waiting for another kind of handle could be for ever: it may be this very statement.
    if !registry::may_be(id, crate::abi::HANDLE_DESC) {
        return Err(bad());
    }
    let mut in_use = registry::get(id).ok_or_else(bad)?;
    let descriptor = in_use.descriptor().ok_or_else(bad)?;
    if descriptor.statement.is_some() {
        let text = "this descriptor belongs to a statement: allocate one with SQLAllocHandle";
        return Err(Failure::new(State::IMPLICIT_DESCRIPTOR, text));
    }
    match descriptor.connection == statement.link.connection {
        true => Ok(descriptor.descriptor.clone()),
        false => Err(bad()),
    }
}

/// Sets an attribute that is a field of a descriptor's header; `false` if it is none.
fn set_of_descriptor(statement: &mut Statement, number: Integer, value: usize) -> Result<bool> {
    let pointer = |value| with_exposed_provenance_mut::<u8>(value);
    let at_least_one = || match value {
        0 => Err(bad_value(number, value)),
        value => Ok(value),
    };
    match number {
        attribute::ROW_ARRAY_SIZE => {
            let size = at_least_one()?;
            statement.ard.lock().array_size = size;
        }
        attribute::ROW_BIND_TYPE => {
            let mut ard = statement.ard.lock();
            ard.touch();
            ard.bind_type = value;
        }
        attribute::ROW_BIND_OFFSET_PTR => statement.ard.lock().bind_offset_ptr = pointer(value).cast::<Len>(),
        attribute::ROW_OPERATION_PTR => statement.ard.lock().array_status_ptr = pointer(value).cast(),
        attribute::ROW_STATUS_PTR => statement.ird.lock().array_status_ptr = pointer(value).cast(),
        attribute::ROWS_FETCHED_PTR => statement.ird.lock().rows_processed_ptr = pointer(value).cast(),
        attribute::PARAMSET_SIZE => {
            let size = at_least_one()?;
            statement.apd.lock().array_size = size;
        }
        attribute::PARAM_BIND_TYPE => statement.apd.lock().bind_type = value,
        attribute::PARAM_BIND_OFFSET_PTR => {
            statement.apd.lock().bind_offset_ptr = pointer(value).cast::<Len>()
        }
        attribute::PARAM_OPERATION_PTR => statement.apd.lock().array_status_ptr = pointer(value).cast(),
        attribute::PARAM_STATUS_PTR => statement.ipd.lock().array_status_ptr = pointer(value).cast(),
        attribute::PARAMS_PROCESSED_PTR => statement.ipd.lock().rows_processed_ptr = pointer(value).cast(),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Sets an attribute that concerns no descriptor.
pub(crate) fn set_plain(
    attributes: &mut StatementAttributes,
    diagnostics: &mut Diagnostics,
    number: Integer,
    value: usize,
) -> Result<()> {
    let flag = || match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(bad_value(number, value)),
    };
    let mut warn = |text| diagnostics.add(changed(text));
    match number {
        attribute::QUERY_TIMEOUT => attributes.query_timeout = value,
        attribute::MAX_ROWS => attributes.max_rows = value,
        attribute::MAX_LENGTH => attributes.max_length = value,
        attribute::NOSCAN => attributes.no_scan = flag()?,
        attribute::ASYNC_ENABLE if value == 0 => {}
        attribute::ASYNC_ENABLE => return Err(unsupported("calls are not asynchronous: use threads")),
        attribute::RETRIEVE_DATA => attributes.retrieve_data = flag()?,
        attribute::ENABLE_AUTO_IPD => attributes.auto_ipd = flag()?,
        attribute::METADATA_ID => attributes.metadata_id = flag()?,
        attribute::CURSOR_TYPE => match value {
            attribute::FORWARD_ONLY | attribute::STATIC => attributes.cursor_type = value,
            attribute::KEYSET_DRIVEN | attribute::DYNAMIC => {
                attributes.cursor_type = attribute::STATIC;
                warn("the cursor is static instead");
            }
            _ => return Err(bad_value(number, value)),
        },
        attribute::CURSOR_SCROLLABLE => {
            attributes.cursor_type = if flag()? { attribute::STATIC } else { attribute::FORWARD_ONLY };
        }
        attribute::CURSOR_SENSITIVITY => match value {
            // Unspecified.
            0 => attributes.sensitivity = 0,
            // Insensitive: the rows are those of the time when they were read.
            1 => (attributes.sensitivity, attributes.cursor_type) = (1, attribute::STATIC),
            // Sensitive.
            2 => warn("the cursor does not see later changes"),
            _ => return Err(bad_value(number, value)),
        },
        attribute::CONCURRENCY => match value {
            attribute::CONCUR_READ_ONLY | attribute::CONCUR_VALUES => attributes.concurrency = value,
            attribute::CONCUR_LOCK..=attribute::CONCUR_ROWVER => {
                attributes.concurrency = attribute::CONCUR_VALUES;
                warn("the cursor compares values instead");
            }
            _ => return Err(bad_value(number, value)),
        },
        attribute::KEYSET_SIZE if value == 0 => {}
        attribute::KEYSET_SIZE => warn("there are no keysets"),
        attribute::ROWSET_SIZE if value == 0 => return Err(bad_value(number, value)),
        attribute::ROWSET_SIZE => attributes.rowset_size = value,
        attribute::SIMULATE_CURSOR if value == SC_UNIQUE => {}
        attribute::SIMULATE_CURSOR if value < SC_UNIQUE => warn("positioned statements change one row"),
        attribute::USE_BOOKMARKS if value <= 2 => attributes.bookmarks = value,
        attribute::SIMULATE_CURSOR | attribute::USE_BOOKMARKS => return Err(bad_value(number, value)),
        attribute::FETCH_BOOKMARK_PTR => attributes.fetch_bookmark = with_exposed_provenance_mut(value),
        attribute::ROW_NUMBER | attribute::GET_BOOKMARK => {
            return Err(Failure::new(State::ATTRIBUTE, format!("attribute {number} is read-only")));
        }
        _ => return Err(unknown(number)),
    }
    Ok(())
}

pub(crate) fn get(statement: &mut Statement, number: Integer) -> Result<Value> {
    let attributes = &statement.attributes;
    let address = |pointer: *mut u8| pointer.expose_provenance();
    Ok(Value::Length(match number {
        attribute::QUERY_TIMEOUT => attributes.query_timeout,
        attribute::MAX_ROWS => attributes.max_rows,
        attribute::MAX_LENGTH => attributes.max_length,
        attribute::NOSCAN => attributes.no_scan.into(),
        attribute::ASYNC_ENABLE | attribute::KEYSET_SIZE => 0,
        attribute::SIMULATE_CURSOR => SC_UNIQUE,
        attribute::RETRIEVE_DATA => attributes.retrieve_data.into(),
        attribute::ENABLE_AUTO_IPD => attributes.auto_ipd.into(),
        attribute::METADATA_ID => attributes.metadata_id.into(),
        attribute::CURSOR_TYPE => attributes.cursor_type,
        attribute::CURSOR_SCROLLABLE => attributes.is_scrollable().into(),
        attribute::CURSOR_SENSITIVITY => attributes.sensitivity,
        attribute::CONCURRENCY => attributes.concurrency,
        attribute::ROWSET_SIZE => attributes.rowset_size,
        attribute::USE_BOOKMARKS => attributes.bookmarks,
        attribute::FETCH_BOOKMARK_PTR => address(attributes.fetch_bookmark.cast()),
        attribute::ROW_NUMBER | attribute::GET_BOOKMARK => {
            let position = statement.position;
            let closed = || Failure::new(State::CURSOR_STATE, "no cursor is open");
            let rows = statement.cursor.as_ref().ok_or_else(closed)?.rowset();
            rows.map_or(0, |rows| (rows.start + position + 1) as usize)
        }
        attribute::ROW_ARRAY_SIZE => statement.ard.lock().array_size,
        attribute::ROW_BIND_TYPE => statement.ard.lock().bind_type,
        attribute::ROW_BIND_OFFSET_PTR => address(statement.ard.lock().bind_offset_ptr.cast()),
        attribute::ROW_OPERATION_PTR => address(statement.ard.lock().array_status_ptr.cast()),
        attribute::ROW_STATUS_PTR => address(statement.ird.lock().array_status_ptr.cast()),
        attribute::ROWS_FETCHED_PTR => address(statement.ird.lock().rows_processed_ptr.cast()),
        attribute::PARAMSET_SIZE => statement.apd.lock().array_size,
        attribute::PARAM_BIND_TYPE => statement.apd.lock().bind_type,
        attribute::PARAM_BIND_OFFSET_PTR => address(statement.apd.lock().bind_offset_ptr.cast()),
        attribute::PARAM_OPERATION_PTR => address(statement.apd.lock().array_status_ptr.cast()),
        attribute::PARAM_STATUS_PTR => address(statement.ipd.lock().array_status_ptr.cast()),
        attribute::PARAMS_PROCESSED_PTR => address(statement.ipd.lock().rows_processed_ptr.cast()),
        attribute::APP_ROW_DESC => descriptor(statement, &statement.ard, 0),
        attribute::APP_PARAM_DESC => descriptor(statement, &statement.apd, 1),
        attribute::IMP_ROW_DESC => statement.descriptors[2].handle().addr(),
        attribute::IMP_PARAM_DESC => statement.descriptors[3].handle().addr(),
        _ => return Err(unknown(number)),
    }))
}

/// The handle of a descriptor in use.
fn descriptor(statement: &Statement, in_use: &SharedDescriptor, implicit: usize) -> usize {
    let own = statement.descriptors[implicit].handle().addr();
    if in_use.is(&statement.implicit[implicit]) {
        return own;
    }
    statement.explicit[implicit].map_or(own, |id| id.handle().addr())
}
