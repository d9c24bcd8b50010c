//! Names in SQL text.

use firearrow::Dialect;
use firearrow::sql::{Token, TokenKind};

/// The name that a token stands for, as the catalog spells it.
pub(super) fn of_token(token: &Token<'_>) -> Option<String> {
    match token.kind {
        TokenKind::Word => Some(token.text.to_ascii_uppercase()),
        TokenKind::QuotedName => Some(unquoted(token.text)),
        TokenKind::Text | TokenKind::Number | TokenKind::Symbol => None,
    }
}

fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix('"').unwrap_or(text);
    inner.strip_suffix('"').unwrap_or(inner).replace("\"\"", "\"")
}

/// The name of a table or column as SQL text. Dialect 1 has no names in quotes.
pub(super) fn to_sql(name: &str, dialect: Dialect) -> String {
    match dialect {
        Dialect::One => name.to_owned(),
        _ => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// Whether `written` in a statement refers to the cursor that is called `name`. What is exactly equal always does; names without
/// quotes do in any letter case.
pub(super) fn is_of_cursor(written: &str, name: &str) -> bool {
    if written == name {
        return true;
    }
    match (written.starts_with('"'), name.starts_with('"')) {
        // A name that was set without quotes, and needs them in SQL text.
        (true, false) => unquoted(written) == name,
        (false, true) => written.to_uppercase() == unquoted(name),
        (true, true) => unquoted(written) == unquoted(name),
        (false, false) => written.to_uppercase() == name.to_uppercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firearrow::sql::tokens;

    #[test]
    fn names_are_quoted_and_unquoted() {
        for (text, name) in [("tab", "TAB"), ("\"Tab\"", "Tab"), ("\"a\"\"b\"", "a\"b")] {
            let token = tokens(text).next().expect("a token");
            assert_eq!(of_token(&token).as_deref(), Some(name));
        }
        assert_eq!(to_sql("a\"b", Dialect::Three), "\"a\"\"b\"");
        assert_eq!(to_sql("AB", Dialect::One), "AB");
    }

    #[test]
    fn cursors_are_found_by_their_names() {
        for (written, name) in
            [("c1", "C1"), ("C1", "c1"), ("\"My C\"", "My C"), ("\"My C\"", "\"My C\""), ("abc", "\"ABC\"")]
        {
            assert!(is_of_cursor(written, name), "{written} {name}");
        }
        for (written, name) in [("c1", "c2"), ("\"c1\"", "C1"), ("abc", "\"abc\"")] {
            assert!(!is_of_cursor(written, name), "{written} {name}");
        }
    }
}
