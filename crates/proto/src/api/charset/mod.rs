//! Character sets by id and name.

#[rustfmt::skip]
mod code_points;
#[rustfmt::skip]
mod table;

use code_points::CODE_POINTS;

/// A character set of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset {
    /// The id that descriptors carry.
    pub id: u8,
    /// `RDB$CHARACTER_SET_NAME`.
    pub name: &'static str,
    /// Most bytes per character.
    pub bytes_per_character: u8,
}

/// Returns the character set with this id.
pub fn charset(id: u8) -> Option<&'static Charset> {
    let index = table::CHARSETS.binary_search_by_key(&id, |charset| charset.id).ok()?;
    Some(&table::CHARSETS[index])
}

/// Returns the character set of this name, in any letter case.
pub fn by_name(name: &str) -> Option<&'static Charset> {
    table::CHARSETS.iter().find(|charset| charset.name.eq_ignore_ascii_case(name))
}

/// A single-byte character set whose first half is ASCII, converted as the engine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SingleByte {
    /// Its id.
    pub id: u8,
    upper: &'static [u16; 128],
}

/// Returns the character set with this id if it is single-byte. NONE, OCTETS and ASCII do not count.
pub fn single_byte(id: u8) -> Option<SingleByte> {
    let index = CODE_POINTS.binary_search_by_key(&id, |set| set.0).ok()?;
    Some(SingleByte { id, upper: &CODE_POINTS[index].1 })
}

impl SingleByte {
    /// Decodes bytes; `None` if one of them stands for no character.
    pub fn decode(self, bytes: &[u8]) -> Option<String> {
        let character = |&byte: &u8| match byte {
            0..128 => Some(char::from(byte)),
            128.. => match self.upper[usize::from(byte - 128)] {
                0xffff => None,
                point => char::from_u32(point.into()),
            },
        };
        bytes.iter().map(character).collect()
    }

    /// Encodes a text; the error is the first character without a byte.
    pub fn encode(self, text: &str) -> Result<Vec<u8>, char> {
        let byte = |character: char| match character {
            '\0'..='\x7f' => Ok(character as u8),
            _ => {
                let is_it = |&point: &u16| u32::from(point) == u32::from(character);
                let index = self.upper.iter().position(is_it).filter(|_| character != '\u{ffff}');
                index.map(|index| index as u8 + 128).ok_or(character)
            }
        };
        text.chars().map(byte).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_for_binary_search() {
        assert!(table::CHARSETS.is_sorted_by(|a, b| a.id < b.id));
    }

    #[test]
    fn single_bytes_become_characters() {
        assert!(CODE_POINTS.is_sorted_by(|a, b| a.0 < b.0));
        let decode = |id, bytes: &[u8]| single_byte(id).and_then(|set| set.decode(bytes));
        assert_eq!(decode(53, b"a\x80\xfc").as_deref(), Some("a€ü"));
        assert_eq!(decode(53, b"\x81"), None, "WIN1252 has no such character");
        assert_eq!(decode(21, b"\x80\xe4").as_deref(), Some("\u{80}ä"), "ISO8859_1 is not WIN1252");
        let encode = |id, text| single_byte(id).map(|set| set.encode(text));
        assert_eq!(encode(53, "a€ü"), Some(Ok(b"a\x80\xfc".to_vec())));
        assert_eq!(encode(21, "a€"), Some(Err('€')));
        assert_eq!(encode(53, "\u{ffff}"), Some(Err('\u{ffff}')));
        for (id, upper) in CODE_POINTS {
            let set = single_byte(*id).expect("it is in the table");
            for (byte, _) in (128..=255_u8).zip(upper).filter(|(_, point)| **point != 0xffff) {
                let text = set.decode(&[byte]).expect("a character");
                assert_eq!(set.encode(&text).ok().and_then(|bytes| set.decode(&bytes)), Some(text));
            }
        }
        for id in [0, 1, 2, 4, 5, 200] {
            assert_eq!(single_byte(id), None, "{id}");
        }
    }

    #[test]
    fn sets_are_found_by_id_and_name() {
        assert_eq!(charset(4).map(|set| (set.name, set.bytes_per_character)), Some(("UTF8", 4)));
        assert_eq!(by_name("win1252").map(|set| set.id), Some(53));
        assert_eq!((charset(255), by_name("nothing")), (None, None));
    }
}
