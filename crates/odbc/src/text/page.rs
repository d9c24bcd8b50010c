//! Code pages: narrow text that is not UTF-8.

use firearrow_proto::api::charset::SingleByte;
use std::borrow::Cow;
use std::fmt;

/// In place of a byte, or pair of bytes, that is no character. It is none itself.
const NONE: u16 = 0xFFFF;

/// A code page with one or two bytes for each character, all of the Basic Multilingual Plane. Nothing is replaced by
/// something similar: text that it lacks is an error.
pub(crate) struct CodePage {
    name: String,
    /// The characters of single bytes.
    single: [u16; 256],
    /// The characters of pairs, for each first byte that begins some.
    double: Vec<Option<Box<[u16; 256]>>>,
    /// For each character its bytes, as a number; 0 if there are none.
    bytes: Box<[u16]>,
    /// Whether ASCII text is the same in it.
    has_ascii: bool,
    most_bytes: u8,
}

impl CodePage {
    /// Learns a code page from functions that know it. `decode` is asked for one byte and for pairs of bytes. Where
    /// several pairs are one character, `encode` says which of them is written.
    pub(crate) fn new(
        name: &str,
        decode: impl Fn(&[u8]) -> Option<char>,
        encode: impl Fn(char) -> Option<Vec<u8>>,
    ) -> Self {
        let point = |bytes: &[u8]| {
            let unit = decode(bytes).and_then(|character| u16::try_from(u32::from(character)).ok());
            unit.unwrap_or(NONE)
        };
        let mut page = Self {
            name: name.into(),
            single: [NONE; 256],
            double: vec![None; 256],
            bytes: vec![0; 1 << 16].into(),
            has_ascii: true,
            most_bytes: 1,
        };
        for first in 0..=u8::MAX {
            page.single[usize::from(first)] = point(&[first]);
        }
        for first in (0..=u8::MAX).filter(|first| page.single[usize::from(*first)] == NONE) {
            let mut pairs = Box::new([NONE; 256]);
            for second in 0..=u8::MAX {
                pairs[usize::from(second)] = point(&[first, second]);
            }
            if pairs.iter().any(|point| *point != NONE) {
                page.double[usize::from(first)] = Some(pairs);
                page.most_bytes = 2;
            }
        }
        page.invert(encode);
        page.has_ascii = (0..128)
            .all(|byte| page.single[usize::from(byte)] == byte && page.bytes[usize::from(byte)] == byte);
        page
    }

    /// A character set of the engine.
    pub(crate) fn of_charset(name: &str, set: SingleByte) -> Self {
        let decode = |bytes: &[u8]| match bytes {
            [_] => set.decode(bytes).and_then(|text| text.chars().next()),
            _ => None,
        };
        Self::new(name, decode, |character| set.encode(character.encode_utf8(&mut [0; 4])).ok())
    }

    /// Finds the bytes of each character that some bytes are.
    fn invert(&mut self, encode: impl Fn(char) -> Option<Vec<u8>>) {
        let single = (0..=u8::MAX).map(|byte| (vec![byte], self.single[usize::from(byte)]));
        let double =
            self.double.iter().zip(0..=u8::MAX).filter_map(|(pairs, first)| Some((pairs.as_ref()?, first)));
        let double = double.flat_map(|(pairs, first)| {
            (0..=u8::MAX).map(move |second| (vec![first, second], pairs[usize::from(second)]))
        });
        let all: Vec<(Vec<u8>, u16)> = single.chain(double).filter(|(_, point)| *point != NONE).collect();
        for (bytes, point) in all {
            let preferred = char::from_u32(point.into()).and_then(&encode);
            let is_same = |bytes: &Vec<u8>| self.point(bytes) == point;
            let bytes = preferred.filter(is_same).unwrap_or(bytes);
            let number = bytes.iter().fold(0, |number, byte| number << 8 | u16::from(*byte));
            let known = &mut self.bytes[usize::from(point)];
            *known = if *known == 0 { number } else { *known };
        }
    }

    /// The character that these bytes are.
    fn point(&self, bytes: &[u8]) -> u16 {
        match *bytes {
            [byte] => self.single[usize::from(byte)],
            [first, second] => {
                self.double[usize::from(first)].as_ref().map_or(NONE, |pairs| pairs[usize::from(second)])
            }
            _ => NONE,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Most bytes of a character.
    pub(crate) fn most_bytes(&self) -> u8 {
        self.most_bytes
    }

    /// Whether the text is the same in it.
    pub(crate) fn is_same(&self, text: &[u8]) -> bool {
        self.has_ascii && text.is_ascii()
    }

    /// Reads text; `None` if these bytes are none.
    pub(crate) fn decode<'t>(&self, bytes: &'t [u8]) -> Option<Cow<'t, str>> {
        if self.is_same(bytes)
            && let Ok(text) = str::from_utf8(bytes)
        {
            return Some(Cow::Borrowed(text));
        }
        let mut text = String::with_capacity(bytes.len() * 2);
        let mut rest = bytes;
        while let Some(character) = rest.get(..self.length_of_first(rest)).filter(|bytes| !bytes.is_empty()) {
            let point = Some(self.point(character)).filter(|point| *point != NONE)?;
            text.push(char::from_u32(point.into())?);
            rest = &rest[character.len()..];
        }
        rest.is_empty().then_some(Cow::Owned(text))
    }

