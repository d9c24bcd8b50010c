//! The encoding of narrow text.
//!
//! On Unix it is UTF-8. On Windows it is the code page of the process. Data in `SQL_C_CHAR` buffers are in the
//! character set of the connection string instead, if that is UTF8 or a single-byte one: so they are with Firebird's
//! official driver.

use super::CodePage;
use crate::platform;
use firearrow_proto::api::charset;
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::{Mutex, OnceLock, PoisonError};

/// How narrow text is encoded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum NarrowEncoding {
    #[default]
    Utf8,
    Page(&'static CodePage),
}

impl PartialEq for NarrowEncoding {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for NarrowEncoding {}

impl NarrowEncoding {
    /// That of texts that functions take and hand out.
    pub(crate) fn of_process() -> Self {
        static PAGE: OnceLock<Option<CodePage>> = OnceLock::new();
        PAGE.get_or_init(platform::code_page).as_ref().map_or(Self::Utf8, Self::Page)
    }

    /// That of the data of a connection with this character set.
    pub(crate) fn of_connection(charset: Option<&str>) -> Self {
        match charset.filter(|_| platform::NARROW_FOLLOWS_CHARSET) {
            Some(name) => Self::of_charset(name).unwrap_or_else(Self::of_process),
            None => Self::of_process(),
        }
    }

    /// That of a character set of the engine; `None` unless it is UTF8 or a single-byte one. There are few of them, and
    /// they stay.
    fn of_charset(name: &str) -> Option<Self> {
        static KNOWN: Mutex<Vec<&'static CodePage>> = Mutex::new(Vec::new());
        if ["UTF8", "UTF-8", "UNICODE_FSS"].iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return Some(Self::Utf8);
        }
        let set = charset::by_name(name)?;
        let single = charset::single_byte(set.id)?;
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let page = known.iter().find(|page| page.name() == set.name).copied();
        Some(Self::Page(page.unwrap_or_else(|| {
            let page: &CodePage = Box::leak(Box::new(CodePage::of_charset(set.name, single)));
            known.push(page);
            page
        })))
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Page(page) => page.name(),
        }
    }

    /// Most bytes of a character.
    pub(crate) fn most_bytes(self) -> u8 {
        match self {
            Self::Utf8 => 4,
            Self::Page(page) => page.most_bytes(),
        }
    }

    /// Reads text; `None` if these bytes are none.
    pub(crate) fn decode(self, bytes: &[u8]) -> Option<Cow<'_, str>> {
        match self {
            Self::Utf8 => str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Self::Page(page) => page.decode(bytes),
        }
    }

    /// Writes text. The error is the first character that it lacks.
    pub(crate) fn encode(self, text: &str) -> Result<Cow<'_, [u8]>, char> {
        match self {
            Self::Utf8 => Ok(Cow::Borrowed(text.as_bytes())),
            Self::Page(page) => page.encode(text),
        }
    }

    /// Writes text for people: characters that it lacks become their numbers, such as `\u{416}`.
    pub(crate) fn encode_with_numbers(self, text: &str) -> Cow<'_, [u8]> {
        if let Ok(bytes) = self.encode(text) {
            return bytes;
        }
        let mut known = String::with_capacity(text.len());
        for character in text.chars() {
            match self.encode(character.encode_utf8(&mut [0; 4])) {
                Ok(_) => known.push(character),
                Err(_) => {
                    let _ = write!(known, "\\u{{{:X}}}", u32::from(character));
                }
            }
        }
        // All that is left can be written.
        Cow::Owned(self.encode(&known).map_or_else(|_| Vec::new(), Cow::into_owned))
    }

    /// The end of the last whole character within `most` bytes of valid text.
    pub(crate) fn floor(self, bytes: &[u8], most: usize) -> usize {
        match self {
            Self::Utf8 => {
                let is_start = |end: &usize| bytes.get(*end).is_none_or(|byte| byte & 0xC0 != 0x80);
                (0..=most.min(bytes.len())).rev().find(is_start).unwrap_or(0)
            }
            Self::Page(page) => page.floor(bytes, most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::testing::win1251;

    #[test]
    fn what_a_page_lacks_becomes_a_number() {
        let page = NarrowEncoding::Page(win1251());
        assert_eq!(&*page.encode_with_numbers("Дé😀!"), b"\xC4\\u{E9}\\u{1F600}!");
        assert_eq!(&*page.encode_with_numbers("Д"), b"\xC4");
        assert_eq!(&*NarrowEncoding::Utf8.encode_with_numbers("Дé"), "Дé".as_bytes());
    }

    #[test]
    fn utf8_and_single_byte_character_sets_are_encodings() {
        for (name, text, bytes) in
            [("win1252", "€", b"\x80"), ("WIN1251", "€", b"\x88"), ("iso8859_2", "ł", b"\xB3")]
        {
            let narrow = NarrowEncoding::of_charset(name).expect(name);
            assert_eq!(narrow.encode(text).as_deref(), Ok(&bytes[..]), "{name}");
            assert_eq!(narrow, NarrowEncoding::of_charset(&name.to_ascii_uppercase()).expect(name));
        }
        for name in ["UTF8", "utf-8"] {
            assert_eq!(NarrowEncoding::of_charset(name), Some(NarrowEncoding::Utf8), "{name}");
        }
        for name in ["NONE", "OCTETS", "SJIS_0208", "GB18030", "?", ""] {
            assert_eq!(NarrowEncoding::of_charset(name), None, "{name}");
        }
    }

    #[test]
    fn utf8_ends_between_characters() {
        let text = "aé€x".as_bytes();
        assert_eq!(
            [0, 1, 2, 3, 5, 6, 7, 9].map(|most| NarrowEncoding::Utf8.floor(text, most)),
            [0, 1, 1, 3, 3, 6, 7, 7]
        );
    }
}
