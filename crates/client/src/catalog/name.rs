//! Patterns for names, and how names are written in SQL.

use firearrow_proto::api::dialect::Dialect;

/// Most characters that a name can have, from Firebird 4 on.
pub const LONGEST_NAME: usize = 63;
/// Most bytes that a name can have before Firebird 4.
pub const LONGEST_NAME_FIREBIRD3: usize = 31;

/// The names that a query selects. Letter case counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Name<'a> {
    /// All.
    #[default]
    Any,
    /// This one. Trailing blanks do not count, as in SQL.
    Is(&'a str),
    /// Those that match: `%` stands for any text, `_` for any character, and nothing escapes them.
    Like(&'a str),
}

/// A [`Name`] that owns its text.
#[cfg(feature = "tokio")]
#[derive(Clone, Debug)]
pub(crate) enum OwnedName {
    Any,
    Is(String),
    Like(String),
}

#[cfg(feature = "tokio")]
impl OwnedName {
    pub(crate) fn as_name(&self) -> Name<'_> {
        match self {
            Self::Any => Name::Any,
            Self::Is(name) => Name::Is(name),
            Self::Like(pattern) => Name::Like(pattern),
        }
    }
}

impl Name<'_> {
    #[cfg(feature = "tokio")]
    pub(crate) fn into_owned(self) -> OwnedName {
        match self {
            Self::Any => OwnedName::Any,
            Self::Is(name) => OwnedName::Is(name.to_owned()),
            Self::Like(pattern) => OwnedName::Like(pattern.to_owned()),
        }
    }

    /// The condition on a column of the catalog tables, and its parameter.
    pub(super) fn condition(self, column: &str) -> Condition {
        match self {
            Self::Any => Condition::Always,
            Self::Is(name) if name.chars().count() > LONGEST_NAME => Condition::Never,
            // As it is stored, so that the engine can use its index.
            Self::Is(name) => Condition::Holds {
                sql: format!("{column} = CAST(? AS VARCHAR({LONGEST_NAME}) CHARACTER SET UTF8)"),
                value: name.to_owned(),
            },
            Self::Like(pattern) => match squeezed(pattern) {
                None => Condition::Never,
                Some(value) => Condition::Holds {
                    sql: format!(
                        "CAST(TRIM(TRAILING FROM {column}) AS VARCHAR({LONGEST_NAME}) CHARACTER SET UTF8) LIKE \
                         CAST(? AS VARCHAR({}) CHARACTER SET UTF8)",
                        2 * LONGEST_NAME + 1
                    ),
                    value,
                },
            },
        }
    }
}

/// The SQL form of a [`Name`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// Nothing to say.
    Always,
    /// There is no such name.
    Never,
    /// `sql` with one `?`, which is `value`.
    Holds { sql: String, value: String },
}

/// The pattern with one `%` for several in a row; `None` if no name is long enough for it.
fn squeezed(pattern: &str) -> Option<String> {
    let mut squeezed = String::with_capacity(pattern.len());
    for character in pattern.chars() {
        if character != '%' || !squeezed.ends_with('%') {
            squeezed.push(character);
        }
    }
    let least = squeezed.chars().filter(|&character| character != '%').count();
    (least <= LONGEST_NAME).then_some(squeezed)
}

/// A name as SQL text must have it, with quotes around, to mean exactly this one.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text as SQL has it, with apostrophes around.
pub(crate) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A name as SQL text of a dialect must have it. `None` where the dialect cannot say it: the first has no quotes for
/// names, so that they are ASCII letters, digits, `_` and `$`, and upper case.
pub fn identifier(dialect: Dialect, name: &str) -> Option<String> {
    let belongs =
        |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'$');
    match dialect {
        Dialect::Three => Some(quoted(name)),
        Dialect::One if name.starts_with(|c: char| c.is_ascii_uppercase()) && name.bytes().all(belongs) => {
            Some(name.to_owned())
        }
        Dialect::One => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_their_parameter() {
        assert_eq!(squeezed("%%a%_%%%"), Some("%a%_%".into()));
        assert_eq!(squeezed(""), Some(String::new()));
        let long = "%ä".repeat(LONGEST_NAME) + "%%";
        assert_eq!(squeezed(&long).map(|pattern| pattern.chars().count()), Some(2 * LONGEST_NAME + 1));
        assert_eq!(squeezed(&"_".repeat(LONGEST_NAME + 1)), None);
        assert_eq!(Name::Is(&"ä".repeat(LONGEST_NAME + 1)).condition("N"), Condition::Never);
        assert_ne!(Name::Is(&"ä".repeat(LONGEST_NAME)).condition("N"), Condition::Never);
    }

    #[test]
    fn quotes_are_doubled() {
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
    }

    #[test]
    fn names_without_quotes_are_plain() {
        assert_eq!(identifier(Dialect::One, "RDB$X_1").as_deref(), Some("RDB$X_1"));
        for name in ["", "a", "1A", "_A", "Ä", "A B", "A\"B"] {
            assert_eq!(identifier(Dialect::One, name), None, "{name}");
            assert_eq!(identifier(Dialect::Three, name), Some(quoted(name)));
        }
    }
}
