//! The form of escapes that looks like a comment: `--(*vendor(Microsoft),product(ODBC) fn ucase(x) *)--`.

use crate::text::floor_char_boundary;
use firearrow::sql::{Token, tokens};
use std::borrow::Cow;

const OPENING: &str = "--(*";
const CLOSING: &str = "*)--";

/// No opening is longer. Looking no further keeps the time linear.
const LONGEST_OPENING: usize = 128;

/// Rewrites that form with braces. Everything keeps its position.
pub(super) fn modernize(sql: &str) -> Cow<'_, str> {
    if !sql.contains(OPENING) {
        return Cow::Borrowed(sql);
    }
    let mut modern = String::with_capacity(sql.len());
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some((found, length)) = next_delimiter(sql, at, depth > 0) {
        modern.push_str(&sql[at..found]);
        let closes = sql[found..].starts_with(CLOSING);
        modern.push(if closes { '}' } else { '{' });
        modern.extend(std::iter::repeat_n(' ', length - 1));
        depth = if closes { depth - 1 } else { depth + 1 };
        at = found + length;
    }
    modern.push_str(&sql[at..]);
    if at == 0 { Cow::Borrowed(sql) } else { Cow::Owned(modern) }
}

/// The next opening, or closing if there is one to close, with its length.
fn next_delimiter(sql: &str, from: usize, closes: bool) -> Option<(usize, usize)> {
    let mut end = from;
    for token in tokens(&sql[from..]) {
        let start = from + token.start;
        if let Some(found) = opening(sql, end, start) {
            return Some(found);
        }
        if closes && token.is_symbol('*') && sql[start..].starts_with(CLOSING) {
            return Some((start, CLOSING.len()));
        }
        end = from + token.end();
    }
    opening(sql, end, sql.len())
}

/// An opening among the comments between two tokens.
fn opening(sql: &str, mut at: usize, end: usize) -> Option<(usize, usize)> {
    loop {
        let gap = sql.get(at..end)?;
        at += gap.find(['-', '/'])?;
        let comment = &sql[at..end];
        if let Some(length) = opening_length(comment) {
            return Some((at, length));
        }
        at += if comment.starts_with("--") {
            comment.find('\n')?
        } else {
            comment.get(2..)?.find("*/")? + "/**/".len()
        };
    }
}

/// The length of the opening at the beginning. Those of other vendors are comments.
fn opening_length(comment: &str) -> Option<usize> {
    let window = &comment[..floor_char_boundary(comment, LONGEST_OPENING)];
    let inner = window.strip_prefix(OPENING)?;
    let mut tokens = tokens(inner);
    let mut last: Option<Token<'_>> = None;
    for expected in ["vendor", "(", "microsoft", ")", ",", "product", "(", "odbc", ")"] {
        last = tokens.next().filter(|token| token.text.eq_ignore_ascii_case(expected));
        last?;
    }
    last.map(|token| OPENING.len() + token.end())
}
