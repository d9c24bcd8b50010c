//! Byte order marks, with which PowerShell and editors on Windows begin texts.

use encoding_rs::Encoding;
use std::io;

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
        [1..=255, 0, 1..=255, 0, ..] => "UTF-16LE",
        [0, 1..=255, 0, 1..=255, ..] => "UTF-16BE",
        _ => return Ok(()),
    };
    let text = format!("it looks like {name} without a byte order mark: {remedy}");
    Err(io::Error::new(io::ErrorKind::InvalidData, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_byte_tells_utf_16() {
        let refused = |begin: &[u8]| refuse_utf16(begin, "save it").err().map(|error| error.to_string());
        let text = "it looks like UTF-16LE without a byte order mark: save it";
        assert_eq!(refused(b"a\0b\0").as_deref(), Some(text));
        assert!(refused(b"\0a\0b").is_some_and(|text| text.contains("UTF-16BE")));
        for begin in [&b""[..], b"a\0b", b"a,b\n", b"\0\0\0\0", b"a\0\0\0"] {
            assert_eq!(refused(begin), None, "{begin:?}");
        }
    }
}
