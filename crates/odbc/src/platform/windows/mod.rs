//! Windows.

mod installer;

pub(crate) use installer::{is_of_system, post_error, show};

use crate::text::CodePage;
use std::ptr::{null, null_mut};
use windows_sys::Win32::Foundation::{FILETIME, SYSTEMTIME};
use windows_sys::Win32::Globalization::{
    GetACP, MB_ERR_INVALID_CHARS, MultiByteToWideChar, WC_NO_BEST_FIT_CHARS, WideCharToMultiByte,
};
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN, GetModuleHandleExW,
};
use windows_sys::Win32::System::Time::{FileTimeToSystemTime, SystemTimeToTzSpecificLocalTime};

/// UTF-8, which some installations have as their code page.
const UTF8: u32 = 65001;

/// Keeps the library loaded when somebody unloads it: its threads, such as the one that watches time limits, run its
/// code. Another copy of the library, from another file, is pinned by its own call.
pub(crate) fn stay_loaded() {
    let flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN;
    let mut module = null_mut();
    // SAFETY: the address is within this library, and the place for the handle may be written. Failing changes nothing.
    unsafe { GetModuleHandleExW(flags, (stay_loaded as fn()) as *const u16, &raw mut module) };
}

/// The path of this library; `None` where its code is part of a program.
pub(crate) fn own_library() -> Option<String> {
    let path = firearrow_system::own_file()?.into_os_string().into_string().ok()?;
    path.to_ascii_lowercase().ends_with(".dll").then_some(path)
}

/// The code page of narrow text in this process, unless that is UTF-8.
pub(crate) fn code_page() -> Option<CodePage> {
    // SAFETY: it has no preconditions.
    let number = unsafe { GetACP() };
    (number != UTF8).then(|| system_page(number))
}

/// A code page as the system converts it.
fn system_page(number: u32) -> CodePage {
    let decode = |bytes: &[u8]| decode(number, bytes);
    CodePage::new(&format!("code page {number}"), decode, |character| encode(number, character))
}

/// The character of the Basic Multilingual Plane that these bytes are.
fn decode(page: u32, bytes: &[u8]) -> Option<char> {
    let mut units = [0_u16; 2];
    // SAFETY: both buffers have their lengths.
    let count = unsafe {
        let length = i32::try_from(bytes.len()).ok()?;
        MultiByteToWideChar(page, MB_ERR_INVALID_CHARS, bytes.as_ptr(), length, units.as_mut_ptr(), 2)
    };
    if count == 1 { char::from_u32(units[0].into()) } else { None }
}

/// The bytes of a character, if it has any of its own.
fn encode(page: u32, character: char) -> Option<Vec<u8>> {
    let (mut units, mut bytes, mut is_replaced) = ([0_u16; 2], [0_u8; 8], 0);
    let units = character.encode_utf16(&mut units);
    // SAFETY: the buffers have their lengths, and the answer a place.
    let count = unsafe {
        let (from, length) = (units.as_ptr(), if units.len() == 1 { 1 } else { 2 });
        let to = bytes.as_mut_ptr();
        WideCharToMultiByte(page, WC_NO_BEST_FIT_CHARS, from, length, to, 8, null(), &raw mut is_replaced)
    };
    let bytes = bytes.get(..usize::try_from(count).ok()?)?;
    (is_replaced == 0 && !bytes.is_empty()).then(|| bytes.to_vec())
}

/// Whether the character set of a connection string is that of narrow data.
pub(crate) const NARROW_FOLLOWS_CHARSET: bool = true;

/// Year, month and day of a time in seconds since 1970, in the local time zone.
pub(crate) fn local_date(seconds: i64) -> Option<[i32; 3]> {
    /// From 1601 to 1970.
    const BEFORE: i64 = 11_644_473_600;
    let ticks = u64::try_from(seconds.checked_add(BEFORE)?.checked_mul(10_000_000)?).ok()?;
    let time = FILETIME { dwLowDateTime: ticks as u32, dwHighDateTime: (ticks >> 32) as u32 };
    let (mut utc, mut local) = (SYSTEMTIME::default(), SYSTEMTIME::default());
    // SAFETY: these are all valid; NULL stands for the time zone in use.
    let is_known = unsafe {
        FileTimeToSystemTime(&raw const time, &raw mut utc) != 0
            && SystemTimeToTzSpecificLocalTime(null(), &raw const utc, &raw mut local) != 0
    };
    is_known.then(|| [local.wYear.into(), local.wMonth.into(), local.wDay.into()])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the system says about whole texts, character by character.
    #[test]
    fn code_pages_are_those_of_the_system() {
        for (page, text, bytes) in [
            (1252, "a€ü", &b"a\x80\xFC"[..]),
            (1251, "Привет", b"\xCF\xF0\xE8\xE2\xE5\xF2"),
            (1253, "αβγ", b"\xE1\xE2\xE3"),
            (874, "กข", b"\xA1\xA2"),
            (932, "日本ｱ\\", b"\x93\xFA\x96\x7B\xB1\\"),
            (936, "中文€", b"\xD6\xD0\xCE\xC4\x80"),
            (949, "한글", b"\xC7\xD1\xB1\xDB"),
            (950, "中文", b"\xA4\xA4\xA4\xE5"),
            (437, "é", b"\x82"),
        ] {
            let known = system_page(page);
            assert_eq!(known.encode(text).as_deref(), Ok(bytes), "{page}");
            assert_eq!(known.decode(bytes).as_deref(), Some(text), "{page}");
        }
        assert_eq!(system_page(1252).encode("aПb"), Err('П'));
        // Neither is replaced by something similar.
        assert_eq!(system_page(1252).encode("a\u{101}"), Err('\u{101}'));
        assert_eq!(system_page(932).encode("\u{A5}"), Err('\u{A5}'));
        assert_eq!(system_page(932).decode(b"a\x93"), None);
        assert_eq!(system_page(932).encode("😀"), Err('😀'));
    }

    #[test]
    fn what_is_read_can_be_written() {
        for page in [874, 932, 936, 949, 950, 1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258] {
            let known = system_page(page);
            for first in 0..=0xFF_u8 {
                for bytes in [vec![first], vec![first, 0x41], vec![first, 0xA1], vec![first, 0xFC]] {
                    let Some(text) = known.decode(&bytes) else { continue };
                    let again = known.encode(&text).expect("it was read");
                    assert_eq!(known.decode(&again).as_deref(), Some(&*text), "{page} {bytes:x?}");
                }
            }
        }
    }
}
