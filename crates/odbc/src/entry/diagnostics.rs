//! The records that the last call on a handle left.

use super::guard;
use super::output::{Encoding, Output, Unit, put};
use crate::abi::field::diagnostic as field;
use crate::abi::{self, Char, Handle, Integer, Len, Pointer, Return, SmallInt, WChar};
use crate::diagnostics::{Diagnostics, Record};
use crate::handle::{Id, registry};
use crate::text::Text;

/// Looks at the diagnostics of a handle. They stay as they are.
fn look(kind: SmallInt, handle: Handle, work: impl FnOnce(&mut Diagnostics, &Names) -> Return) -> Return {
    guard::plain(|| {
        let Some(mut in_use) = registry::get(Id::from(handle)) else { return abi::INVALID_HANDLE };
        let mut names = Names::default();
        let diagnostics = match kind {
            abi::HANDLE_ENV => in_use.environment().map(|object| &mut object.diagnostics),
            abi::HANDLE_DBC => in_use.connection().map(|object| {
                names = Names::of(object.link.as_deref());
                &mut object.diagnostics
            }),
            abi::HANDLE_STMT => in_use.statement().map(|object| {
                names = Names::of(Some(&object.link));
                object.diagnostics.cursor_rows = object.cursor_rows();
                &mut object.diagnostics
            }),
            abi::HANDLE_DESC => in_use.descriptor().map(|object| &mut object.diagnostics),
            _ => None,
        };
        diagnostics.map_or(abi::INVALID_HANDLE, |diagnostics| work(diagnostics, &names))
    })
}

/// What records tell about the connection.
#[derive(Default)]
struct Names {
    server: String,
    connection: String,
}

impl Names {
    fn of(link: Option<&crate::handle::Link>) -> Self {
        link.map_or_else(Self::default, |link| Self {
            server: link.facts.server.clone(),
            connection: link.facts.data_source.clone(),
        })
    }
}

/// The code of a call that hands out text of these diagnostics.
fn handed_out(written: crate::diagnostics::Result<bool>) -> Return {
    match written {
        Ok(false) => abi::SUCCESS,
        Ok(true) => abi::SUCCESS_WITH_INFO,
        Err(_) => abi::ERROR,
    }
}

/// Hands out a record: its state, native code and message.
///
/// # Safety
/// The places are NULL or may be written.
unsafe fn hand_out(record: &Record, state: Output, native: *mut Integer, message: Output) -> Return {
    // SAFETY: the caller's promise.
    unsafe {
        put(native, record.failure.native);
        if state.write(&Text::from(record.failure.state.as_str())).is_err() {
            return abi::ERROR;
        }
        handed_out(message.tell(&record.message))
    }
}

/// Five characters and a terminator.
const STATE_CAPACITY: SmallInt = 6;

fn state_output(encoding: Encoding, buffer: Pointer) -> Output {
    Output::short(encoding, Unit::Characters, buffer, STATE_CAPACITY, std::ptr::null_mut())
}

