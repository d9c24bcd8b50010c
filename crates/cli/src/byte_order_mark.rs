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
