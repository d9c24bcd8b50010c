//! Attributes of environments, connections and statements.

use super::guard;
use super::output::{Argument, DONE, Encoding, Output, Unit};
use crate::abi::{Handle, Integer, Pointer, Return};
use crate::attributes::{connection, environment, statement};
use crate::text::Text;

/// The value of an attribute.
pub(crate) enum Value {
    /// Of an environment or connection.
    Integer(u32),
    /// Of a statement, and pointers.
    Length(usize),
    Text(Text),
}

/// Hands out an attribute's value.
///
/// # Safety
/// The buffer may be written as the attribute's type demands.
unsafe fn hand_out(
    value: Value,
    output: Output,
    diagnostics: &mut crate::diagnostics::Diagnostics,
) -> crate::diagnostics::Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        match value {
            Value::Integer(value) => {
                super::output::put(output.buffer.cast(), value);
                output.length.write(size_of::<u32>());
            }
            Value::Length(value) => {
                super::output::put(output.buffer.cast(), value);
                output.length.write(size_of::<usize>());
            }
            Value::Text(text) => output.put(&text, diagnostics)?,
        }
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLSetEnvAttr(
    handle: Handle,
    attribute: Integer,
    value: Pointer,
    _length: Integer,
) -> Return {
    guard::environment(handle, |object| {
        environment::set(object, attribute, value.addr())?;
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetEnvAttr(
    handle: Handle,
    attribute: Integer,
    value: Pointer,
    capacity: Integer,
    length: *mut Integer,
) -> Return {
    guard::environment(handle, |object| {
        let found = environment::get(object, attribute)?;
        let output = Output::long(Encoding::Narrow, Unit::Bytes, value, capacity, length);
        // SAFETY: the application's buffer.
        unsafe { hand_out(found, output, &mut object.diagnostics) }?;
        DONE
    })
}

fn set_connection(handle: Handle, attribute: Integer, value: Pointer, text: Argument) -> Return {
    guard::connection(handle, |object| {
        // SAFETY: the application's text, of an attribute that has text.
        connection::set(object, attribute, value.addr(), &|| unsafe { text.required() })?;
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLSetConnectAttr(
    handle: Handle,
    attribute: Integer,
    value: Pointer,
    length: Integer,
) -> Return {
    set_connection(handle, attribute, value, Argument::narrow(value.cast(), length as isize))
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLSetConnectAttrW(
    handle: Handle,
    attribute: Integer,
    value: Pointer,
    length: Integer,
) -> Return {
    // In bytes, unless it is SQL_NTS or says that the value is no text.
    let units = if length > 0 { length / 2 } else { length };
    set_connection(handle, attribute, value, Argument::wide(value.cast(), units as isize))
}

fn get_connection(handle: Handle, attribute: Integer, output: Output) -> Return {
    guard::connection(handle, |object| {
        let found = connection::get(object, attribute)?;
        // SAFETY: the application's buffer.
        unsafe { hand_out(found, output, &mut object.diagnostics) }?;
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetConnectAttr(
    handle: Handle,
    attribute: Integer,
    value: Pointer,
    capacity: Integer,
    length: *mut Integer,
) -> Return {
    get_connection(handle, attribute, Output::long(Encoding::Narrow, Unit::Bytes, value, capacity, length))
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetConnectAttrW(
    handle: Handle,
    attribute: Integer,
    value: Pointer,
    capacity: Integer,
    length: *mut Integer,
) -> Return {
    get_connection(handle, attribute, Output::long(Encoding::Wide, Unit::Bytes, value, capacity, length))
}

fn set_statement(handle: Handle, attribute: Integer, value: Pointer) -> Return {
    guard::statement(handle, |object| {
        statement::set(object, attribute, value.addr())?;
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLSetStmtAttr(
    handle: Handle,
    attribute: Integer,
    value: Pointer,
    _length: Integer,
) -> Return {
    set_statement(handle, attribute, value)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLSetStmtAttrW(
    handle: Handle,
    attribute: Integer,
    value: Pointer,
    _length: Integer,
) -> Return {
    set_statement(handle, attribute, value)
}

fn get_statement(handle: Handle, attribute: Integer, output: Output) -> Return {
    guard::statement(handle, |object| {
        let found = statement::get(object, attribute)?;
        // SAFETY: the application's buffer.
        unsafe { hand_out(found, output, &mut object.diagnostics) }?;
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetStmtAttr(
    handle: Handle,
    attribute: Integer,
    value: Pointer,
    capacity: Integer,
    length: *mut Integer,
) -> Return {
    get_statement(handle, attribute, Output::long(Encoding::Narrow, Unit::Bytes, value, capacity, length))
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetStmtAttrW(
    handle: Handle,
    attribute: Integer,
    value: Pointer,
    capacity: Integer,
    length: *mut Integer,
) -> Return {
    get_statement(handle, attribute, Output::long(Encoding::Wide, Unit::Bytes, value, capacity, length))
}
