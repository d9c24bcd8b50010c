//! Names as people write them.

/// Returns the text between the quotes of SQL, if it is nothing but a name in quotes.
pub(crate) fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let is_one = !inner.is_empty() && !inner.replace("\"\"", "").contains('"');
    is_one.then(|| inner.replace("\"\"", "\""))
}

/// Returns a name that needs no quotes as the engine stores it: in upper case. It may be an SQL keyword.
pub(crate) fn plain(text: &str) -> Option<String> {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$'));
    is_plain.then(|| text.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_part_of_no_name() {
        assert_eq!(unquoted("\"say \"\"x\"\"\"").as_deref(), Some("say \"x\""));
        for text in ["x", "\"x", "x\"", "\"\"", "\"a\"b\"", "\"", "\"a\".\"b\""] {
            assert_eq!(unquoted(text), None, "{text}");
        }
        assert_eq!(plain("ab_$1").as_deref(), Some("AB_$1"));
        for text in ["", "1a", "a b", "größe", "\"a\""] {
            assert_eq!(plain(text), None, "{text}");
        }
    }
}
