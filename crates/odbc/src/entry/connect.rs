//! Connecting and disconnecting.

use super::guard;
use super::handles::free_children;
use super::output::{Argument, DONE, Encoding, Output, Unit};
use crate::abi::{self, Char, Handle, Return, SmallInt, USmallInt, WChar};
use crate::connection_string::Attributes;
use crate::diagnostics::{Failure, Result, State};
use crate::handle::Connection;
use crate::text::Text;

fn connect(handle: Handle, source: Argument, user: Argument, password: Argument, wide: bool) -> Return {
    guard::connection(handle, |connection| {
        // SAFETY: the application's texts.
        let (source, user, password) = unsafe { (source.read()?, user.read()?, password.read()?) };
        let source = source.unwrap_or_default();
        let name = if source.is_empty() { "Default" } else { &source };
        let attributes = Attributes::of_data_source(name, user.as_deref(), password.as_deref())?;
        connection.connect(&attributes, wide)?;
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLConnect(
    handle: Handle,
    source: *const Char,
    source_length: SmallInt,
    user: *const Char,
    user_length: SmallInt,
    password: *const Char,
    password_length: SmallInt,
) -> Return {
    let text = |text, length: SmallInt| Argument::narrow(text, length as isize);
    let [source, user, password] =
        [text(source, source_length), text(user, user_length), text(password, password_length)];
    connect(handle, source, user, password, false)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLConnectW(
    handle: Handle,
    source: *const WChar,
    source_length: SmallInt,
    user: *const WChar,
    user_length: SmallInt,
    password: *const WChar,
    password_length: SmallInt,
) -> Return {
    let text = |text, length: SmallInt| Argument::wide(text, length as isize);
    let [source, user, password] =
        [text(source, source_length), text(user, user_length), text(password, password_length)];
    connect(handle, source, user, password, true)
}

/// The largest value of `SQLDriverConnect`'s completion; none of them prompts here.
const DRIVER_COMPLETE_REQUIRED: USmallInt = 3;

/// Hands out the connection string that had an effect.
///
/// # Safety
/// The output may be written.
unsafe fn hand_out(connection: &mut Connection, attributes: Attributes, output: Output) -> Result<()> {
    // The data source keeps the options that a string may not have, so the string connects again.
    let text = Text::from(attributes.without_registered_options().to_string().as_str());
    // SAFETY: the caller's promise.
    unsafe { output.put(&text, &mut connection.diagnostics) }
}

fn driver_connect(
    handle: Handle,
    text: Argument,
    output: Output,
    completion: USmallInt,
    wide: bool,
) -> Return {
    guard::connection(handle, |connection| {
        if completion > DRIVER_COMPLETE_REQUIRED {
            let text = format!("there is no driver completion {completion}");
            return Err(Failure::new(State::DRIVER_COMPLETION, text));
        }
        output.check()?;
        // SAFETY: the application's text and buffer.
        unsafe {
            let attributes = Attributes::parse(&text.required()?)?.with_data_source()?;
            let effective = connection.connect(&attributes, wide)?;
            hand_out(connection, effective, output)?;
        }
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLDriverConnect(
    handle: Handle,
    _window: Handle,
    text: *const Char,
    length: SmallInt,
    buffer: *mut Char,
    capacity: SmallInt,
    written: *mut SmallInt,
    completion: USmallInt,
) -> Return {
    let output = Output::short(Encoding::Narrow, Unit::Characters, buffer.cast(), capacity, written);
    driver_connect(handle, Argument::narrow(text, length as isize), output, completion, false)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLDriverConnectW(
    handle: Handle,
    _window: Handle,
    text: *const WChar,
    length: SmallInt,
    buffer: *mut WChar,
    capacity: SmallInt,
    written: *mut SmallInt,
    completion: USmallInt,
) -> Return {
    let output = Output::short(Encoding::Wide, Unit::Characters, buffer.cast(), capacity, written);
    driver_connect(handle, Argument::wide(text, length as isize), output, completion, true)
}

/// What a connection needs, and how `SQLBrowseConnect` asks for it.
const ASKED_FOR: [(&str, &str); 3] =
    [("DBNAME", "DBNAME:Database=?"), ("UID", "*UID:User=?"), ("PWD", "*PWD:Password=?")];

fn browse_connect(handle: Handle, text: Argument, output: Output, wide: bool) -> Return {
    guard::connection(handle, |connection| {
        output.check()?;
        // SAFETY: the application's text and buffer.
        unsafe {
            let text = text.required()?;
            let so_far = match &connection.browsing {
                Some(before) => format!("{text};{before}"),
                None => text,
            };
            let attributes = Attributes::parse(&so_far)?.with_data_source()?;
            let missing = ASKED_FOR.iter().filter(|(keyword, _)| attributes.get(keyword).is_none());
            let asked: Vec<&str> = missing.map(|(_, asked)| *asked).collect();
            let needs_database = attributes.get("DBNAME").is_none();
            if needs_database || (connection.browsing.is_none() && !asked.is_empty()) {
                connection.browsing = Some(so_far);
                output.put(&Text::from(asked.join(";").as_str()), &mut connection.diagnostics)?;
                return Ok(abi::NEED_DATA);
            }
            let effective = connection.connect(&attributes, wide)?;
            hand_out(connection, effective, output)?;
        }
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLBrowseConnect(
    handle: Handle,
    text: *const Char,
    length: SmallInt,
    buffer: *mut Char,
    capacity: SmallInt,
    written: *mut SmallInt,
) -> Return {
    let output = Output::short(Encoding::Narrow, Unit::Characters, buffer.cast(), capacity, written);
    browse_connect(handle, Argument::narrow(text, length as isize), output, false)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLBrowseConnectW(
    handle: Handle,
    text: *const WChar,
    length: SmallInt,
    buffer: *mut WChar,
    capacity: SmallInt,
    written: *mut SmallInt,
) -> Return {
    let output = Output::short(Encoding::Wide, Unit::Characters, buffer.cast(), capacity, written);
    browse_connect(handle, Argument::wide(text, length as isize), output, true)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLDisconnect(handle: Handle) -> Return {
    guard::connection(handle, |connection| {
        connection.disconnect(free_children)?;
        DONE
    })
}
