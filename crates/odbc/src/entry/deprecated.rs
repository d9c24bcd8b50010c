//! Functions of older releases, by those that replaced them.

use super::attributes::Value;
use super::guard;
use super::handles::{allocate, free};
use super::output::{Argument, DONE, Encoding, Output, Unit, put};
use crate::abi::{self, Handle, Integer, Pointer, Return, ULen, USmallInt};
use crate::attributes::{connection, statement};
use crate::diagnostics::{Failure, State};

/// Bytes that the application has for text, since these functions are not told: the largest that it could have.
const OPTION_CAPACITY: Integer = 256;

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLAllocEnv(environment: *mut Handle) -> Return {
    // SAFETY: as for this function.
    let code = unsafe { allocate(abi::HANDLE_ENV, std::ptr::null_mut(), environment) };
    if code == abi::SUCCESS {
        // SAFETY: it was just written.
        let handle = unsafe { environment.read_unaligned() };
        // This function is of ODBC 2.
        guard::environment(handle, |environment| {
            environment.version = abi::attribute::environment::ODBC2;
            DONE
        });
    }
    code
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLAllocConnect(environment: Handle, connection: *mut Handle) -> Return {
    // SAFETY: as for this function.
    unsafe { allocate(abi::HANDLE_DBC, environment, connection) }
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLAllocStmt(connection: Handle, statement: *mut Handle) -> Return {
    // SAFETY: as for this function.
    unsafe { allocate(abi::HANDLE_STMT, connection, statement) }
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLFreeEnv(environment: Handle) -> Return {
    free(abi::HANDLE_ENV, environment)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLFreeConnect(connection: Handle) -> Return {
    free(abi::HANDLE_DBC, connection)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLSetConnectOption(handle: Handle, option: USmallInt, value: ULen) -> Return {
    set_connection_option(handle, option, value, Encoding::Narrow)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLSetConnectOptionW(handle: Handle, option: USmallInt, value: ULen) -> Return {
    set_connection_option(handle, option, value, Encoding::Wide)
}

fn set_connection_option(handle: Handle, option: USmallInt, value: ULen, encoding: Encoding) -> Return {
    guard::connection(handle, |object| {
        let address = std::ptr::with_exposed_provenance::<u8>(value);
        let text = match encoding {
            Encoding::Narrow => Argument::narrow(address, abi::NTS),
            Encoding::Wide => Argument::wide(address.cast(), abi::NTS),
        };
        // SAFETY: the application's text, of an option that has text.
        connection::set(object, Integer::from(option), value, &|| unsafe { text.required() })?;
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetConnectOption(
    handle: Handle,
    option: USmallInt,
    value: Pointer,
) -> Return {
    get_connection_option(handle, option, value, Encoding::Narrow)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetConnectOptionW(
    handle: Handle,
    option: USmallInt,
    value: Pointer,
) -> Return {
    get_connection_option(handle, option, value, Encoding::Wide)
}

fn get_connection_option(handle: Handle, option: USmallInt, value: Pointer, encoding: Encoding) -> Return {
    guard::connection(handle, |object| {
        let found = connection::get(object, Integer::from(option))?;
        let no_length = std::ptr::null_mut();
        // SAFETY: the application's buffer.
        unsafe {
            match found {
                Value::Integer(number) => put(value.cast(), number),
                Value::Length(number) => put(value.cast(), number),
                Value::Text(text) => {
                    let output = Output::long(encoding, Unit::Bytes, value, OPTION_CAPACITY, no_length);
                    output.put(&text, &mut object.diagnostics)?;
                }
            }
        }
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLSetStmtOption(handle: Handle, option: USmallInt, value: ULen) -> Return {
    guard::statement(handle, |object| {
        statement::set(object, Integer::from(option), value)?;
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetStmtOption(handle: Handle, option: USmallInt, value: Pointer) -> Return {
    guard::statement(handle, |object| {
        if let Value::Length(number) = statement::get(object, Integer::from(option))? {
            // SAFETY: the application's buffer.
            unsafe { put(value.cast(), number) };
        }
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLSetScrollOptions(
    handle: Handle,
    concurrency: USmallInt,
    keyset: abi::Len,
    rows: USmallInt,
) -> Return {
    use abi::attribute::statement as attribute;
    /// `SQL_SCROLL_FORWARD_ONLY` and `SQL_SCROLL_STATIC`; others are numbers of rows, or keyset-driven and dynamic.
    const FORWARD_ONLY: abi::Len = 0;
    guard::statement(handle, |object| {
        if rows == 0 {
            return Err(Failure::new(State::ROW, "a row set has at least one row"));
        }
        let cursor = if keyset == FORWARD_ONLY { attribute::FORWARD_ONLY } else { attribute::STATIC };
        statement::set(object, attribute::CONCURRENCY, usize::from(concurrency))?;
        statement::set(object, attribute::CURSOR_TYPE, cursor)?;
        statement::set(object, attribute::ROWSET_SIZE, usize::from(rows))?;
        DONE
    })
}
