//! Text, narrow and wide.

use super::cell::{Cell, Written};
use super::fault::Fault;
use super::piece::Piece;
use super::plan::Settings;
use super::unit::Unit;
use crate::text::floor_char_boundary;
use arrow::array::StringArray;

/// Text as UTF-8.
pub(super) struct Narrow;

impl Cell for Narrow {
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
        let text = settings.limited(value);
        let rest = text.as_bytes().get(piece.position..).unwrap_or_default();
        let length = rest.len();
        if data.is_null() {
            return Ok(Written { length, warning: None });
        }
        let Some(room) = capacity.checked_sub(1) else {
            return Ok(Written { length, warning: Some(Fault::Cut) });
        };
        let fits = match length <= room {
            true => length,
            false if piece.fills => room,
            false => floor_char_boundary(text, piece.position + room) - piece.position,
        };
        // SAFETY: these bytes and the terminator are within the capacity.
        unsafe {
            u8::put(&rest[..fits], data);
            u8::terminate(data, fits);
        }
        piece.advance(fits, length);
        // Another call may want wide text.
        piece.forget_units();
        Ok(Written { length, warning: (fits < length).then_some(Fault::Cut) })
    }
}

/// Text as UTF-16.
pub(super) struct Wide;

impl Cell for Wide {
    type Column = StringArray;
    const LEAST: usize = 4;
    const TERMINATOR: usize = 2;

    #[inline]
    unsafe fn put(
        value: &str,
        settings: &Settings,
        data: *mut u8,
        capacity: usize,
        piece: &mut Piece,
    ) -> Result<Written, Fault> {
        let rest = rest(settings.limited(value), piece)?;
        (piece.page_bytes, piece.is_within_bytes) = (None, false);
        let room = if data.is_null() { None } else { (capacity / 2).checked_sub(1) };
        let Some(room) = room else {
            let half = usize::from(piece.is_within_pair);
            let units = *piece.units.get_or_insert_with(|| count_units(rest) - half);
            return Ok(Written { length: 2 * units, warning: (!data.is_null()).then_some(Fault::Cut) });
        };
        // SAFETY: so many units and the terminator are within the capacity.
        let (bytes, units) = unsafe {
            let (bytes, units) = match piece.fills {
                true => fill(rest, data, room, &mut piece.is_within_pair),
                false => encode(rest, data, room),
            };
            u16::terminate(data, units);
            (bytes, units)
        };
        let total = match bytes == rest.len() {
            true => units,
            false => {
                let half = usize::from(piece.is_within_pair);
                piece.units.unwrap_or_else(|| units + count_units(&rest[bytes..]) - half)
            }
        };
        piece.units = Some(total - units);
        piece.advance(bytes, rest.len());
        Ok(Written { length: 2 * total, warning: (bytes < rest.len()).then_some(Fault::Cut) })
    }
}

/// What was not handed out yet. Pieces of binary data can end within a character, which text cannot go on from.
#[inline]
pub(super) fn rest<'a>(text: &'a str, piece: &Piece) -> Result<&'a str, Fault> {
    text.get(piece.position..).ok_or(Fault::NotALiteral)
}

/// As [`encode`], but a pair that does not fit gives its first half. `is_within_pair` says that text begins with a pair
/// whose first half was written before. The bytes of a pair count once both halves are written.
///
/// # Safety
/// So many units may be written.
unsafe fn fill(text: &str, to: *mut u8, room: usize, is_within_pair: &mut bool) -> (usize, usize) {
    let pair = |text: &str| {
        let mut units = [0; 2];
        let first = text.chars().next().filter(|first| first.len_utf16() == 2)?;
        first.encode_utf16(&mut units);
        Some(units)
    };
    let (mut read, mut written) = (0, 0);
    if let Some([_, low]) = pair(text).filter(|_| *is_within_pair) {
        if room == 0 {
            return (0, 0);
        }
        // SAFETY: there is room for it.
        unsafe { to.cast::<u16>().write_unaligned(low) };
        (read, written) = (4, 1);
    }
    // SAFETY: the rest of the room.
    let (bytes, units) = unsafe { encode(&text[read..], to.add(2 * written), room - written) };
    (read, written) = (read + bytes, written + units);
    *is_within_pair = false;
    if written < room
        && let Some([high, _]) = pair(&text[read..])
    {
        // SAFETY: there is room for it.
        unsafe { to.add(2 * written).cast::<u16>().write_unaligned(high) };
        *is_within_pair = true;
        written += 1;
    }
    (read, written)
}

