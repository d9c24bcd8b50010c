//! Patterns and identifiers without an engine.

use crate::catalog::argument::{Query, Selection};
use proptest::prelude::*;

fn pattern(text: &str) -> Selection {
    Selection::of_pattern(text)
}

#[test]
fn patterns_without_wildcards_are_names() {
    for (text, name) in [
        ("", ""),
        ("T", "T"),
        ("a\\_b", "a_b"),
        ("100\\%", "100%"),
        ("a\\\\b", "a\\b"),
        ("a\\b", "a\\b"),
        ("a\\", "a\\"),
        ("T  ", "T"),
        (" T", " T"),
    ] {
        assert_eq!(pattern(text), Selection::One(name.into()), "{text}");
    }
}

#[test]
fn patterns_select_what_they_describe() {
    for (text, matching, others) in [
        ("%", &["", "A", "Ä😀"][..], &[][..]),
        ("_", &["A", "😀"], &["", "AB"]),
        ("A%", &["A", "AB", "A%"], &["", "BA", "a"]),
        ("%A", &["A", "BA", "AAA"], &["AB"]),
        ("%A%B%", &["AB", "xAxBx", "AAB"], &["BA", "A"]),
        ("A\\_%", &["A_", "A_B"], &["AB", "AxB"]),
        ("\\%_", &["%A"], &["AA", "%"]),
        ("\\\\%", &["\\", "\\A"], &["A\\"]),
        ("\\%%", &["%", "%A"], &["A", ""]),
    ] {
        let selection = pattern(text);
        assert!(matching.iter().all(|name| selection.matches(name)), "{text} {matching:?}");
        assert!(!others.iter().any(|name| selection.matches(name)), "{text} {others:?}");
    }
}

#[test]
fn the_engine_is_asked_for_no_fewer_names() {
    assert_eq!(pattern("a\\_%").query(), Query::Like("a_%".into()));
    assert_eq!(pattern("\\%_\\\\x").query(), Query::Like("__\\x".into()));
    assert_eq!(pattern("a\\_b").query(), Query::One("a_b".into()));
    assert_eq!(Selection::All.query(), Query::All);
}

#[test]
fn long_patterns_take_no_long_time() {
    let text = "%_a".repeat(100_000);
    assert!(!pattern(&text).matches(&"a".repeat(63)));
    let text = "%".repeat(1_000_000) + "b";
    assert!(!pattern(&text).matches(&"a".repeat(63)));
    assert!(pattern(&text).matches(&("a".repeat(62) + "b")));
}

/// By the definition, in exponential time.
fn matches(pattern: &[char], name: &[char], escapes: bool) -> bool {
    let starts_with = |wanted: char, rest: &[char]| {
        name.split_first().is_some_and(|(first, after)| *first == wanted && matches(rest, after, escapes))
    };
    match pattern {
        [] => name.is_empty(),
        ['\\', escaped @ ('%' | '_' | '\\'), rest @ ..] if escapes => starts_with(*escaped, rest),
        ['%', rest @ ..] => (0..=name.len()).any(|from| matches(rest, &name[from..], escapes)),
        ['_', rest @ ..] => !name.is_empty() && matches(rest, &name[1..], escapes),
        [other, rest @ ..] => starts_with(*other, rest),
    }
}

proptest! {
    #[test]
    fn patterns_match_by_their_definition(text in "[ab%_\\\\]{0,7}", name in "[ab%_\\\\]{0,7}") {
        let (of_text, of_name): (Vec<char>, Vec<char>) = (text.chars().collect(), name.chars().collect());
        let selection = pattern(&text);
        let expected = matches(&of_text, &of_name, true);
        prop_assert_eq!(selection.matches(&name), expected);
        if let Query::Like(query) = selection.query() {
            let query: Vec<char> = query.chars().collect();
            prop_assert!(!expected || matches(&query, &of_name, false));
        }
    }
}
