//! Long values, which arrive in parts.

use super::binary::{Bytes, Hex};
use super::cell::Cell;
use super::fault::Fault;
use super::paged::Paged;
use super::piece::Piece;
use super::plan::Settings;
use super::text::{Narrow, Wide};
use super::unit::Unit;
use crate::abi::{Date, SmallInt, c_type};
use crate::diagnostics::Result;
use crate::text::NarrowEncoding;
use arrow::array::BinaryArray;

/// How a long value is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Narrow,
    /// Narrow text in a code page.
    Paged(NarrowEncoding),
    Wide,
    Bytes,
    /// Bytes as hex digits.
    NarrowHex,
    WideHex,
}

/// What became of a part of a long value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Put {
    /// Bytes of the part that were taken.
    pub(crate) read: usize,
    /// Bytes that were written, without a terminator.
    pub(crate) written: usize,
}

impl Form {
    /// The form of text or bytes in a C type; `None` if its values are short.
    pub(crate) fn new(c_type: SmallInt, is_text: bool, narrow: NarrowEncoding) -> Option<Self> {
        Some(match c_type {
            c_type::CHAR if is_text => match narrow {
                NarrowEncoding::Utf8 => Self::Narrow,
                NarrowEncoding::Page(_) => Self::Paged(narrow),
            },
            c_type::WCHAR if is_text => Self::Wide,
            c_type::CHAR => Self::NarrowHex,
            c_type::WCHAR => Self::WideHex,
            c_type::BINARY => Self::Bytes,
            _ => return None,
        })
    }

    /// Bytes of the terminator.
    pub(crate) fn terminator(self) -> usize {
        match self {
            Self::Narrow | Self::Paged(_) | Self::NarrowHex => 1,
            Self::Wide | Self::WideHex => 2,
            Self::Bytes => 0,
        }
    }

    /// The length in the buffer of so many bytes; `None` where that depends on the text.
    pub(crate) fn length(self, bytes: u64) -> Option<u64> {
        match self {
            Self::Narrow | Self::Bytes => Some(bytes),
            Self::NarrowHex => bytes.checked_mul(2),
            Self::WideHex => bytes.checked_mul(4),
            Self::Wide | Self::Paged(_) => None,
        }
    }

