//! Text in a code page.

use super::cell::{Cell, Written};
use super::fault::Fault;
use super::piece::Piece;
use super::plan::Settings;
use super::text::rest;
use super::unit::Unit;
use crate::text::{CodePage, NarrowEncoding};
use arrow::array::StringArray;

/// Text in the code page of the settings. A value with a character that it lacks fails, before anything of it is
/// handed out.
pub(super) struct Paged;

impl Cell for Paged {
    type Column = StringArray;
    const LEAST: usize = 2;
    const TERMINATOR: usize = 1;

    #[inline]
    unsafe fn put(
        value: &str,
        settings: &Settings,
        data: *mut u8,
        capacity: usize,
        piece: &mut Piece,
    ) -> Result<Written, Fault> {
        let NarrowEncoding::Page(page) = settings.narrow else { return Err(Fault::NotInCodePage) };
        let rest = rest(settings.limited(value), piece)?;
        (piece.units, piece.is_within_pair) = (None, false);
        let total = match piece.page_bytes {
            Some(total) => total,
            None => length(rest, page)? - usize::from(piece.is_within_bytes),
        };
        piece.page_bytes = Some(total);
        let room = if data.is_null() { None } else { capacity.checked_sub(1) };
        let Some(room) = room else {
            return Ok(Written { length: total, warning: (!data.is_null()).then_some(Fault::Cut) });
        };
        // SAFETY: so many bytes and the terminator are within the capacity.
        let (read, written) = unsafe {
            let (read, written) = fill(rest, page, data, room, piece)?;
            u8::terminate(data, written);
            (read, written)
        };
        piece.page_bytes = Some(total - written);
        piece.advance(read, rest.len());
        Ok(Written { length: total, warning: (read < rest.len()).then_some(Fault::Cut) })
    }
}

/// The bytes of text in a code page.
fn length(text: &str, page: &CodePage) -> Result<usize, Fault> {
    if page.is_same(text.as_bytes()) {
        return Ok(text.len());
    }
    let lengths = text.chars().map(|character| page.bytes_of(character).map(|bytes| bytes.as_bytes().len()));
    lengths.sum::<Option<usize>>().ok_or(Fault::NotInCodePage)
}