/// Writes at most so many code units, and no half of a pair. Returns the bytes read and the units written.
///
/// # Safety
/// So many units may be written.
#[inline]
unsafe fn encode(text: &str, to: *mut u8, room: usize) -> (usize, usize) {
    if text.len() <= room && text.is_ascii() {
        // SAFETY: the caller's promise.
        unsafe { u16::put(text.as_bytes(), to) };
        return (text.len(), text.len());
    }
    // SAFETY: the caller's promise.
    unsafe { encode_mixed(text, to, room) }
}

unsafe fn encode_mixed(text: &str, to: *mut u8, room: usize) -> (usize, usize) {
    /// Bytes that are worth a look whether all of them are ASCII, and characters before the next look.
    const BLOCK: usize = 16;
    let to = to.cast::<u16>();
    let (mut read, mut written) = (0, 0);
    while read < text.len() {
        // ASCII ends on a character boundary.
        while let Some(block) = text.as_bytes().get(read..read + BLOCK)
            && room - written >= BLOCK
            && block.is_ascii()
        {
            // SAFETY: there is room for them.
            unsafe { u16::put(block, to.add(written).cast()) };
            (read, written) = (read + BLOCK, written + BLOCK);
        }
        for character in text[read..].chars().take(BLOCK) {
            let units = character.len_utf16();
            if units > room - written {
                return (read, written);
            }
            // SAFETY: there is room for them.
            unsafe {
                if units == 1 {
                    to.add(written).write_unaligned(character as u16);
                } else {
                    let mut pair = [0; 2];
                    character.encode_utf16(&mut pair);
                    to.add(written).cast::<[u16; 2]>().write_unaligned(pair);
                }
            }
            (read, written) = (read + character.len_utf8(), written + units);
        }
    }
    (read, written)
}

