//! What has been entered: whether it is whole, where a command begins in it, and the words of its arguments.

use crate::failure::{Failure, Result};
use crate::runner::has_open_comment;
use firearrow::sql::tokens;
use firearrow_driver::script::Splitter;

/// Where a command begins in the last line, maybe after SQL: not within a text or comment.
pub(super) fn command_start(text: &str) -> Option<usize> {
    let text = text.trim_end();
    let line = text.rfind('\n').map_or(0, |end| end + 1);
    if !text[line..].contains('\\') {
        return None;
    }
    // No SQL has a backslash of its own.
    tokens(text).find(|token| token.start >= line && token.is_symbol('\\')).map(|token| token.start)
}

/// Whether it is a word that needs no terminator.
pub(super) fn is_bare(text: &str) -> bool {
    ["exit", "quit", "help", "?"].iter().any(|word| text.trim().eq_ignore_ascii_case(word))
}

/// Whether a line has a terminator in it, in whatever letter case.
pub(super) fn contains(line: &str, terminator: &str) -> bool {
    line.contains(terminator) || line.to_ascii_uppercase().contains(&terminator.to_ascii_uppercase())
}

/// Whether SQL ends with a statement's end.
pub(super) fn is_whole(sql: &str, mut splitter: Splitter) -> bool {
    // A wrong SET TERM is whole as well: running it tells what is wrong.
    splitter.split(sql).map_or(true, |split| split.rest.is_empty()) && !has_open_comment(sql)
}

/// The words of a command's arguments; quotes keep blanks, and so does a backslash, which completion writes before them.
pub(super) fn words(text: &str) -> Result<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (None, '\\') => {
                let escaped = characters.next_if(|next| !next.is_alphanumeric());
                word.get_or_insert_default().push(escaped.unwrap_or(c));
            }
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(Failure::usage("a quote is not closed"));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_blanks_in_words() {
        for (text, expected) in [
            ("SALES sales.parquet", &["SALES", "sales.parquet"][..]),
            (
                "'SELECT \"A\" FROM t'  \"my file.csv\" --force",
                &["SELECT \"A\" FROM t", "my file.csv", "--force"],
            ),
            ("a\\ b.csv C:\\x \\' \\", &["a b.csv", "C:\\x", "'", "\\"]),
            ("''", &[""]),
            ("  ", &[]),
        ] {
            assert_eq!(words(text).unwrap(), expected, "{text}");
        }
        assert!(words("'open").is_err());
    }

    #[test]
    fn statements_are_whole_with_their_terminator() {
        let whole = |sql: &str| is_whole(sql, Splitter::default());
        assert!(whole("SELECT 1 FROM t;") && whole("-- nothing") && whole("a; b; -- c"));
        for text in [
            "SELECT 1\n\\g",
            "SELECT 1 \\g",
            "SELECT 1;\\gx \n",
            "\\copy '\\' \\",
            "/* */ \\p",
            "\\! echo it's",
        ] {
            assert_eq!(command_start(text), text.find('\\'), "{text}");
        }
        for text in ["SELECT '\n\\! x", "/* \n\\! x", "SELECT \"\n\\g", "SELECT '\\g", "-- \\g", "a \\g\nb"] {
            assert_eq!(command_start(text), None, "{text}");
        }
        assert!(!whole("a; /* x\n") && !whole("-- /*\n/* ;") && whole("a; /* x */ -- /*\n/**/"));
        assert!(!whole("SELECT 1 FROM t") && !whole("EXECUTE BLOCK AS BEGIN x = 1;") && !whole("SELECT ';"));
    }
}
