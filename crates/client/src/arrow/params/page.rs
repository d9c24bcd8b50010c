//! Text for parameters of CHARACTER SET NONE, in the code page in which the caller reads such columns. The engine stores
//! its bytes unchanged.

use super::bytes::ByteValues;
use super::error::{ParamErrorKind, Reason, RowReason};
use arrow::array::{Array, ArrayRef, LargeBinaryBuilder};
use encoding_rs::Encoding;
use std::borrow::Cow;
use std::sync::Arc;

/// Returns the texts in this code page; the same array if all of them are ASCII.
pub(super) fn encoded(array: ArrayRef, page: &'static Encoding) -> Result<ArrayRef, RowReason> {
    let Some(values) = ByteValues::of(&array) else { return Ok(array) };
    let valid = || (0..array.len()).filter(|&row| array.is_valid(row));
    if valid().all(|row| values.value(row).is_ascii()) {
        return Ok(array);
    }
    let total = valid().map(|row| values.value(row).len()).sum();
    // Large offsets, since some code pages need more bytes than UTF-8.
    let mut builder = LargeBinaryBuilder::with_capacity(array.len(), total);
    for row in 0..array.len() {
        if array.is_null(row) {
            builder.append_null();
            continue;
        }
        let text = std::str::from_utf8(values.value(row)).unwrap_or_default();
        builder.append_value(encode(text, page).map_err(|reason| reason.in_row(row))?);
    }
    Ok(Arc::new(builder.finish()))
}

fn encode<'t>(text: &'t str, page: &'static Encoding) -> Result<Cow<'t, [u8]>, Reason> {
    exact(text, page).ok_or_else(|| {
        let mut buffer = [0; 4];
        let lacking = text.chars().find(|each| exact(each.encode_utf8(&mut buffer), page).is_none());
        let name = page.name().to_ascii_lowercase();
        let message = format!(
            "{:?} is not in {name}, which none_encoding says is the encoding of CHARACTER SET NONE; replace the \
             character, choose another none_encoding, or declare the column with CHARACTER SET UTF8",
            lacking.unwrap_or('\u{fffd}')
        );
        Reason::new(ParamErrorKind::Malformed, message)
    })
}

/// The bytes of a text that read back as the same text. Some multi-byte code pages have encoders that replace characters by
/// similar ones.
fn exact<'t>(text: &'t str, page: &'static Encoding) -> Option<Cow<'t, [u8]>> {
    let (bytes, _, is_lossy) = page.encode(text);
    let is_same =
        || page.decode_without_bom_handling_and_without_replacement(&bytes).as_deref() == Some(text);
    (!is_lossy && (page.is_single_byte() || is_same())).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{AsArray, StringArray, StringViewArray};

    #[test]
    fn texts_are_in_the_code_page() {
        let texts: ArrayRef =
            Arc::new(StringArray::from(vec![Some("J\u{f6}rg"), None, Some("a\u{20ac}"), Some("")]));
        let array = encoded(texts, encoding_rs::WINDOWS_1252).expect("it has them");
        let values: Vec<_> = array.as_binary::<i64>().iter().collect();
        assert_eq!(values, [Some(&b"J\xf6rg"[..]), None, Some(b"a\x80"), Some(b"")]);
        let views: ArrayRef = Arc::new(StringViewArray::from(vec!["\u{30c6}\u{30b9}\u{30c8}"]));
        let array = encoded(views, encoding_rs::SHIFT_JIS).expect("it has them");
        assert_eq!(array.as_binary::<i64>().value(0), b"\x83\x65\x83\x58\x83\x67");
        let plain: ArrayRef = Arc::new(StringArray::from(vec![Some("abc"), None]));
        let same = encoded(Arc::clone(&plain), encoding_rs::WINDOWS_1252).expect("it is ASCII");
        assert!(Arc::ptr_eq(&same, &plain));
    }

    #[test]
    fn a_character_that_the_code_page_lacks_is_named() {
        for (page, text, character) in [
            (encoding_rs::WINDOWS_1252, "\u{f6}\u{141}", "'\u{141}'"),
            (encoding_rs::ISO_8859_2, "\u{20ac}", "'\u{20ac}'"),
            // It would come back as a backslash.
            (encoding_rs::SHIFT_JIS, "100\u{a5}", "'\u{a5}'"),
        ] {
            let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", text]));
            let RowReason { row, reason } = encoded(texts, page).expect_err("it lacks one");
            assert_eq!((row, reason.kind), (1, ParamErrorKind::Malformed));
            assert!(reason.message.starts_with(character), "{}", reason.message);
        }
    }

    #[test]
    fn every_byte_that_is_read_is_written_again() {
        use encoding_rs::*;
        for page in [
            WINDOWS_1250,
            WINDOWS_1251,
            WINDOWS_1252,
            WINDOWS_1253,
            WINDOWS_1254,
            WINDOWS_1255,
            WINDOWS_1256,
            WINDOWS_1257,
            WINDOWS_1258,
            ISO_8859_2,
            ISO_8859_3,
            ISO_8859_13,
            KOI8_R,
            KOI8_U,
            IBM866,
        ] {
            for byte in 0..=u8::MAX {
                let bytes = [byte];
                if let Some(text) = page.decode_without_bom_handling_and_without_replacement(&bytes) {
                    assert_eq!(encode(&text, page).as_deref(), Ok(&bytes[..]), "{} {byte:#x}", page.name());
                }
            }
        }
    }
}
