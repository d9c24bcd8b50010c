//! The syntax `KEY=value;KEY={value};…`.

use crate::diagnostics::{Failure, Result, State};
use std::borrow::Cow;

/// No application has so many. It bounds the work that a hostile string causes.
pub(super) const MOST_ATTRIBUTES: usize = 1000;

/// Whether text begins with a keyword and `=`, which no database name and no data source name does.
pub(crate) fn is_list(text: &str) -> bool {
    let text = text.trim_start_matches(|c| c == ';' || is_blank(c));
    let Some((name, _)) = text.split_once('=') else { return false };
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || " _-.".contains(c))
}

/// Splits a connection string into names and values. Messages repeat nothing of it: a value that should have been
/// in braces may be a password.
pub(super) fn split(text: &str) -> Result<Vec<(&str, String)>> {
    if text.contains('\0') {
        return Err(bad("the connection string contains a zero byte"));
    }
    let mut pairs = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c| c == ';' || is_blank(c));
        if rest.is_empty() {
            return Ok(pairs);
        }
        if pairs.len() == MOST_ATTRIBUTES {
            return Err(bad(format!("the connection string has more than {MOST_ATTRIBUTES} attributes")));
        }
        let pair = rest.split_once('=').map(|(name, tail)| (name.trim_matches(is_blank), tail));
        let Some((name, tail)) = pair.filter(|(name, _)| !name.is_empty() && !name.contains(';')) else {
            return Err(bad(
                "a part of the connection string is not KEYWORD=value; put values that contain ; in braces: {…}",
            ));
        };
        let tail = tail.trim_start_matches(is_blank);
        let value;
        (value, rest) = match tail.strip_prefix('{') {
            Some(tail) => braced(tail)?,
            None => {
                let (value, rest) = tail.split_at(tail.find(';').unwrap_or(tail.len()));
                (value.trim_end_matches(is_blank).to_owned(), rest)
            }
        };
        pairs.push((name, value));
    }
}

/// Reads to the closing brace. Returns the value and what follows.
fn braced(text: &str) -> Result<(String, &str)> {
    let unbalanced = || {
        // Not with PWD= as its keyword: programs that mask passwords would mask the example.
        bad(
            "a value that begins with { must end with }, and a } within it must be doubled: KEYWORD={a}}b} means a}b",
        )
    };
    let mut value = String::new();
    let mut rest = text;
    loop {
        let (part, tail) = rest.split_once('}').ok_or_else(unbalanced)?;
        value.push_str(part);
        if let Some(tail) = tail.strip_prefix('}') {
            value.push('}');
            rest = tail;
            continue;
        }
        let tail = tail.trim_start_matches(is_blank);
        let is_end = tail.is_empty() || tail.starts_with(';');
        return if is_end { Ok((value, tail)) } else { Err(unbalanced()) };
    }
}

/// Writes a value so that [`split`] reads it unchanged.
pub(super) fn quoted(value: &str) -> Cow<'_, str> {
    let needs_braces = value.contains([';', '{', '}', '=']) || value.trim_matches(is_blank) != value;
    if needs_braces { Cow::Owned(in_braces(value)) } else { Cow::Borrowed(value) }
}

pub(super) fn in_braces(value: &str) -> String {
    format!("{{{}}}", value.replace('}', "}}"))
}

/// Other spaces, such as a no-break space, may belong to a password.
pub(super) fn is_blank(c: char) -> bool {
    c.is_ascii_whitespace()
}

fn bad(text: impl Into<String>) -> Failure {
    Failure::new(State::GENERAL, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(&str, String)> {
        split(text).unwrap_or_else(|failure| panic!("{text}: {failure:?}"))
    }

    #[test]
    fn pairs_are_split_and_trimmed() {
        let expected = [("DSN", "a b"), ("Character Set", "UTF8"), ("PWD", ""), ("x", "y=z")];
        let expected = expected.map(|(name, value)| (name, value.to_owned()));
        for text in [
            "DSN=a b;Character Set=UTF8;PWD=;x=y=z",
            " ; DSN = a b ;;\t Character Set\r\n=UTF8 ; PWD= ; x=y=z;; ",
            "DSN={a b};Character Set={UTF8} ; PWD={};x={y=z}",
        ] {
            assert_eq!(pairs(text), expected, "{text}");
        }
        assert_eq!(pairs(""), []);
        assert_eq!(pairs(" ;; ; "), []);
    }

    #[test]
    fn braces_protect_everything() {
        for (text, value) in [
            ("p={;=;}", ";=;"),
            ("p={ x }", " x "),
            ("p={a}}b}", "a}b"),
            ("p={}}}", "}"),
            ("p={}}}}}", "}}"),
            ("p={{}", "{"),
            ("p=a{b}c", "a{b}c"),
            ("p=}", "}"),
            ("p={};q=1", ""),
        ] {
            assert_eq!(pairs(text)[0].1, value, "{text}");
        }
    }

    #[test]
    fn what_is_no_list_is_refused_without_repeating_it() {
        for text in [
            "secret",
            "PWD=a;secret",
            "=secret",
            "PWD={secret",
            "PWD={secret}x",
            "PWD={secret}}",
            "PWD=se\0cret",
        ] {
            let failure = split(text).expect_err(text);
            assert_eq!(failure.state, State::GENERAL);
            assert!(!failure.text.contains("ecret"), "{}", failure.text);
        }
    }

    #[test]
    fn the_example_of_braces_survives_masking() {
        let failure = split("UID=x;PWD={secret").expect_err("no end");
        assert!(failure.text.ends_with("KEYWORD={a}}b} means a}b"), "{}", failure.text);
        assert!(!failure.text.to_ascii_uppercase().contains("PWD="), "{}", failure.text);
    }

    #[test]
    fn hostile_strings_end_quickly() {
        let many = "k=v;".repeat(MOST_ATTRIBUTES);
        assert_eq!(pairs(&many).len(), MOST_ATTRIBUTES);
        assert!(split(&"k=v;".repeat(25_000)).is_err());
        for text in ["{".repeat(100_000), format!("p={{{}", "}}".repeat(50_000)), ";".repeat(100_000)] {
            assert_eq!(split(&text).is_ok(), text.starts_with(';'));
        }
        let long = "x".repeat(100_000);
        assert_eq!(pairs(&format!("p={long}"))[0].1, long);
        assert_eq!(pairs(&format!("p={{{}}}", "}}".repeat(50_000)))[0].1, "}".repeat(50_000));
    }

    #[test]
    fn lists_are_told_from_names() {
        for text in ["a=b", "DRIVER={x};y=z", " ;User ID=x", "wire_compress=y"] {
            assert!(is_list(text), "{text}");
        }
        for text in
            ["", "shop", "firebird://h/x?role=y", "/data/a=b.fdb", "=x", "h:x?a=b", "host/3050:x?role=a"]
        {
            assert!(!is_list(text), "{text}");
        }
    }
}
