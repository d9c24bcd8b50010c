//! Which names are meant, and how names are written in SQL.

/// Most characters that a name can have (Firebird 4 and later; 31 bytes before).
const LONGEST: usize = 63;

/// Which names a question is about. Letter case counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Name<'a> {
    /// All.
    #[default]
    Any,
    /// This one. Blanks at its end mean nothing, as in SQL.
    Is(&'a str),
    /// Those that match: `%` stands for any text, `_` for any character, and nothing escapes them.
    Like(&'a str),
}

impl Name<'_> {
    /// The condition on a column of the catalog tables, and its parameter.
    pub(super) fn condition(self, column: &str) -> Condition {
        match self {
            Self::Any => Condition::Always,
            Self::Is(name) if name.chars().count() > LONGEST => Condition::Never,
            // As it is stored, so that the engine can use its index.
            Self::Is(name) => Condition::Holds {
                sql: format!("{column} = CAST(? AS VARCHAR({LONGEST}) CHARACTER SET UTF8)"),
                value: name.to_owned(),
            },
            Self::Like(pattern) => match squeezed(pattern) {
                None => Condition::Never,
                Some(value) => Condition::Holds {
                    sql: format!(
                        "CAST(TRIM(TRAILING FROM {column}) AS VARCHAR({LONGEST}) CHARACTER SET UTF8) LIKE \
                         CAST(? AS VARCHAR({}) CHARACTER SET UTF8)",
                        2 * LONGEST + 1
                    ),
                    value,
                },
            },
        }
    }
}

/// What becomes of a [`Name`] in SQL.
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
    (least <= LONGEST).then_some(squeezed)
}

/// A name as SQL text must have it, with quotes around, to mean exactly this one.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_their_parameter() {
        assert_eq!(squeezed("%%a%_%%%"), Some("%a%_%".into()));
        assert_eq!(squeezed(""), Some(String::new()));
        let long = "%ä".repeat(LONGEST) + "%%";
        assert_eq!(squeezed(&long).map(|pattern| pattern.chars().count()), Some(2 * LONGEST + 1));
        assert_eq!(squeezed(&"_".repeat(LONGEST + 1)), None);
        assert_eq!(Name::Is(&"ä".repeat(LONGEST + 1)).condition("N"), Condition::Never);
        assert_ne!(Name::Is(&"ä".repeat(LONGEST)).condition("N"), Condition::Never);
    }

    #[test]
    fn quotes_are_doubled() {
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
    }
}
