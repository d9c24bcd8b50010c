//! Byte order marks, with which PowerShell and editors on Windows begin texts.

use encoding_rs::Encoding;
use std::io;

/// The bytes of the longest mark, that of UTF-32.
pub(crate) const LONGEST: usize = 4;

/// Returns the encoding that the mark at the beginning of a text names, and the length of the mark.
///
/// # Errors
/// It is UTF-32. Its mark begins as that of UTF-16.
pub(crate) fn encoding(begin: &[u8]) -> io::Result<Option<(&'static Encoding, usize)>> {
    match begin.starts_with(b"\xff\xfe\0\0") {
        true => Err(io::Error::new(io::ErrorKind::InvalidData, "it is UTF-32: save it as UTF-8")),
        false => Ok(Encoding::for_bom(begin)),
    }
}

/// Refuses a text without a mark whose every second byte is zero, and says what would help.
///
/// # Errors
/// It looks like UTF-16.
pub(crate) fn refuse_utf16(begin: &[u8], remedy: &str) -> io::Result<()> {
    let name = match begin {
        [1.., 0, 1.., 0, ..] => "UTF-16LE",
        [0, 1.., 0, 1.., ..] => "UTF-16BE",
        _ => return Ok(()),
    };
    let text = format!("it looks like {name} without a byte order mark: {remedy}");
    Err(io::Error::new(io::ErrorKind::InvalidData, text))
}
