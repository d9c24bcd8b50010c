//! CHAR and VARCHAR, as text or as variable-length bytes.

use super::super::error::{DecodeErrorKind, Fault};
use super::super::options::NoneEncoding;
use super::bytes::{Output, Write};
use firearrow_proto::api::charset::{SingleByte, charset};
use firearrow_proto::api::row::ValueFormat;
use std::borrow::Cow;

/// VARCHAR whose bytes are used unchanged.
#[derive(Debug)]
pub(crate) struct Varying {
    /// Declared length in bytes.
    pub(crate) max: u16,
    pub(crate) encoding: Encoding,
}

impl Write for Varying {
    #[inline(always)]
    fn write<F: ValueFormat>(&self, bytes: &[u8], out: &mut Output) -> Option<()> {
        let value = F::varying(bytes)?;
        if value.len() > usize::from(self.max) {
            return None;
        }
        out.append(value, bytes);
        Some(())
    }

    fn fault<F: ValueFormat>(&self, _: &[u8]) -> Fault {
        Fault::malformed("VARCHAR")
    }

    fn max(&self) -> usize {
        self.max.into()
    }

    fn remedy(&self) -> &'static str {
        self.encoding.remedy()
    }
}

/// CHAR in UTF8: the engine sends four bytes per declared character, padded with blanks.
#[derive(Debug)]
pub(crate) struct Char {
    /// Length in the row, in bytes.
    pub(crate) bytes: u16,
    /// Declared length in characters.
    pub(crate) characters: u16,
}

impl Write for Char {
    #[inline(always)]
    fn write<F: ValueFormat>(&self, bytes: &[u8], out: &mut Output) -> Option<()> {
        let value = bytes.get(..usize::from(self.bytes))?;
        let characters = usize::from(self.characters);
        let head = value.get(..characters)?;
        out.append(if head.is_ascii() { head } else { cut(value, characters)? }, bytes);
        Some(())
    }

    fn fault<F: ValueFormat>(&self, _: &[u8]) -> Fault {
        Fault::malformed(&format!("CHAR({})", self.characters))
    }

    fn max(&self) -> usize {
        self.bytes.into()
    }

    fn remedy(&self) -> &'static str {
        Encoding::DECLARED.remedy()
    }
}

/// Returns the first `characters` characters of UTF-8 text, or `None` if there are fewer. Malformed text is cut at an
/// arbitrary place; a later check reports it.
fn cut(text: &[u8], characters: usize) -> Option<&[u8]> {
    let mut left = characters;
    for (at, &byte) in text.iter().enumerate() {
        if byte & 0xc0 != 0x80 {
            if left == 0 {
                return Some(&text[..at]);
            }
            left -= 1;
        }
    }
    (left == 0).then_some(text)
}

/// CHAR and VARCHAR in rarer forms: code pages, trimmed, binary.
#[derive(Debug)]
pub(crate) struct General {
    /// Length in the row, in bytes: exact for CHAR, the maximum for VARCHAR.
    pub(crate) bytes: u16,
    pub(crate) is_varying: bool,
    /// Declared length in characters, if the row has room for more.
    pub(crate) characters: Option<u16>,
    pub(crate) trim: bool,
    pub(crate) encoding: Encoding,
}

impl General {
    fn value<'a, F: ValueFormat>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        if self.is_varying {
            F::varying(bytes).filter(|value| value.len() <= usize::from(self.bytes))
        } else {
            bytes.get(..usize::from(self.bytes))
        }
    }
}

impl Write for General {
    fn write<F: ValueFormat>(&self, bytes: &[u8], out: &mut Output) -> Option<()> {
        let value = self.encoding.decode(self.value::<F>(bytes)?)?;
        let mut value = value.as_ref();
        if let Some(characters) = self.characters {
            value = cut(value, characters.into())?;
        }
        if self.trim {
            let end = value.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
            value = &value[..end];
        }
        out.extend(value);
        Some(())
    }

