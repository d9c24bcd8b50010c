//! Text in and out: UTF-8 or a code page for the narrow functions, UTF-16 for the wide ones.

mod narrow;
mod page;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use narrow::NarrowEncoding;
pub(crate) use page::CodePage;

use std::slice;

/// Text that is handed out in both encodings without converting it again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    narrow: Box<str>,
    wide: Box<[u16]>,
}

impl Text {
    pub(crate) fn as_str(&self) -> &str {
        &self.narrow
    }

    pub(crate) fn as_wide(&self) -> &[u16] {
        &self.wide
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self { narrow: text.into(), wide: text.encode_utf16().collect() }
    }
}

/// What became of text that was handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// Code units of the whole text, without the terminator.
    pub(crate) length: usize,
    /// Whether some did not fit.
    pub(crate) is_cut: bool,
}

/// Writes encoded text and a terminator into a buffer of `capacity` bytes. No character is split. Nothing is written
/// to a NULL or empty buffer; a NULL one cuts nothing, since nobody wanted the text.
///
/// # Safety
/// `buffer` is NULL or may be written up to its capacity.
pub(crate) unsafe fn write_narrow(
    text: &[u8],
    narrow: NarrowEncoding,
    buffer: *mut u8,
    capacity: usize,
) -> Written {
    let length = text.len();
    if buffer.is_null() {
        return Written { length, is_cut: false };
    }
    let Some(most) = capacity.checked_sub(1) else { return Written { length, is_cut: true } };
    let fits = narrow.floor(text, most);
    // SAFETY: `fits` and the terminator are within the capacity, and the text is not the caller's buffer.
    unsafe {
        buffer.copy_from_nonoverlapping(text.as_ptr(), fits);
        buffer.add(fits).write(0);
    }
    Written { length, is_cut: fits < length }
}

/// As [`write_narrow`], into a buffer of `capacity` UTF-16 code units, which may be unaligned.
///
/// # Safety
/// As for [`write_narrow`].
pub(crate) unsafe fn write_wide(text: &[u16], buffer: *mut u16, capacity: usize) -> Written {
    let length = text.len();
    if buffer.is_null() {
        return Written { length, is_cut: false };
    }
    let Some(most) = capacity.checked_sub(1) else { return Written { length, is_cut: true } };
    let fits = floor_pair_boundary(text, most);
    // SAFETY: as above; bytes need no alignment.
    unsafe {
        buffer.cast::<u8>().copy_from_nonoverlapping(text.as_ptr().cast(), 2 * fits);
        buffer.add(fits).write_unaligned(0);
    }
    Written { length, is_cut: fits < length }
}

/// The end of the last whole character within `most` bytes.
pub(crate) fn floor_char_boundary(text: &str, most: usize) -> usize {
    if most >= text.len() {
        return text.len();
    }
    (0..=most).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0)
}

/// The end of the last whole character within `most` code units.
pub(crate) fn floor_pair_boundary(text: &[u16], most: usize) -> usize {
    if most >= text.len() {
        return text.len();
    }
    let splits = most > 0 && is_high_surrogate(text[most - 1]) && is_low_surrogate(text[most]);
    most - usize::from(splits)
}

fn is_high_surrogate(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

fn is_low_surrogate(unit: u16) -> bool {
    (0xDC00..0xE000).contains(&unit)
}

/// Why text from an application cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadText {
    /// A negative length that is not `SQL_NTS`.
    Length,
    /// Bytes that are no text, or a lone surrogate.
    Encoding,
}

/// Reads narrow text of `length` bytes, or up to its terminator. `None` for NULL.
///
/// # Safety
/// `text` is NULL, or has so many bytes or a terminator.
pub(crate) unsafe fn read_narrow(
    text: *const u8,
    narrow: NarrowEncoding,
    length: isize,
) -> Result<Option<String>, BadText> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let length = unsafe { count(length, |at| *text.add(at) == 0) }?;
    // SAFETY: as above.
    let bytes = unsafe { slice::from_raw_parts(text, length) };
    narrow.decode(bytes).map(|text| Some(text.into_owned())).ok_or(BadText::Encoding)
}

/// Reads wide text of `length` code units, or up to its terminator. It may be unaligned. `None` for NULL.
///
/// # Safety
/// As for [`read_narrow`].
pub(crate) unsafe fn read_wide(text: *const u16, length: isize) -> Result<Option<String>, BadText> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let length = unsafe { count(length, |at| text.add(at).read_unaligned() == 0) }?;
    // SAFETY: as above.
    let units = (0..length).map(|at| unsafe { text.add(at).read_unaligned() });
    char::decode_utf16(units).collect::<Result<String, _>>().map(Some).map_err(|_| BadText::Encoding)
}