fn record(
    kind: SmallInt,
    handle: Handle,
    number: SmallInt,
    state: Output,
    native: *mut Integer,
    message: Output,
) -> Return {
    look(kind, handle, |diagnostics, _| {
        if number <= 0 || message.check().is_err() {
            return abi::ERROR;
        }
        match diagnostics.get(number.unsigned_abs().into()) {
            // SAFETY: the application's places.
            Some(record) => unsafe { hand_out(record, state, native, message) },
            None => abi::NO_DATA,
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetDiagRec(
    kind: SmallInt,
    handle: Handle,
    number: SmallInt,
    state: *mut Char,
    native: *mut Integer,
    message: *mut Char,
    capacity: SmallInt,
    length: *mut SmallInt,
) -> Return {
    let encoding = Encoding::Narrow;
    let message = Output::short(encoding, Unit::Characters, message.cast(), capacity, length);
    record(kind, handle, number, state_output(encoding, state.cast()), native, message)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetDiagRecW(
    kind: SmallInt,
    handle: Handle,
    number: SmallInt,
    state: *mut WChar,
    native: *mut Integer,
    message: *mut WChar,
    capacity: SmallInt,
    length: *mut SmallInt,
) -> Return {
    let encoding = Encoding::Wide;
    let message = Output::short(encoding, Unit::Characters, message.cast(), capacity, length);
    record(kind, handle, number, state_output(encoding, state.cast()), native, message)
}

/// The next record of the most specific handle given; each is handed out once.
fn error(
    [environment, connection, statement]: [Handle; 3],
    state: Output,
    native: *mut Integer,
    message: Output,
) -> Return {
    let (kind, handle) = if !statement.is_null() {
        (abi::HANDLE_STMT, statement)
    } else if !connection.is_null() {
        (abi::HANDLE_DBC, connection)
    } else {
        (abi::HANDLE_ENV, environment)
    };
    look(kind, handle, |diagnostics, _| {
        if message.check().is_err() {
            return abi::ERROR;
        }
        match diagnostics.consume() {
            // SAFETY: the application's places.
            Some(record) => unsafe { hand_out(record, state, native, message) },
            None => abi::NO_DATA,
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLError(
    environment: Handle,
    connection: Handle,
    statement: Handle,
    state: *mut Char,
    native: *mut Integer,
    message: *mut Char,
    capacity: SmallInt,
    length: *mut SmallInt,
) -> Return {
    let encoding = Encoding::Narrow;
    let message = Output::short(encoding, Unit::Characters, message.cast(), capacity, length);
    let state = state_output(encoding, state.cast());
    error([environment, connection, statement], state, native, message)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLErrorW(
    environment: Handle,
    connection: Handle,
    statement: Handle,
    state: *mut WChar,
    native: *mut Integer,
    message: *mut WChar,
    capacity: SmallInt,
    length: *mut SmallInt,
) -> Return {
    let encoding = Encoding::Wide;
    let message = Output::short(encoding, Unit::Characters, message.cast(), capacity, length);
    let state = state_output(encoding, state.cast());
    error([environment, connection, statement], state, native, message)
}

/// A field's value.
enum Value {
    Length(Len),
    Integer(Integer),
    Return(Return),
    Text(Text),
}

/// Fields that the diagnostics of statements have alone.
const OF_STATEMENT: [SmallInt; 4] =
    [field::ROW_COUNT, field::CURSOR_ROW_COUNT, field::DYNAMIC_FUNCTION, field::DYNAMIC_FUNCTION_CODE];

/// A field of the header.
fn of_header(diagnostics: &Diagnostics, number: SmallInt) -> Option<Value> {
    Some(match number {
        field::NUMBER => Value::Integer(Integer::try_from(diagnostics.len()).unwrap_or(Integer::MAX)),
        field::RETURNCODE => Value::Return(diagnostics.code),
        field::ROW_COUNT => Value::Length(diagnostics.row_count),
        field::CURSOR_ROW_COUNT => Value::Length(diagnostics.cursor_rows),
        field::DYNAMIC_FUNCTION => Value::Text(diagnostics.function.0.into()),
        field::DYNAMIC_FUNCTION_CODE => Value::Integer(diagnostics.function.1),
        _ => return None,
    })
}

/// A field of a record.
fn of_record(record: &Record, number: SmallInt, names: &Names) -> Option<Value> {
    let state = record.failure.state.as_str();
    let origin = |is_odbc: bool| if is_odbc { "ODBC 3.0" } else { "ISO 9075" };
    let number_of = |number: Option<usize>| number.and_then(|number| Len::try_from(number).ok());
    Some(match number {
        field::SQLSTATE => Value::Text(state.into()),
        field::NATIVE => Value::Integer(record.failure.native),
        field::MESSAGE_TEXT => Value::Text(record.message.clone()),
        field::CLASS_ORIGIN => Value::Text(origin(state.starts_with("IM")).into()),
        field::SUBCLASS_ORIGIN => {
            let is_odbc = state.starts_with("IM") || state.starts_with("HY") || state.contains('S');
            Value::Text(origin(is_odbc).into())
        }
        field::CONNECTION_NAME => Value::Text(names.connection.as_str().into()),
        field::SERVER_NAME => Value::Text(names.server.as_str().into()),
        field::ROW_NUMBER => Value::Length(number_of(record.failure.row).unwrap_or(field::NO_ROW_NUMBER)),
        field::COLUMN_NUMBER => {
            let column = record.failure.column.and_then(|column| Integer::try_from(column).ok());
            Value::Integer(column.unwrap_or(field::NO_COLUMN_NUMBER))
        }
        _ => return None,
    })
}

fn diagnostic_field(
    kind: SmallInt,
    handle: Handle,
    number: SmallInt,
    identifier: SmallInt,
    text: Output,
) -> Return {
    look(kind, handle, |diagnostics, names| {
        if kind != abi::HANDLE_STMT && OF_STATEMENT.contains(&identifier) {
            return abi::ERROR;
        }
        let value = match of_header(diagnostics, identifier) {
            Some(value) => value,
            None if number <= 0 => return abi::ERROR,
            None => match diagnostics.get(number.unsigned_abs().into()) {
                Some(record) => match of_record(record, identifier, names) {
                    Some(value) => value,
                    None => return abi::ERROR,
                },
                None => return abi::NO_DATA,
            },
        };
        // SAFETY: the application's place, of the field's type.
        unsafe {
            match value {
                Value::Length(value) => put(text.buffer.cast(), value),
                Value::Integer(value) => put(text.buffer.cast(), value),
                Value::Return(value) => put(text.buffer.cast(), value),
                Value::Text(value) => return handed_out(text.tell(&value)),
            }
        }
        abi::SUCCESS
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetDiagField(
    kind: SmallInt,
    handle: Handle,
    number: SmallInt,
    identifier: SmallInt,
    value: Pointer,
    capacity: SmallInt,
    length: *mut SmallInt,
) -> Return {
    let text = Output::short(Encoding::Narrow, Unit::Bytes, value, capacity, length);
    diagnostic_field(kind, handle, number, identifier, text)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetDiagFieldW(
    kind: SmallInt,
    handle: Handle,
    number: SmallInt,
    identifier: SmallInt,
    value: Pointer,
    capacity: SmallInt,
    length: *mut SmallInt,
) -> Return {
    let text = Output::short(Encoding::Wide, Unit::Bytes, value, capacity, length);
    diagnostic_field(kind, handle, number, identifier, text)
}
