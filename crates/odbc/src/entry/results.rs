//! Results: their columns, rows and values.

use super::guard;
use super::output::{DONE, Encoding, Output, Unit, put};
use crate::abi::field::column::COUNT as COUNT_OF_ODBC2;
use crate::abi::field::descriptor::COUNT;
use crate::abi::{self, Char, Handle, Len, Pointer, Return, Row, SmallInt, ULen, USmallInt, WChar};
use crate::column::Column;
use crate::describe::{Value, attribute};
use crate::diagnostics::{Failure, Result, State};
use crate::fetch::Report;
use crate::handle::Statement;
use std::borrow::Cow;
use std::sync::Arc;

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLNumResultCols(handle: Handle, count: *mut SmallInt) -> Return {
    guard::statement(handle, |statement| {
        let columns = statement.columns()?.len();
        // SAFETY: the application's place.
        unsafe { put(count, SmallInt::try_from(columns).unwrap_or(SmallInt::MAX)) };
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLRowCount(handle: Handle, count: *mut Len) -> Return {
    guard::statement(handle, |statement| {
        // SAFETY: as above.
        unsafe { put(count, statement.row_count()?) };
        DONE
    })
}

fn no_column(number: USmallInt, count: usize) -> Failure {
    Failure::new(State::BAD_INDEX, format!("there is no column {number}: the result has {count}"))
}

/// A column; number 0 is the bookmark, if there are some.
fn column<'a>(statement: &Statement, columns: &'a [Column], number: USmallInt) -> Result<Cow<'a, Column>> {
    let column = match usize::from(number).checked_sub(1) {
        Some(at) => columns.get(at).map(Cow::Borrowed),
        None => (statement.attributes.bookmarks != 0).then(|| Cow::Owned(Column::bookmark())),
    };
    column.ok_or_else(|| no_column(number, columns.len()))
}

/// The columns of a statement that returns rows.
fn columns(statement: &Statement) -> Result<Arc<[Column]>> {
    let columns = statement.columns()?;
    match columns.is_empty() {
        true => Err(Failure::new(State::NOT_A_CURSOR, "the statement returns no rows")),
        false => Ok(columns),
    }
}

/// Where `SQLDescribeCol` writes numbers.
struct Described {
    sql_type: *mut SmallInt,
    size: *mut ULen,
    digits: *mut SmallInt,
    nullable: *mut SmallInt,
}

fn describe_column(handle: Handle, number: USmallInt, name: Output, to: &Described) -> Return {
    guard::statement(handle, |statement| {
        let columns = columns(statement)?;
        let column = column(statement, &columns, number)?;
        let of = &column.sql_type;
        let concise = if statement.link.is_odbc2 { of.for_odbc2() } else { of.concise };
        // SAFETY: the application's places.
        unsafe {
            put(to.sql_type, concise);
            put(to.size, of.size);
            put(to.digits, of.digits);
            put(to.nullable, column.nullable);
            name.put(&column.label, &mut statement.diagnostics)?;
        }
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLDescribeCol(
    handle: Handle,
    number: USmallInt,
    name: *mut Char,
    capacity: SmallInt,
    length: *mut SmallInt,
    sql_type: *mut SmallInt,
    size: *mut ULen,
    digits: *mut SmallInt,
    nullable: *mut SmallInt,
) -> Return {
    let name = Output::short(Encoding::Narrow, Unit::Characters, name.cast(), capacity, length);
    describe_column(handle, number, name, &Described { sql_type, size, digits, nullable })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLDescribeColW(
    handle: Handle,
    number: USmallInt,
    name: *mut WChar,
    capacity: SmallInt,
    length: *mut SmallInt,
    sql_type: *mut SmallInt,
    size: *mut ULen,
    digits: *mut SmallInt,
    nullable: *mut SmallInt,
) -> Return {
    let name = Output::short(Encoding::Wide, Unit::Characters, name.cast(), capacity, length);
    describe_column(handle, number, name, &Described { sql_type, size, digits, nullable })
}

fn column_attribute(
    handle: Handle,
    number: USmallInt,
    field: USmallInt,
    text: Output,
    value: *mut Len,
) -> Return {
    guard::statement(handle, |statement| {
        let all = statement.columns()?;
        if field == COUNT_OF_ODBC2 || field == COUNT as USmallInt {
            // SAFETY: the application's place.
            unsafe { put(value, all.len() as Len) };
            return DONE;
        }
        let columns = columns(statement)?;
        let column = column(statement, &columns, number)?;
        let found = attribute(&column, field, statement.link.is_odbc2);
        let unknown = || Failure::new(State::FIELD, format!("there is no column attribute {field}"));
        // SAFETY: as above.
        unsafe {
            match found.ok_or_else(unknown)? {
                Value::Number(number) => put(value, number),
                Value::Text(found) => text.put(&found, &mut statement.diagnostics)?,
            }
        }
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLColAttribute(
    handle: Handle,
    number: USmallInt,
    field: USmallInt,
    text: Pointer,
    capacity: SmallInt,
    length: *mut SmallInt,
    value: *mut Len,
) -> Return {
    let text = Output::short(Encoding::Narrow, Unit::Bytes, text, capacity, length);
    column_attribute(handle, number, field, text, value)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLColAttributeW(
    handle: Handle,
    number: USmallInt,
    field: USmallInt,
    text: Pointer,
    capacity: SmallInt,
    length: *mut SmallInt,
    value: *mut Len,
) -> Return {
    let text = Output::short(Encoding::Wide, Unit::Bytes, text, capacity, length);
    column_attribute(handle, number, field, text, value)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLColAttributes(
    handle: Handle,
    number: USmallInt,
    field: USmallInt,
    text: Pointer,
    capacity: SmallInt,
    length: *mut SmallInt,
    value: *mut Len,
) -> Return {
    let text = Output::short(Encoding::Narrow, Unit::Bytes, text, capacity, length);
    column_attribute(handle, number, field, text, value)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLColAttributesW(
    handle: Handle,
    number: USmallInt,
    field: USmallInt,
    text: Pointer,
    capacity: SmallInt,
    length: *mut SmallInt,
    value: *mut Len,
) -> Return {
    let text = Output::short(Encoding::Wide, Unit::Bytes, text, capacity, length);
    column_attribute(handle, number, field, text, value)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLFetch(handle: Handle) -> Return {
    guard::statement(handle, |statement| statement.fetch(abi::FETCH_NEXT, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLFetchScroll(handle: Handle, orientation: SmallInt, offset: Len) -> Return {
    guard::statement(handle, |statement| statement.fetch(orientation, offset))
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLExtendedFetch(
    handle: Handle,
    orientation: USmallInt,
    offset: Len,
    rows_fetched: *mut ULen,
    statuses: *mut USmallInt,
) -> Return {
    guard::statement(handle, |statement| {
        let orientation = SmallInt::try_from(orientation).unwrap_or(-1);
        statement.extended_fetch(orientation, offset, Report { rows_fetched, statuses })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetData(
    handle: Handle,
    column: USmallInt,
    c_type: SmallInt,
    data: Pointer,
    capacity: Len,
    indicator: *mut Len,
) -> Return {
    guard::statement(handle, |statement| {
        // SAFETY: the application's buffer.
        unsafe { statement.get_data(usize::from(column), c_type, data.cast(), capacity, indicator) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLSetPos(
    handle: Handle,
    row: Row,
    operation: USmallInt,
    lock: USmallInt,
) -> Return {
    guard::statement(handle, |statement| statement.set_position(row, operation, lock))
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLBulkOperations(handle: Handle, operation: SmallInt) -> Return {
    guard::statement(handle, |statement| statement.bulk_operation(operation))
}
