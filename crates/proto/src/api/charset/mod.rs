//! Character sets by id and name.

#[rustfmt::skip]
mod table;

/// A character set of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset {
    /// The id that descriptors carry.
    pub id: u8,
    /// `RDB$CHARACTER_SET_NAME`.
    pub name: &'static str,
    /// Most bytes that one character takes.
    pub bytes_per_character: u8,
}

/// The character set with this id.
pub fn charset(id: u8) -> Option<&'static Charset> {
    let index = table::CHARSETS.binary_search_by_key(&id, |charset| charset.id).ok()?;
    Some(&table::CHARSETS[index])
}

/// The character set of this name, in any letter case.
pub fn by_name(name: &str) -> Option<&'static Charset> {
    table::CHARSETS.iter().find(|charset| charset.name.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_for_binary_search() {
        assert!(table::CHARSETS.is_sorted_by(|a, b| a.id < b.id));
    }

    #[test]
    fn sets_are_found_by_id_and_name() {
        assert_eq!(charset(4).map(|set| (set.name, set.bytes_per_character)), Some(("UTF8", 4)));
        assert_eq!(by_name("win1252").map(|set| set.id), Some(53));
        assert_eq!((charset(255), by_name("nothing")), (None, None));
    }
}
