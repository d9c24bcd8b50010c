//! GUIDs as bytes in the order of RFC 4122, which is Firebird's, and as text.

use super::cell::{Cells, Failed};
use super::column::{Bytes, no_conversion};
use super::target::Target;
use crate::abi;
use crate::diagnostics::{Failure, Result, State};
use arrow::array::ArrayRef;

/// Where the hyphens are.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

pub(super) fn column(cells: &Cells<'_>, target: Target, failed: &mut Failed) -> Result<ArrayRef> {
    let guids = cells.convert::<abi::Guid, _>(failed, |guid| Ok(bytes(guid)));
    let mut column = Bytes::new(cells.nulls());
    for guid in &guids {
        match target {
            Target::Text => column.push(text(guid).as_bytes()),
            Target::Binary | Target::Any => column.push(guid),
            _ => return Err(no_conversion("a GUID")),
        }?;
    }
    if target == Target::Text { column.text() } else { column.binary() }
}

fn bytes(guid: abi::Guid) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&guid.data1.to_be_bytes());
    bytes[4..6].copy_from_slice(&guid.data2.to_be_bytes());
    bytes[6..8].copy_from_slice(&guid.data3.to_be_bytes());
    bytes[8..].copy_from_slice(&guid.data4);
    bytes
}

/// As `UUID_TO_CHAR` writes it.
fn text(guid: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for byte in guid {
        if HYPHENS.contains(&text.len()) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02X}"));
    }
    text
}

/// Reads a GUID from text, which may have braces.
pub(super) fn parse(text: &str) -> Result<[u8; 16]> {
    let malformed = || Failure::new(State::BAD_CHARACTER_VALUE, "the text is not a GUID");
    let text = text.trim_matches(' ');
    let inner = text.strip_prefix('{').map(|text| text.strip_suffix('}').ok_or_else(malformed));
    let text = inner.unwrap_or(Ok(text))?.as_bytes();
    if text.len() != 36 || HYPHENS.iter().any(|&at| text[at] != b'-') {
        return Err(malformed());
    }
    let digits: Vec<u8> =
        text.iter().enumerate().filter(|(at, _)| !HYPHENS.contains(at)).map(|(_, &byte)| byte).collect();
    let bytes = super::binary::from_hex(&digits).and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUID: abi::Guid =
        abi::Guid { data1: 0x0123_4567, data2: 0x89AB, data3: 0xCDEF, data4: [1, 2, 3, 4, 5, 6, 7, 8] };

    #[test]
    fn bytes_and_text_are_in_network_order() {
        let bytes = bytes(GUID);
        assert_eq!(bytes, [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(text(&bytes), "01234567-89AB-CDEF-0102-030405060708");
    }

    #[test]
    fn text_is_read_in_both_cases_and_with_braces() {
        for text in [
            "01234567-89AB-CDEF-0102-030405060708",
            "01234567-89ab-cdef-0102-030405060708 ",
            "{01234567-89Ab-CdEf-0102-030405060708}",
        ] {
            assert_eq!(parse(text), Ok(bytes(GUID)), "{text}");
        }
        for text in [
            "",
            "{",
            "{}",
            "01234567-89AB-CDEF-0102-03040506070",
            "01234567-89AB-CDEF-0102-030405060708}",
            "{01234567-89AB-CDEF-0102-030405060708",
            "0123456789ABCDEF0102030405060708",
            "0123456-789AB-CDEF-0102-030405060708",
            "01234567-89AB-CDEF-0102-03040506070G",
            "01234567-89AB-CDEF-0102-0304050607é",
        ] {
            assert_eq!(
                parse(text).map_err(|failure| failure.state),
                Err(State::BAD_CHARACTER_VALUE),
                "{text}"
            );
        }
    }
}
