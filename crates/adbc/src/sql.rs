//! The little that the driver has to know of SQL: where statements end, what they begin with, and where `:name` stands.

use crate::error::{Result, invalid_argument};

/// A part of an SQL text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// Blanks, or a comment.
    Blank,
    /// A key word or plain name.
    Word,
    /// `:name`.
    Named,
    /// `?`.
    Marker,
    Semicolon,
    /// Literals, delimited names, operators.
    Other,
}

/// The parts of a text with where they end.
struct Tokens<'a> {
    sql: &'a str,
    at: usize,
}

impl Iterator for Tokens<'_> {
    type Item = (Token, usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at;
        let rest = &self.sql.as_bytes()[start..];
        let (&first, second) = (rest.first()?, rest.get(1).copied());
        let (token, length) = match first {
            _ if first.is_ascii_whitespace() => (Token::Blank, 1),
            b'-' if second == Some(b'-') => {
                (Token::Blank, rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()))
            }
            b'/' if second == Some(b'*') => {
                let end = rest[2..].windows(2).position(|pair| pair == b"*/");
                (Token::Blank, end.map_or(rest.len(), |end| end + 4))
            }
            b'q' | b'Q' if second == Some(b'\'') => (Token::Other, alternative_quotes(rest)),
            b'\'' | b'"' => (Token::Other, quoted(rest, first)),
            b';' => (Token::Semicolon, 1),
            b'?' => (Token::Marker, 1),
            b':' if second.is_some_and(begins_word) => (Token::Named, 1 + word(&rest[1..])),
            _ if begins_word(first) => (Token::Word, word(rest)),
            // Digits go on like words, so that 1e5 is one part.
            b'0'..=b'9' => (Token::Other, word(rest)),
            _ => (Token::Other, 1),
        };
        self.at = start + length;
        Some((token, start, self.at))
    }
}

fn tokens(sql: &str) -> Tokens<'_> {
    Tokens { sql, at: 0 }
}

/// Bytes of characters beyond ASCII are parts of words: that keeps them together.
fn begins_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$' | 0x80..)
}

fn word(text: &[u8]) -> usize {
    text.iter().position(|&byte| !begins_word(byte) && !byte.is_ascii_digit()).unwrap_or(text.len())
}

/// Length of a text in quotes; doubled ones are two texts side by side, which is as good.
fn quoted(text: &[u8], quote: u8) -> usize {
    text[1..].iter().position(|&byte| byte == quote).map_or(text.len(), |end| end + 2)
}

/// Length of `q'{…}'`, in which quotes stand for themselves.
fn alternative_quotes(text: &[u8]) -> usize {
    let Some(&open) = text.get(2) else { return text.len() };
    let close = match open {
        b'(' => b')',
        b'{' => b'}',
        b'[' => b']',
        b'<' => b'>',
        // Whatever else is its own end. It may be the first byte of a longer character, which is found again as well.
        other => other,
    };
    let inner = text.get(3..).unwrap_or_default();
    inner.windows(2).position(|pair| pair == [close, b'\'']).map_or(text.len(), |end| end + 5)
}

/// The text without the semicolons at its end, of which Firebird takes one at most, and without what stands behind them.
pub(crate) fn without_end(sql: &str) -> &str {
    let (mut end, mut ended) = (0, false);
    for (token, _, to) in tokens(sql) {
        match token {
            Token::Blank => {}
            Token::Semicolon => ended = true,
            _ => (end, ended) = (to, false),
        }
    }
    if ended { &sql[..end] } else { sql }
}

/// The first words in upper case, up to `N`.
fn first_words<const N: usize>(sql: &str) -> [String; N] {
    let mut words = tokens(sql).filter(|(token, ..)| *token != Token::Blank);
    let mut more = true;
    std::array::from_fn(|_| match words.next() {
        Some((Token::Word, from, to)) if more => sql[from..to].to_ascii_uppercase(),
        _ => {
            more = false;
            String::new()
        }
    })
}

/// Whether a statement changes rows, by its first word.
pub(crate) fn is_dml(sql: &str) -> bool {
    let [first] = first_words(sql);
    matches!(first.as_str(), "INSERT" | "UPDATE" | "DELETE" | "MERGE")
}

