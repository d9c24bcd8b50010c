//! What the installer of ODBC calls: `ConfigDSN` and `ConfigDriver`.

use super::guard;
use crate::abi::{self, Char, Handle, USmallInt, WChar};
use crate::platform;
use crate::setup::{self, Mistake, Request, Scope};
use crate::text::{self, BadText, NarrowEncoding};

/// `BOOL`
type Bool = i32;

const TRUE: Bool = 1;
const FALSE: Bool = 0;

/// `ODBC_ERROR_INVALID_REQUEST_TYPE`
const BAD_REQUEST: u32 = 5;
/// `ODBC_ERROR_INVALID_KEYWORD_VALUE`
const BAD_KEYWORD: u32 = 8;
/// `ODBC_ERROR_INVALID_DSN`
const BAD_DATA_SOURCE: u32 = 9;
/// `ODBC_ERROR_REQUEST_FAILED`
const FAILED: u32 = 11;

/// Text of the installer, which always ends with a zero.
#[derive(Clone, Copy)]
enum Text {
    Narrow(*const Char),
    Wide(*const WChar),
}

impl Text {
    /// # Safety
    /// It is NULL or has a terminator.
    unsafe fn read(self) -> Result<Option<String>, BadText> {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Narrow(text) => text::read_narrow(text, NarrowEncoding::of_process(), abi::NTS),
                Self::Wide(text) => text::read_wide(text, abi::NTS),
            }
        }
    }

    /// What follows `text` and its terminator.
    ///
    /// # Safety
    /// This is that text.
    unsafe fn after(self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Narrow(text) => {
                    Self::Narrow(text.add((0..).find(|at| *text.add(*at) == 0).unwrap_or(0) + 1))
                }
                Self::Wide(text) => {
                    let end = (0..).find(|at| text.add(*at).read_unaligned() == 0).unwrap_or(0);
                    Self::Wide(text.add(end + 1))
                }
            }
        }
    }
}

/// Reads `name=value` texts, of which an empty one is the last.
///
/// # Safety
/// It is NULL or such a list.
unsafe fn pairs(list: Text) -> Result<Vec<(String, String)>, BadText> {
    let (mut pairs, mut rest) = (Vec::new(), list);
    // SAFETY: the caller's promise.
    while let Some(text) = unsafe { rest.read() }?.filter(|text| !text.is_empty()) {
        let (name, value) = text.split_once('=').unwrap_or((&text, ""));
        pairs.push((name.trim().to_owned(), value.to_owned()));
        // SAFETY: the text was not the last one.
        rest = unsafe { rest.after() };
    }
    Ok(pairs)
}

/// Runs a call of the installer. What has failed is left for the installer to tell.
fn run(work: impl FnOnce() -> Result<Bool, (u32, String)>) -> Bool {
    let mut done = Ok(FALSE);
    let code = guard::plain(|| {
        done = work();
        abi::SUCCESS
    });
    if code != abi::SUCCESS {
        done = Err((FAILED, "the driver panicked".into()));
    }
    done.unwrap_or_else(|(code, text)| {
        platform::post_error(code, &text);
        FALSE
    })
}

const REQUESTS: [(u16, Request); 3] = [(1, Request::Add), (2, Request::Change), (3, Request::Remove)];

/// # Safety
/// The texts are NULL or as the installer has them.
unsafe fn config_dsn(window: Handle, request: u16, driver: Text, attributes: Text) -> Bool {
    run(|| {
        let unreadable = |_| (BAD_KEYWORD, "a text of the request is malformed".to_owned());
        // SAFETY: the caller's promise.
        let (driver, attributes) = unsafe { (driver.read(), pairs(attributes)) };
        let (driver, attributes) = (driver.map_err(unreadable)?, attributes.map_err(unreadable)?);
        let known = REQUESTS.iter().find(|(number, _)| *number == request);
        let (_, request) = known.ok_or_else(|| (BAD_REQUEST, format!("there is no request {request}")))?;
        let is_dsn = |(name, _): &(String, String)| name.eq_ignore_ascii_case("DSN");
        // There is a window, so a user is to be asked, but there is no dialog.
        if !window.is_null() && *request != Request::Remove && attributes.iter().all(is_dsn) {
            let name = attributes.first().map_or("NAME", |(_, name)| name);
            let replace = if *request == Request::Change { " --replace" } else { "" };
            platform::show(window, &help(name, replace, platform::is_of_system()));
            return Ok(FALSE);
        }
        let scope = if platform::is_of_system() { Scope::System } else { Scope::User };
        setup::configure(*request, scope, driver.as_deref().unwrap_or_default(), attributes).map_err(
            |(mistake, text)| {
                let code = match mistake {
                    Mistake::Keyword => BAD_KEYWORD,
                    Mistake::DataSource => BAD_DATA_SOURCE,
                    Mistake::Failed => FAILED,
                };
                (code, text)
            },
        )?;
        Ok(TRUE)
    })
}