    /// Writes what fits of a part, and a terminator. Of `of`, the piece of the whole value, it heeds and keeps
    /// whether pieces fill their buffers, and whether the first half of the surrogate pair, or of the bytes, at the
    /// start was written before.
    ///
    /// # Errors
    /// The part does not begin with a character: the rest of one was handed out as bytes or narrow text.
    ///
    /// # Safety
    /// The buffer has this capacity, with room for the terminator.
    pub(crate) unsafe fn put(
        self,
        part: &[u8],
        data: *mut u8,
        capacity: usize,
        of: &mut Piece,
    ) -> Result<Put> {
        let settings = Settings {
            scale: 0,
            precision: 0,
            numeric_scale: 0,
            max_length: usize::MAX,
            narrow: match self {
                Self::Paged(narrow) => narrow,
                _ => NarrowEncoding::Utf8,
            },
            today: Date::default(),
        };
        let mut piece = Piece {
            fills: of.fills,
            is_within_pair: of.is_within_pair,
            is_within_bytes: of.is_within_bytes,
            ..Piece::default()
        };
        let text = || str::from_utf8(part).map_err(|_| Fault::NotALiteral);
        // SAFETY: the caller's promise.
        let length = unsafe {
            match self {
                // Half a character may come first.
                Self::Narrow if piece.fills => {
                    let put = Bytes::<BinaryArray>::put(part, &settings, data, capacity - 1, &mut piece);
                    u8::terminate(data, piece.position);
                    put
                }
                Self::Narrow => Narrow::put(text()?, &settings, data, capacity, &mut piece),
                Self::Paged(_) => Paged::put(text()?, &settings, data, capacity, &mut piece),
                Self::Wide => Wide::put(text()?, &settings, data, capacity, &mut piece),
                Self::Bytes => Bytes::<BinaryArray>::put(part, &settings, data, capacity, &mut piece),
                Self::NarrowHex => Hex::<BinaryArray, u8>::put(part, &settings, data, capacity, &mut piece),
                Self::WideHex => Hex::<BinaryArray, u16>::put(part, &settings, data, capacity, &mut piece),
            }
        }?
        .length;
        of.is_within_pair = self == Self::Wide && piece.is_within_pair;
        of.is_within_bytes = matches!(self, Self::Paged(_)) && piece.is_within_bytes;
        let read = piece.position;
        let written = match self {
            Self::Wide => length - 2 * piece.units.unwrap_or(0),
            Self::Paged(_) => length - piece.page_bytes.unwrap_or(0),
            Self::Narrow | Self::Bytes => read,
            Self::NarrowHex => 2 * read,
            Self::WideHex => 4 * read,
        };
        Ok(Put { read, written })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::testing::shift_jis;

    fn put(form: Form, part: &[u8], capacity: usize, mut piece: Piece) -> (Vec<u8>, usize) {
        let mut data = vec![0xAA; capacity];
        // SAFETY: the buffer has this capacity.
        let put = unsafe { form.put(part, data.as_mut_ptr(), capacity, &mut piece) };
        let put = put.expect("whole characters");
        assert!(data[put.written..].iter().take(form.terminator()).all(|byte| *byte == 0));
        data.truncate(put.written);
        (data, put.read)
    }

    #[test]
    fn parts_are_cut_where_the_buffer_ends() {
        let text = "aé😀".as_bytes();
        let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_ne_bytes).collect() };
        let (whole, filling) = (Piece::default(), Piece::filling());
        for piece in [whole, filling] {
            assert_eq!(put(Form::Narrow, text, 8, piece), (text.to_vec(), 7));
            assert_eq!(put(Form::Wide, text, 10, piece), (wide("aé😀"), 7));
            assert_eq!(put(Form::Wide, text, 7, piece), (wide("aé"), 3));
            assert_eq!(put(Form::Bytes, &[1, 2, 3], 2, piece), (vec![1, 2], 2));
            assert_eq!(put(Form::NarrowHex, &[1, 0xAB], 4, piece), (b"01".to_vec(), 1));
            assert_eq!(put(Form::WideHex, &[1, 0xAB], 10, piece), (wide("01AB"), 2));
        }
        assert_eq!(put(Form::Narrow, text, 7, whole), ("aé".into(), 3));
        assert_eq!(put(Form::Narrow, text, 7, filling), (text[..6].to_vec(), 6));
        assert_eq!(put(Form::Wide, text, 9, whole), (wide("aé"), 3));
        assert_eq!(put(Form::Wide, text, 9, filling), (wide("aé😀")[..6].to_vec(), 3));
    }

    #[test]
    fn parts_may_be_in_a_code_page() {
        let narrow = NarrowEncoding::Page(shift_jis());
        let form = Form::new(c_type::CHAR, true, narrow).expect("text");
        assert_eq!((form, form.length(3)), (Form::Paged(narrow), None));
        let text = "a日本".as_bytes();
        assert_eq!(put(form, text, 6, Piece::default()), (b"a\x93\xFA\x96\x7B".to_vec(), 7));
        assert_eq!(put(form, text, 5, Piece::default()), (b"a\x93\xFA".to_vec(), 4));
        assert_eq!(put(form, text, 5, Piece::filling()), (b"a\x93\xFA\x96".to_vec(), 4));
        let mut piece = Piece { is_within_bytes: true, ..Piece::filling() };
        let mut data = [0_u8; 2];
        // SAFETY: the buffer has its length.
        let rest = unsafe { form.put("本".as_bytes(), data.as_mut_ptr(), 2, &mut piece) };
        assert_eq!(rest.expect("the page has it"), Put { read: 3, written: 1 });
        assert_eq!((data, piece.is_within_bytes), (*b"\x7B\0", false));
    }

    #[test]
    fn text_begins_with_a_character() {
        // SAFETY: the buffer has its length.
        let failed =
            unsafe { Form::Wide.put(&[0x80, b'a'], [0_u8; 8].as_mut_ptr(), 8, &mut Piece::default()) };
        assert_eq!(failed.expect_err("half a character").state.as_str(), "22018");
    }

    #[test]
    fn lengths_are_known_unless_text_becomes_wide() {
        let forms = [Form::Narrow, Form::Wide, Form::Bytes, Form::NarrowHex, Form::WideHex];
        assert_eq!(forms.map(|form| form.length(3)), [Some(3), None, Some(3), Some(6), Some(12)]);
        assert_eq!(Form::WideHex.length(u64::MAX), None);
        for (c_type, of_text, of_bytes) in [
            (c_type::CHAR, Some(Form::Narrow), Some(Form::NarrowHex)),
            (c_type::WCHAR, Some(Form::Wide), Some(Form::WideHex)),
            (c_type::BINARY, Some(Form::Bytes), Some(Form::Bytes)),
            (c_type::SLONG, None, None),
        ] {
            let form = |is_text| Form::new(c_type, is_text, NarrowEncoding::Utf8);
            assert_eq!((form(true), form(false)), (of_text, of_bytes));
        }
    }
}