/// The UTF-16 code units of text: one for each character, and another for each of four bytes.
fn count_units(text: &str) -> usize {
    let units = |byte: &u8| usize::from((byte & 0xC0) != 0x80) + usize::from(*byte >= 0xF0);
    text.as_bytes().iter().map(units).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::c_type;
    use crate::convert::testing::{Call, get, terminated, texts, values, wanted};
    use crate::convert::{Wanted, plan};
    use arrow::array::Array;
    use proptest::prelude::*;

    const MIXED: &str = "aé€😀b";

    #[test]
    fn narrow_text_is_cut_between_characters() {
        let array = StringArray::from(vec![Some(MIXED), Some(""), None, Some("abc")]);
        let fetch = |capacity| texts(&array, wanted(c_type::CHAR), capacity);
        let text = |text: &str, length, warning| Ok((text.to_owned(), length, warning));
        let (cut, null) = (Some("01004"), Err("NULL"));
        assert_eq!(fetch(12), [text(MIXED, 11, None), text("", 0, None), null.clone(), text("abc", 3, None)]);
        assert_eq!(
            fetch(11),
            [text("aé€😀", 11, cut), text("", 0, None), null.clone(), text("abc", 3, None)]
        );
        assert_eq!(fetch(10)[0], text("aé€", 11, cut));
        assert_eq!(fetch(3), [text("a", 11, cut), text("", 0, None), null.clone(), text("ab", 3, cut)]);
        assert_eq!(fetch(1), [text("", 11, cut), text("", 0, None), null, text("", 3, cut)]);
    }

    #[test]
    fn wide_text_is_cut_between_characters() {
        let array = StringArray::from(vec![Some(MIXED), Some(""), None, Some("abc")]);
        let fetch = |units| texts(&array, wanted(c_type::WCHAR), units);
        let text = |text: &str, length, warning| Ok((text.to_owned(), length, warning));
        let (cut, null) = (Some("01004"), Err("NULL"));
        assert_eq!(fetch(7), [text(MIXED, 12, None), text("", 0, None), null.clone(), text("abc", 6, None)]);
        assert_eq!(fetch(6)[0], text("aé€😀", 12, cut));
        assert_eq!(fetch(5)[0], text("aé€", 12, cut));
        assert_eq!(fetch(3), [text("aé", 12, cut), text("", 0, None), null.clone(), text("ab", 6, cut)]);
        assert_eq!(fetch(1), [text("", 12, cut), text("", 0, None), null, text("", 6, cut)]);
    }

    #[test]
    fn max_length_cuts_silently() {
        let array = StringArray::from(vec![MIXED]);
        let limited = |c_type, max_length| Wanted { max_length, ..wanted(c_type) };
        let text = |text: &str, length| [Ok((text.to_owned(), length, None))];
        assert_eq!(texts(&array, limited(c_type::CHAR, 5), 20), text("aé", 3));
        assert_eq!(texts(&array, limited(c_type::CHAR, 11), 20), text(MIXED, 11));
        assert_eq!(texts(&array, limited(c_type::WCHAR, 6), 20), text("aé€", 6));
        let mut piece = Piece::default();
        let mut call = |capacity| get(&array, 0, limited(c_type::BINARY, 3), capacity, &mut piece);
        assert_eq!(call(2), Call::Bytes(b"a\xC3".to_vec(), 3, Some("01004")));
        assert_eq!(call(1), Call::Bytes(vec![0xA9], 1, None));
        assert_eq!(call(1), Call::NoData);
    }

    #[test]
    fn a_binary_buffer_receives_utf8() {
        let array = StringArray::from(vec!["é€"]);
        assert_eq!(values(&array, wanted(c_type::BINARY)), [Ok(([0xC3_u8, 0xA9, 0xE2, 0x82, 0xAC], None))]);
    }

    /// Other C types may follow while a value is handed out, unless they would lose a part of a character.
    #[test]
    fn pieces_of_different_types_go_on() {
        let array = StringArray::from(vec!["aé😀z"]);
        let mut piece = Piece::default();
        let cut = Some("01004");
        assert_eq!(
            get(&array, 0, wanted(c_type::WCHAR), 4, &mut piece),
            Call::Bytes(vec![b'a', 0, 0, 0], 10, cut)
        );
        assert_eq!(
            get(&array, 0, wanted(c_type::CHAR), 3, &mut piece),
            Call::Bytes(vec![0xC3, 0xA9, 0], 7, cut)
        );
        assert_eq!(get(&array, 0, wanted(c_type::WCHAR), 0, &mut piece), Call::Bytes(vec![], 6, cut));
        assert_eq!(get(&array, 0, wanted(c_type::BINARY), 1, &mut piece), Call::Bytes(vec![0xF0], 5, cut));
        assert_eq!(get(&array, 0, wanted(c_type::WCHAR), 9, &mut piece), Call::Failed("22018"));
        assert_eq!(
            get(&array, 0, wanted(c_type::BINARY), 4, &mut piece),
            Call::Bytes(vec![0x9F, 0x98, 0x80, b'z'], 4, None)
        );
        assert_eq!(get(&array, 0, wanted(c_type::BINARY), 4, &mut piece), Call::NoData);
    }

    #[test]
    fn pieces_fill_their_buffers() {
        let array = StringArray::from(vec!["😀é€"]);
        let cut = Some("01004");
        let mut piece = Piece::filling();
        let mut narrow = |capacity| get(&array, 0, wanted(c_type::CHAR), capacity, &mut piece);
        assert_eq!(narrow(3), Call::Bytes(vec![0xF0, 0x9F, 0], 9, cut));
        assert_eq!(narrow(5), Call::Bytes(vec![0x98, 0x80, 0xC3, 0xA9, 0], 7, cut));
        assert_eq!(narrow(4), Call::Bytes(vec![0xE2, 0x82, 0xAC, 0], 3, None));
        assert_eq!(narrow(4), Call::NoData);

        let mut piece = Piece::filling();
        let mut wide = |capacity| get(&array, 0, wanted(c_type::WCHAR), capacity, &mut piece);
        assert_eq!(wide(5), Call::Bytes(vec![0x3D, 0xD8, 0, 0, 0xAA], 8, cut));
        assert_eq!(wide(0), Call::Bytes(vec![], 6, cut));
        assert_eq!(wide(4), Call::Bytes(vec![0x00, 0xDE, 0, 0], 6, cut));
        assert_eq!(wide(6), Call::Bytes(vec![0xE9, 0, 0xAC, 0x20, 0, 0], 4, None));
        assert_eq!(wide(6), Call::NoData);
    }

    proptest! {
        #[test]
        fn filling_pieces_make_the_text(text in "([ -~]{0,3}|.){0,6}", capacities in prop::collection::vec(2_usize..30, 1..8)) {
            let array = StringArray::from(vec![text.as_str()]);
            let whole: Vec<u16> = text.encode_utf16().collect();
            let (mut piece, mut units) = (Piece::filling(), Vec::new());
            for capacity in capacities.iter().copied().chain(std::iter::repeat(6)) {
                match get(&array, 0, wanted(c_type::WCHAR), capacity, &mut piece) {
                    Call::Bytes(bytes, length, warning) => {
                        let (left, room) = (whole.len() - units.len(), capacity / 2 - 1);
                        prop_assert_eq!((length, warning.is_some()), (2 * left.cast_signed(), left > room));
                        units.extend(bytes.chunks_exact(2).take(left.min(room)).map(|unit| u16::from_ne_bytes([unit[0], unit[1]])));
                    }
                    Call::NoData => break,
                    Call::Failed(state) => prop_assert!(false, "{state}"),
                }
            }
            prop_assert_eq!(units, whole);
        }

        #[test]
        fn text_is_what_was_encoded(text in "([ -~]{0,20}|.){0,6}", units in 1_usize..80) {
            let array = StringArray::from(vec![text.replace('\0', " ")]);
            let text = array.value(0);
            let wide: Vec<u16> = text.encode_utf16().collect();
            let (fetched, length, warning) =
                texts(&array, wanted(c_type::WCHAR), units)[0].clone().expect("text");
            prop_assert_eq!(length, 2 * wide.len().cast_signed());
            prop_assert_eq!(warning.is_some(), wide.len() >= units);
            let fits = crate::text::floor_pair_boundary(&wide, units - 1);
            prop_assert_eq!(fetched, String::from_utf16(&wide[..fits]).expect("whole pairs"));
        }

        #[test]
        fn pieces_make_the_text(text in "([ -~]{0,20}|.){0,6}", capacities in prop::collection::vec(0_usize..30, 1..8)) {
            let array = StringArray::from(vec![text.replace('\0', " ")]);
            let text = array.value(0);
            for (c_type, is_wide) in [(c_type::CHAR, false), (c_type::WCHAR, true)] {
                let (mut piece, mut whole) = (Piece::default(), String::new());
                for capacity in capacities.iter().copied().chain(std::iter::repeat(24)) {
                    let left = &text[whole.len()..];
                    let length = if is_wide { 2 * left.encode_utf16().count() } else { left.len() };
                    match get(&array, 0, wanted(c_type), capacity, &mut piece) {
                        Call::Bytes(bytes, reported, warning) => {
                            prop_assert_eq!(reported, length.cast_signed());
                            if capacity > usize::from(is_wide) {
                                whole += &terminated(&bytes, is_wide);
                            }
                            prop_assert_eq!(warning, (whole.len() < text.len()).then_some("01004"));
                        }
                        Call::NoData => break,
                        Call::Failed(state) => prop_assert!(false, "{state}"),
                    }
                }
                prop_assert_eq!(&whole, text);
            }
        }
    }

    /// Counting the rest of the text for each piece would take minutes.
    #[test]
    fn long_wide_text_takes_linear_time() {
        let text = "0123456789é😀".repeat(1 << 19);
        let array = StringArray::from(vec![text.as_str()]);
        let writer = plan(array.data_type(), &wanted(c_type::WCHAR)).expect("a conversion");
        let (mut buffer, mut length, mut piece) = ([0_u8; 66], 0, Piece::default());
        let slot = crate::convert::Slots {
            data: buffer.as_mut_ptr(),
            data_step: 0,
            capacity: 66,
            length: &mut length,
            indicator: &mut length,
            length_step: 0,
        };
        let units = 13 << 19;
        let mut left = units;
        // SAFETY: the buffer has this capacity.
        while unsafe { writer.get(&array, 0, &slot, &mut piece) } != Ok(crate::convert::Got::NoData) {
            // SAFETY: the length was written.
            assert_eq!(unsafe { *slot.length }, 2 * left);
            left = piece.units.expect("a count").cast_signed();
        }
        assert_eq!(left, 0);
    }
}