/// What to do instead of filling in a form.
fn help(name: &str, replace: &str, is_of_system: bool) -> String {
    let (system, console) =
        if is_of_system { (" --system", "an administrator's console") } else { ("", "a console") };
    format!(
        "This driver has no form for data sources. In {console}, write:\n\n\
         firearrow odbc dsn add \"{name}\" host:path{replace}{system}\n\n\
         firearrow odbc dsn add --help tells more."
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn ConfigDSN(
    window: Handle,
    request: u16,
    driver: *const Char,
    attributes: *const Char,
) -> Bool {
    // SAFETY: as for this function.
    unsafe { config_dsn(window, request, Text::Narrow(driver), Text::Narrow(attributes)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn ConfigDSNW(
    window: Handle,
    request: u16,
    driver: *const WChar,
    attributes: *const WChar,
) -> Bool {
    // SAFETY: as for this function.
    unsafe { config_dsn(window, request, Text::Wide(driver), Text::Wide(attributes)) }
}

/// Installing, removing and changing the driver is the installer's work alone: there are no files beside the library.
///
/// # Safety
/// `written` is NULL or may be written.
unsafe fn config_driver(request: u16, written: *mut USmallInt) -> Bool {
    run(|| {
        if !written.is_null() {
            // SAFETY: the caller's promise.
            unsafe { written.write_unaligned(0) };
        }
        match request {
            1..=3 => Ok(TRUE),
            _ => Err((BAD_REQUEST, format!("there is no request {request}"))),
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn ConfigDriver(
    _window: Handle,
    request: u16,
    _driver: *const Char,
    _arguments: *const Char,
    message: *mut Char,
    capacity: USmallInt,
    written: *mut USmallInt,
) -> Bool {
    // SAFETY: the installer's buffer, and as for this function.
    unsafe {
        if !message.is_null() && capacity > 0 {
            message.write(0);
        }
        config_driver(request, written)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn ConfigDriverW(
    _window: Handle,
    request: u16,
    _driver: *const WChar,
    _arguments: *const WChar,
    message: *mut WChar,
    capacity: USmallInt,
    written: *mut USmallInt,
) -> Bool {
    // SAFETY: the installer's buffer, and as for this function.
    unsafe {
        if !message.is_null() && capacity > 0 {
            message.write_unaligned(0);
        }
        config_driver(request, written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null_mut;

    #[test]
    fn lists_end_with_an_empty_text() {
        let expected = [("DSN", "Shop 1"), ("pwd", "a=b"), ("x", "")];
        let expected = Ok(expected.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec());
        let list = "DSN=Shop 1\0pwd=a=b\0x\0\0UID=not";
        let wide: Vec<u16> = list.encode_utf16().collect();
        // SAFETY: both are such lists.
        let (narrow, wide) =
            unsafe { (pairs(Text::Narrow(list.as_ptr())), pairs(Text::Wide(wide.as_ptr()))) };
        assert_eq!((&narrow, &wide), (&expected, &expected));
        // SAFETY: NULL is no list.
        assert_eq!(unsafe { pairs(Text::Wide(std::ptr::null())) }, Ok(Vec::new()));
    }

    #[test]
    fn drivers_have_nothing_to_configure() {
        let mut written = 7;
        let mut message = [7_u16; 2];
        let mut ask = |request| {
            let (text, at, nothing) = (message.as_mut_ptr(), &raw mut written, std::ptr::null());
            // SAFETY: the places have room.
            unsafe { ConfigDriverW(null_mut(), request, nothing, nothing, text, 2, at) }
        };
        assert_eq!([1, 2, 3, 9].map(&mut ask), [TRUE, TRUE, TRUE, FALSE]);
        assert_eq!((written, message), (0, [0, 7]));
    }

    #[test]
    fn what_nobody_can_do_is_refused() {
        let list: Vec<u16> = "Dbname=h:x\0\0".encode_utf16().collect();
        for request in [0, 1, 2, 3, 4, u16::MAX] {
            // SAFETY: this is a list.
            let done = unsafe { ConfigDSNW(null_mut(), request, std::ptr::null(), list.as_ptr()) };
            assert_eq!(done, FALSE, "{request}");
        }
    }
}
