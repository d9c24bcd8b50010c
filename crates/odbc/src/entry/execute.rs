//! Preparing, executing and cancelling.

use super::guard;
use super::output::{Argument, Encoding, Output, Unit};
use crate::abi::{self, Char, Handle, Integer, Len, Pointer, Return, SmallInt, WChar};
use crate::execute::translate;
use crate::handle::registry::Attempt;
use crate::handle::{Id, registry};
use crate::text::Text;

fn prepare(handle: Handle, sql: Argument) -> Return {
    guard::statement(handle, |statement| {
        // SAFETY: the application's text.
        let sql = unsafe { sql.required() }?;
        statement.prepare(&sql)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLPrepare(handle: Handle, sql: *const Char, length: Integer) -> Return {
    prepare(handle, Argument::narrow(sql, length as isize))
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLPrepareW(handle: Handle, sql: *const WChar, length: Integer) -> Return {
    prepare(handle, Argument::wide(sql, length as isize))
}

fn execute_directly(handle: Handle, sql: Argument) -> Return {
    guard::statement(handle, |statement| {
        // SAFETY: the application's text.
        let sql = unsafe { sql.required() }?;
        statement.execute_directly(&sql)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLExecDirect(handle: Handle, sql: *const Char, length: Integer) -> Return {
    execute_directly(handle, Argument::narrow(sql, length as isize))
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLExecDirectW(handle: Handle, sql: *const WChar, length: Integer) -> Return {
    execute_directly(handle, Argument::wide(sql, length as isize))
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLExecute(handle: Handle) -> Return {
    guard::statement(handle, |statement| statement.execute())
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLParamData(handle: Handle, token: *mut Pointer) -> Return {
    guard::any_statement(handle, |statement| statement.parameter_data(token))
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLPutData(handle: Handle, data: Pointer, length: Len) -> Return {
    // SAFETY: the application's data.
    guard::any_statement(handle, |statement| unsafe { statement.put_data(data.cast(), length) })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLMoreResults(handle: Handle) -> Return {
    guard::statement(handle, |statement| statement.more_results())
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLCancel(handle: Handle) -> Return {
    guard::plain(|| cancel_statement(handle))
}

/// Cancels what runs in a statement, or ends its waiting for data. Neither waits for a running call.
fn cancel_statement(handle: Handle) -> Return {
    let id = Id::from(handle);
    if !registry::may_be(id, abi::HANDLE_STMT) {
        return abi::INVALID_HANDLE;
    }
    // Between two calls there is nothing to cancel: an open cursor stays as it is.
    match registry::attempt(id) {
        Attempt::InUse(mut in_use) => match in_use.statement() {
            Some(statement) => {
                // The diagnostics are still those of the call that has just ended in another thread.
                statement.stop_waiting();
                abi::SUCCESS
            }
            None => abi::INVALID_HANDLE,
        },
        Attempt::Busy => cancel(id),
        Attempt::Gone => abi::INVALID_HANDLE,
    }
}

/// Cancels what a call of another thread does in this moment.
fn cancel(id: Id) -> Return {
    if let Some(activity) = registry::activity(id) {
        activity.cancel();
    }
    abi::SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLCancelHandle(kind: SmallInt, handle: Handle) -> Return {
    let id = Id::from(handle);
    match kind {
        abi::HANDLE_STMT => guard::plain(|| cancel_statement(handle)),
        // Its own call, which is connecting: statements have handles of their own.
        abi::HANDLE_DBC if registry::may_be(id, kind) => guard::plain(|| cancel(id)),
        _ => abi::INVALID_HANDLE,
    }
}

fn native_sql(handle: Handle, sql: Argument, output: Output) -> Return {
    guard::connection(handle, |connection| {
        let link = connection.expect_open()?.clone();
        // SAFETY: the application's text and buffer.
        unsafe {
            let sql = sql.required()?;
            let text = translate(&link, sql.trim_end_matches('\0'))?;
            output.put(&Text::from(text.sql.as_str()), &mut connection.diagnostics)?;
        }
        Ok(abi::SUCCESS)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLNativeSql(
    handle: Handle,
    sql: *const Char,
    length: Integer,
    buffer: *mut Char,
    capacity: Integer,
    written: *mut Integer,
) -> Return {
    let output = Output::long(Encoding::Narrow, Unit::Characters, buffer.cast(), capacity, written);
    native_sql(handle, Argument::narrow(sql, length as isize), output)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLNativeSqlW(
    handle: Handle,
    sql: *const WChar,
    length: Integer,
    buffer: *mut WChar,
    capacity: Integer,
    written: *mut Integer,
) -> Return {
    let output = Output::long(Encoding::Wide, Unit::Characters, buffer.cast(), capacity, written);
    native_sql(handle, Argument::wide(sql, length as isize), output)
}

/// A cursor name that was given by the application.
fn set_cursor_name(handle: Handle, name: Argument) -> Return {
    guard::statement(handle, |statement| {
        // SAFETY: the application's text.
        let name = unsafe { name.required() }?;
        statement.set_cursor_name(&name)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLSetCursorName(
    handle: Handle,
    name: *const Char,
    length: SmallInt,
) -> Return {
    set_cursor_name(handle, Argument::narrow(name, length as isize))
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLSetCursorNameW(
    handle: Handle,
    name: *const WChar,
    length: SmallInt,
) -> Return {
    set_cursor_name(handle, Argument::wide(name, length as isize))
}

fn get_cursor_name(handle: Handle, output: Output) -> Return {
    guard::statement(handle, |statement| {
        let name = Text::from(statement.cursor_name().as_str());
        // SAFETY: the application's buffer.
        unsafe { output.put(&name, &mut statement.diagnostics) }?;
        Ok(abi::SUCCESS)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetCursorName(
    handle: Handle,
    buffer: *mut Char,
    capacity: SmallInt,
    written: *mut SmallInt,
) -> Return {
    get_cursor_name(
        handle,
        Output::short(Encoding::Narrow, Unit::Characters, buffer.cast(), capacity, written),
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetCursorNameW(
    handle: Handle,
    buffer: *mut WChar,
    capacity: SmallInt,
    written: *mut SmallInt,
) -> Return {
    get_cursor_name(handle, Output::short(Encoding::Wide, Unit::Characters, buffer.cast(), capacity, written))
}