    /// Writes text. The error is the first character that it lacks.
    pub(crate) fn encode<'t>(&self, text: &'t str) -> Result<Cow<'t, [u8]>, char> {
        if self.is_same(text.as_bytes()) {
            return Ok(Cow::Borrowed(text.as_bytes()));
        }
        let mut bytes = Vec::with_capacity(text.len());
        for character in text.chars() {
            bytes.extend_from_slice(self.bytes_of(character).ok_or(character)?.as_bytes());
        }
        Ok(Cow::Owned(bytes))
    }

    /// The bytes of a character.
    #[inline]
    pub(crate) fn bytes_of(&self, character: char) -> Option<Few> {
        let number = *self.bytes.get(character as usize)?;
        match number {
            0 if character != '\0' => None,
            0..=0xFF => Some(Few { bytes: [number as u8, 0], length: 1 }),
            _ => Some(Few { bytes: number.to_be_bytes(), length: 2 }),
        }
    }

    /// The end of the last whole character within `most` bytes of valid text.
    pub(crate) fn floor(&self, bytes: &[u8], most: usize) -> usize {
        if most >= bytes.len() || self.most_bytes == 1 {
            return most.min(bytes.len());
        }
        let mut end = 0;
        loop {
            let next = end + self.length_of_first(&bytes[end..]).max(1);
            if next > most {
                return end;
            }
            end = next;
        }
    }

    /// Bytes of the first character; 0 at the end.
    fn length_of_first(&self, bytes: &[u8]) -> usize {
        match bytes.first() {
            None => 0,
            Some(first) if self.double[usize::from(*first)].is_some() => 2,
            Some(_) => 1,
        }
    }
}

/// The bytes of one character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Few {
    bytes: [u8; 2],
    length: u8,
}

impl Few {
    #[inline]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl fmt::Debug for CodePage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use crate::text::testing::{shift_jis, win1251};

    #[test]
    fn text_is_exact() {
        let (cyrillic, japanese) = (win1251(), shift_jis());
        assert_eq!(cyrillic.encode("Да, a!").as_deref(), Ok(&b"\xC4\xE0, a!"[..]));
        assert_eq!(cyrillic.decode(b"\xC4\xE0, a!").as_deref(), Some("Да, a!"));
        assert_eq!(cyrillic.decode(&[0x98]), None, "no character");
        assert_eq!(japanese.encode("日本a").as_deref(), Ok(&b"\x93\xFA\x96\x7Ba"[..]));
        assert_eq!(japanese.decode(b"\x93\xFA\x96\x7Ba").as_deref(), Some("日本a"));
        assert_eq!(japanese.decode(b"a\x93"), None, "half a character");
        assert_eq!(japanese.decode(b"\x93\x20"), None, "no pair");
        for (page, lacking) in [
            (cyrillic, 'é'),
            (cyrillic, '😀'),
            (cyrillic, '\u{FFFF}'),
            (japanese, '¥'),
            (japanese, '\u{101}'),
        ] {
            assert_eq!(page.encode(&format!("a{lacking}")), Err(lacking), "{page:?}");
        }
        assert_eq!(japanese.encode("a\0").as_deref(), Ok(&b"a\0"[..]));
        assert_eq!((cyrillic.most_bytes(), japanese.most_bytes()), (1, 2));
    }

    #[test]
    fn what_is_read_can_be_written() {
        let page = shift_jis();
        for first in 0..=u8::MAX {
            for second in 0..=u8::MAX {
                let pair = [first, second];
                let Some(text) = page.decode(&pair) else { continue };
                let bytes = page.encode(&text).expect("it was read");
                assert_eq!(page.decode(&bytes).as_deref(), Some(&*text), "{first:x} {second:x}");
            }
        }
    }

    #[test]
    fn text_ends_between_characters() {
        let page = shift_jis();
        let bytes = page.encode("a日本").expect("it has them").into_owned();
        assert_eq!([0, 1, 2, 3, 4, 5, 9].map(|most| page.floor(&bytes, most)), [0, 1, 1, 3, 3, 5, 5]);
        assert_eq!(win1251().floor(b"\xC4\xE0", 1), 1);
    }
}