    fn fault<F: ValueFormat>(&self, bytes: &[u8]) -> Fault {
        match self.value::<F>(bytes) {
            Some(value) if self.encoding.decode(value).is_none() => self.encoding.fault(),
            _ => Fault::malformed(if self.is_varying { "VARCHAR" } else { "CHAR" }),
        }
    }

    fn max(&self) -> usize {
        usize::from(self.bytes) * self.encoding.growth()
    }

    fn remedy(&self) -> &'static str {
        self.encoding.remedy()
    }
}

/// How to interpret the bytes of text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encoding {
    pub(crate) bytes: NoneEncoding,
    /// The character set of array elements, which the engine does not convert. It takes precedence over `bytes`.
    pub(crate) single: Option<SingleByte>,
    /// Whether the column has CHARACTER SET NONE, so that the caller chose the encoding.
    pub(crate) is_guess: bool,
}

impl Encoding {
    /// UTF-8, as declared by the engine.
    pub(crate) const DECLARED: Self = Self { bytes: NoneEncoding::Utf8, single: None, is_guess: false };

    /// Returns the value in UTF-8, without checking what is UTF-8 already; the bytes themselves for binary.
    pub(crate) fn decode(self, bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
        if let Some(single) = self.single {
            return match bytes.is_ascii() {
                true => Some(Cow::Borrowed(bytes)),
                false => single.decode(bytes).map(|text| Cow::Owned(text.into_bytes())),
            };
        }
        let text = match self.bytes {
            NoneEncoding::Utf8 | NoneEncoding::Binary => return Some(Cow::Borrowed(bytes)),
            NoneEncoding::Utf8Lossy => String::from_utf8_lossy(bytes),
            NoneEncoding::CodePage(page) => {
                page.decode_without_bom_handling_and_without_replacement(bytes)?
            }
        };
        Some(match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        })
    }

    /// Whether [`Encoding::decode`] leaves values unchanged.
    pub(crate) fn is_verbatim(self) -> bool {
        self.single.is_none() && matches!(self.bytes, NoneEncoding::Utf8 | NoneEncoding::Binary)
    }

    /// Returns the maximum bytes of UTF-8 per byte.
    pub(crate) fn growth(self) -> usize {
        if self.is_verbatim() { 1 } else { 3 }
    }

    pub(crate) fn fault(self) -> Fault {
        let page = match self.single.and_then(|single| charset(single.id)) {
            Some(set) => set.name.into(),
            None => self.bytes.to_string(),
        };
        let message = format!("the bytes are not {page}; {}", self.remedy());
        Fault::new(DecodeErrorKind::InvalidText, message)
    }

    pub(crate) fn remedy(self) -> &'static str {
        if self.is_guess {
            "the column has CHARACTER SET NONE: set none_encoding to its code page, to utf8_lossy or to binary"
        } else {
            "CAST the column to CHARACTER SET OCTETS to see the bytes that are stored"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firearrow_proto::api::row::Native;

    fn char(bytes: &[u8], characters: u16) -> Option<Vec<u8>> {
        let mut out = Output::default();
        let written = Char { bytes: characters * 4, characters }.write::<Native>(bytes, &mut out);
        written.map(|()| out.values().to_vec())
    }

    #[test]
    fn char_is_cut_to_characters_not_bytes() {
        assert_eq!(char(b"ab          ", 3).as_deref(), Some(&b"ab "[..]));
        assert_eq!(char("äöü      ".as_bytes(), 3).as_deref(), Some("äöü".as_bytes()));
        assert_eq!(char("a😀b      ".as_bytes(), 3).as_deref(), Some("a😀b".as_bytes()));
        assert_eq!(char("😀😀😀".as_bytes(), 3).as_deref(), Some("😀😀😀".as_bytes()));
        assert_eq!(char("ab😀😀".as_bytes(), 3), None, "too short a slice");
        assert_eq!(char(&[0x80; 12], 3), None, "no characters at all");
        assert_eq!(char(b"", 0).as_deref(), Some(&b""[..]));
    }
}
