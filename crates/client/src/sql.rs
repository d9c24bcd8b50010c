//! The words of SQL text, as far as somebody must know them who adds to a statement or takes it apart.

/// A piece of SQL text. Comments and blanks are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: TokenKind,
    /// It, as it is written.
    pub text: &'a str,
    /// Bytes of the SQL text before it.
    pub start: usize,
}

/// What a piece of SQL text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A keyword or a name without quotes. Firebird's have letters of ASCII only; those of front ends' markers may not.
    Word,
    /// A name in double quotes.
    QuotedName,
    /// Text in single quotes, or between `q'…` and `…'`.
    Text,
    /// A number.
    Number,
    /// Any other character.
    Symbol,
}

impl Token<'_> {
    /// Bytes of the SQL text up to its end.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Whether it is this keyword, in any letter case.
    pub fn is_word(&self, word: &str) -> bool {
        self.kind == TokenKind::Word && self.text.eq_ignore_ascii_case(word)
    }

    /// Whether it is this character.
    pub fn is_symbol(&self, symbol: char) -> bool {
        self.kind == TokenKind::Symbol && self.text.starts_with(symbol)
    }
}

/// The pieces of SQL text. What is not closed ends with the text.
///
/// ```
/// let sql = "SELECT \"a b\" -- remark\nFROM t WHERE c = 'it''s'";
/// let texts: Vec<&str> = firearrow::sql::tokens(sql).map(|token| token.text).collect();
/// assert_eq!(texts, ["SELECT", "\"a b\"", "FROM", "t", "WHERE", "c", "=", "'it''s'"]);
/// ```
pub fn tokens(sql: &str) -> impl Iterator<Item = Token<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += blank(&sql[at..]);
        let rest = &sql[at..];
        let (kind, length) = measure(rest)?;
        let token = Token { kind, text: &rest[..length], start: at };
        at += length;
        Some(token)
    })
}

/// Bytes of blanks and comments at the beginning.
fn blank(sql: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = &sql[at..];
        let length = if rest.starts_with("--") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.get(2..).and_then(|inner| inner.find("*/")).map_or(rest.len(), |end| end + 4)
        } else {
            rest.len() - rest.trim_start().len()
        };
        if length == 0 {
            return at;
        }
        at += length;
    }
}

fn measure(sql: &str) -> Option<(TokenKind, usize)> {
    let first = sql.chars().next()?;
    let second = sql[first.len_utf8()..].chars().next();
    Some(match first {
        '\'' => (TokenKind::Text, quoted(sql, '\'')),
        'q' | 'Q' if second == Some('\'') => (TokenKind::Text, bracketed(sql)),
        '"' => (TokenKind::QuotedName, quoted(sql, '"')),
        '0'..='9' => (TokenKind::Number, run(sql, |c| c.is_ascii_alphanumeric() || c == '.')),
        c if c.is_alphabetic() || c == '_' => (TokenKind::Word, run(sql, is_in_name)),
        c => (TokenKind::Symbol, c.len_utf8()),
    })
}

fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

fn run(sql: &str, belongs: impl Fn(char) -> bool) -> usize {
    sql.find(|c| !belongs(c)).unwrap_or(sql.len())
}

/// Up to the closing quote; two of them are one character of the text.
fn quoted(sql: &str, quote: char) -> usize {
    let mut at = 1;
    while let Some(found) = sql[at..].find(quote) {
        at += found + 1;
        if !sql[at..].starts_with(quote) {
            return at;
        }
        at += 1;
    }
    sql.len()
}

/// `q'{…}'`, with brackets of any kind or the same character twice.
fn bracketed(sql: &str) -> usize {
    let Some(open) = sql[2..].chars().next() else { return sql.len() };
    let close = match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        other => other,
    };
    let start = 2 + open.len_utf8();
    let end = format!("{close}'");
    sql[start..].find(&end).map_or(sql.len(), |found| start + found + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(sql: &str) -> Vec<&str> {
        tokens(sql).map(|token| token.text).collect()
    }

    #[test]
    fn quotes_hide_what_they_contain() {
        assert_eq!(texts("'a''b' 'c'"), ["'a''b'", "'c'"]);
        assert_eq!(texts("\"x\"\"y\"z"), ["\"x\"\"y\"", "z"]);
        assert_eq!(texts("q'{it's}' Q'!a'b!'||1.5e3"), ["q'{it's}'", "Q'!a'b!'", "|", "|", "1.5e3"]);
        assert_eq!(texts("x'4a' _utf8 'ä' quote'1'"), ["x", "'4a'", "_utf8", "'ä'", "quote", "'1'"]);
    }

    #[test]
    fn comments_are_blanks() {
        assert_eq!(texts("a/* ' */b -- \"\n/**/c--"), ["a", "b", "c"]);
        assert_eq!(texts("a - -1/2"), ["a", "-", "-", "1", "/", "2"]);
    }

    #[test]
    fn what_is_not_closed_ends_with_the_text() {
        for (sql, last) in [
            ("a 'b", "'b"),
            ("a \"b", "\"b"),
            ("a q'{b", "q'{b"),
            ("a q'", "q'"),
            ("a /* b", "a"),
            ("a /*/", "a"),
        ] {
            assert_eq!(texts(sql).last(), Some(&last), "{sql}");
        }
    }

    proptest! {
        #[test]
        fn tokens_are_in_order_and_nothing_else_is_left(sql in "[a-z'\"/*\\-q{}(); ?ä\n]{0,40}") {
            let mut end = 0;
            for token in tokens(&sql) {
                prop_assert!(token.start >= end && !token.text.is_empty());
                prop_assert_eq!(&sql[token.start..token.end()], token.text);
                end = token.end();
            }
            prop_assert!(end <= sql.len());
        }
    }
}