/// Writes at most so many bytes. A character that does not fit gives its first byte, if pieces fill their buffers,
/// and the next piece the other. Returns the bytes read, which do not count before the whole character was written,
/// and those written.
///
/// # Safety
/// So many bytes may be written.
unsafe fn fill(
    text: &str,
    page: &CodePage,
    to: *mut u8,
    room: usize,
    piece: &mut Piece,
) -> Result<(usize, usize), Fault> {
    if text.len() <= room && page.is_same(text.as_bytes()) {
        // SAFETY: the caller's promise.
        unsafe { u8::put(text.as_bytes(), to) };
        return Ok((text.len(), text.len()));
    }
    let (mut read, mut written) = (0, 0);
    for character in text.chars() {
        let bytes = page.bytes_of(character).ok_or(Fault::NotInCodePage)?;
        let left = &bytes.as_bytes()[usize::from(piece.is_within_bytes)..];
        let fits = left.len().min(room - written);
        if fits < left.len() && (fits == 0 || !piece.fills) {
            break;
        }
        // SAFETY: there is room for them.
        unsafe { u8::put(&left[..fits], to.add(written)) };
        written += fits;
        piece.is_within_bytes = fits < left.len();
        if piece.is_within_bytes {
            break;
        }
        read += character.len_utf8();
    }
    Ok((read, written))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::c_type;
    use crate::convert::Wanted;
    use crate::convert::testing::{Call, get, texts, wanted};
    use crate::text::testing::{shift_jis, win1251};
    use arrow::array::StringArray;
    use proptest::prelude::*;

    fn in_page(page: &'static CodePage) -> Wanted {
        Wanted { narrow: NarrowEncoding::Page(page), ..wanted(c_type::CHAR) }
    }

    fn whole(text: &str, page: &'static CodePage, capacity: usize) -> Call {
        get(&StringArray::from(vec![text]), 0, in_page(page), capacity, &mut Piece::default())
    }

    #[test]
    fn text_is_cut_between_characters() {
        let cut = Some("01004");
        assert_eq!(whole("Да!", win1251(), 4), Call::Bytes(b"\xC4\xE0!\0".into(), 3, None));
        assert_eq!(whole("Да!", win1251(), 3), Call::Bytes(b"\xC4\xE0\0".into(), 3, cut));
        assert_eq!(whole("Да!", win1251(), 0), Call::Bytes(vec![], 3, cut));
        assert_eq!(whole("abc", win1251(), 3), Call::Bytes(b"ab\0".into(), 3, cut));
        assert_eq!(whole("日本", shift_jis(), 5), Call::Bytes(b"\x93\xFA\x96\x7B\0".into(), 4, None));
        assert_eq!(whole("日本", shift_jis(), 4), Call::Bytes(b"\x93\xFA\0\xAA".into(), 4, cut));
        assert_eq!(whole("", shift_jis(), 4), Call::Bytes(b"\0\xAA\xAA\xAA".into(), 0, None));
    }

    #[test]
    fn nothing_is_replaced() {
        let array = StringArray::from(vec![Some("a"), Some("aé"), None, Some("z")]);
        let text = |text: &str| Ok((text.to_owned(), 1, None));
        let expected = [text("a"), Err("22018"), Err("NULL"), text("z")];
        assert_eq!(texts(&array, in_page(win1251()), 4), expected);
        // It can be read as another type.
        let mut piece = Piece::default();
        assert_eq!(get(&array, 1, in_page(win1251()), 9, &mut piece), Call::Failed("22018"));
        let wide = get(&array, 1, wanted(c_type::WCHAR), 6, &mut piece);
        assert_eq!(wide, Call::Bytes(vec![b'a', 0, 0xE9, 0, 0, 0], 4, None));
    }

    #[test]
    fn pieces_fill_their_buffers() {
        let array = StringArray::from(vec!["日本a"]);
        let cut = Some("01004");
        let mut piece = Piece::filling();
        let mut read = |wanted, capacity| get(&array, 0, wanted, capacity, &mut piece);
        let page = in_page(shift_jis());
        assert_eq!(read(page, 2), Call::Bytes(b"\x93\0".into(), 5, cut));
        assert_eq!(read(page, 0), Call::Bytes(vec![], 4, cut));
        assert_eq!(read(page, 3), Call::Bytes(b"\xFA\x96\0".into(), 4, cut));
        // Another type begins with the whole character.
        assert_eq!(read(wanted(c_type::WCHAR), 4), Call::Bytes(vec![0x2C, 0x67, 0, 0], 4, cut));
        assert_eq!(read(page, 2), Call::Bytes(b"a\0".into(), 1, None));
        assert_eq!(read(page, 2), Call::NoData);
    }

    proptest! {
        #[test]
        fn pieces_make_the_text(
            text in "[ -~日本ｱ]{0,12}",
            capacities in prop::collection::vec(0_usize..9, 1..8),
            fills in any::<bool>(),
        ) {
            let array = StringArray::from(vec![text.as_str()]);
            let expected = shift_jis().encode(&text).expect("it has them").into_owned();
            let (mut piece, mut all) = (if fills { Piece::filling() } else { Piece::default() }, Vec::new());
            for capacity in capacities.iter().copied().chain(std::iter::repeat(5)) {
                match get(&array, 0, in_page(shift_jis()), capacity, &mut piece) {
                    Call::Bytes(bytes, length, warning) => {
                        let left = expected.len() - all.len();
                        prop_assert_eq!(length, left.cast_signed());
                        let room = capacity.saturating_sub(1).min(left);
                        let fits = if fills { room } else { shift_jis().floor(&expected[all.len()..], room) };
                        prop_assert_eq!(warning.is_some(), fits < left || (left > 0 && capacity < 2), "{}", capacity);
                        all.extend_from_slice(&bytes[..fits]);
                    }
                    Call::NoData => break,
                    Call::Failed(state) => prop_assert!(false, "{state}"),
                }
            }
            prop_assert_eq!(all, expected);
        }
    }
}