/// Whether a statement defines something, by its first words.
pub(crate) fn is_ddl(sql: &str) -> bool {
    let [first, second] = first_words(sql);
    matches!(
        (first.as_str(), second.as_str()),
        ("CREATE" | "ALTER" | "DROP" | "RECREATE" | "COMMENT" | "GRANT" | "REVOKE" | "DECLARE", _)
            | ("SET", "STATISTICS")
    )
}

/// A text whose `:name` markers have become `?`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) sql: String,
    /// The name of each marker, in order.
    pub(crate) names: Vec<String>,
}

/// Finds `:name` markers; `None` if there is none. In PSQL, where they are variables, nothing is looked for.
pub(crate) fn named(sql: &str) -> Result<Option<Named>> {
    let [first, second] = first_words(sql);
    if is_ddl(sql) || (first == "EXECUTE" && second == "BLOCK") {
        return Ok(None);
    }
    let mut named = Named { sql: String::with_capacity(sql.len()), names: Vec::new() };
    let mut markers = 0;
    for (token, from, to) in tokens(sql) {
        if token == Token::Named {
            named.names.push(sql[from + 1..to].to_owned());
            named.sql.push('?');
        } else {
            markers += usize::from(token == Token::Marker);
            named.sql.push_str(&sql[from..to]);
        }
    }
    match (named.names.is_empty(), markers) {
        (true, _) => Ok(None),
        (false, 0) => Ok(Some(named)),
        _ => Err(invalid_argument("the statement has markers of both kinds, :name and ?")),
    }
}

/// A name as a delimited identifier.
pub(crate) fn delimited(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semicolons_at_the_end_go() {
        for (given, expected) in [
            ("SELECT 1 FROM t", "SELECT 1 FROM t"),
            ("SELECT 1 FROM t;;;", "SELECT 1 FROM t"),
            ("SELECT 1 FROM t ; -- end\n /* really */ ; ", "SELECT 1 FROM t"),
            ("SELECT ';' FROM t", "SELECT ';' FROM t"),
            ("SELECT 'it''s;' FROM t;", "SELECT 'it''s;' FROM t"),
            ("SELECT q'{;'}' FROM t;", "SELECT q'{;'}' FROM t"),
            ("SELECT \";\" FROM t -- ;", "SELECT \";\" FROM t -- ;"),
            ("EXECUTE BLOCK AS BEGIN x = 1; END", "EXECUTE BLOCK AS BEGIN x = 1; END"),
            ("EXECUTE BLOCK AS BEGIN x = 1; END;", "EXECUTE BLOCK AS BEGIN x = 1; END"),
            (";", ""),
            ("", ""),
            ("SELECT 'open;", "SELECT 'open;"),
            ("SELECT q'", "SELECT q'"),
            ("SELECT 'größe' /*", "SELECT 'größe' /*"),
        ] {
            assert_eq!(without_end(given), expected, "{given}");
        }
    }

    #[test]
    fn statements_are_told_by_their_first_words() {
        for sql in ["insert into t values (1)", "/* x */ -- y\n UPDATE t SET a = 1", "Merge into t"] {
            assert!(is_dml(sql) && !is_ddl(sql), "{sql}");
        }
        for sql in
            ["create table t (a int)", " RECREATE VIEW v", "SET STATISTICS INDEX i", "comment on table t"]
        {
            assert!(is_ddl(sql) && !is_dml(sql), "{sql}");
        }
        for sql in ["SELECT 1", "SET GENERATOR g TO 1", "", "(SELECT 1)", "EXECUTE BLOCK AS BEGIN END"] {
            assert!(!is_ddl(sql) && !is_dml(sql), "{sql}");
        }
    }

    #[test]
    fn names_become_markers() {
        let sql = "SELECT :größe, ':no', \":no\" /* :no */ FROM t WHERE a = :a_1 OR b[1:2] = :größe -- :no";
        let found = named(sql).expect("one kind").expect("it has names");
        assert_eq!(found.names, ["größe", "a_1", "größe"]);
        assert_eq!(found.sql, "SELECT ?, ':no', \":no\" /* :no */ FROM t WHERE a = ? OR b[1:2] = ? -- :no");
        assert_eq!(named("SELECT ? FROM t").expect("one kind"), None);
        assert!(named("SELECT ?, :a FROM t").is_err());
        for sql in ["EXECUTE BLOCK AS BEGIN x = :y; END", "CREATE PROCEDURE p AS BEGIN x = :y; END"] {
            assert_eq!(named(sql).expect("not looked at"), None);
        }
    }
}