/// The given length, or that up to a terminator.
fn count(length: isize, is_end: impl Fn(usize) -> bool) -> Result<usize, BadText> {
    match length {
        crate::abi::NTS => Ok((0..).find(|&at| is_end(at)).unwrap_or(0)),
        length => usize::try_from(length).map_err(|_| BadText::Length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_text_is_cut_between_characters() {
        let mut buffer = [0xAA_u8; 6];
        // SAFETY: the capacity is the buffer's.
        let written =
            unsafe { write_narrow("aé€x".as_bytes(), NarrowEncoding::Utf8, buffer.as_mut_ptr(), 6) };
        assert_eq!(written, Written { length: 7, is_cut: true });
        assert_eq!(buffer, [b'a', 0xC3, 0xA9, 0, 0xAA, 0xAA]);
        // SAFETY: as above.
        let written = unsafe { write_narrow(b"ab", NarrowEncoding::Utf8, buffer.as_mut_ptr(), 1) };
        assert_eq!((written.is_cut, buffer[0]), (true, 0));
        // SAFETY: nothing may be written.
        let nothing = unsafe {
            (
                write_narrow(b"ab", NarrowEncoding::Utf8, buffer.as_mut_ptr(), 0),
                write_narrow(b"ab", NarrowEncoding::Utf8, std::ptr::null_mut(), 9),
            )
        };
        assert_eq!(nothing, (Written { length: 2, is_cut: true }, Written { length: 2, is_cut: false }));
        assert_eq!(buffer[0], 0);
    }

    #[test]
    fn text_in_a_code_page_is_cut_between_characters() {
        let narrow = NarrowEncoding::Page(testing::shift_jis());
        let text = narrow.encode("a日本").expect("it has them");
        let mut buffer = [0xAA_u8; 6];
        // SAFETY: the capacity is less than the buffer's.
        let written = unsafe { write_narrow(&text, narrow, buffer.as_mut_ptr(), 5) };
        assert_eq!(written, Written { length: 5, is_cut: true });
        assert_eq!(buffer, [b'a', 0x93, 0xFA, 0, 0xAA, 0xAA]);
        // SAFETY: it has a terminator.
        let read = unsafe { read_narrow(buffer.as_ptr(), narrow, -3) };
        assert_eq!(read, Ok(Some("a日".into())));
    }

    #[test]
    fn wide_text_is_cut_between_characters() {
        let text = Text::from("a😀b");
        let mut buffer = [0xAAAA_u16; 5];
        // SAFETY: the capacity is less than the buffer's.
        let written = unsafe { write_wide(text.as_wide(), buffer.as_mut_ptr(), 3) };
        assert_eq!(written, Written { length: 4, is_cut: true });
        assert_eq!(buffer[..2], ['a' as u16, 0]);
        // SAFETY: the capacity is the buffer's.
        let written = unsafe { write_wide(text.as_wide(), buffer.as_mut_ptr(), 5) };
        assert_eq!(written, Written { length: 4, is_cut: false });
        assert_eq!((&buffer[..4], buffer[4]), (text.as_wide(), 0));
    }

    #[test]
    fn text_ends_at_its_length_or_terminator() {
        const TEXT: &std::ffi::CStr = c"abc";
        // SAFETY: all of these have their length or a terminator.
        unsafe {
            assert_eq!(read_narrow(TEXT.as_ptr().cast(), NarrowEncoding::Utf8, -3), Ok(Some("abc".into())));
            assert_eq!(read_narrow(TEXT.as_ptr().cast(), NarrowEncoding::Utf8, 2), Ok(Some("ab".into())));
            assert_eq!(read_narrow(TEXT.as_ptr().cast(), NarrowEncoding::Utf8, -2), Err(BadText::Length));
            assert_eq!(read_narrow(std::ptr::null(), NarrowEncoding::Utf8, 5), Ok(None));
            assert_eq!(read_narrow([0xFF, 0].as_ptr(), NarrowEncoding::Utf8, -3), Err(BadText::Encoding));
            let wide: Vec<u16> = "é😀\0".encode_utf16().collect();
            assert_eq!(read_wide(wide.as_ptr(), -3), Ok(Some("é😀".into())));
            assert_eq!(read_wide(wide.as_ptr(), 2), Err(BadText::Encoding));
            assert_eq!(read_wide(wide.as_ptr(), 1), Ok(Some("é".into())));
        }
    }
}
