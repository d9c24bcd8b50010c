//! What psql writes otherwise.

use firearrow::sql::tokens;

/// The form that `\copy` has here, if this is one of psql's: `t from 'f.csv'` or `(SELECT …) to 'f.csv' csv header`.
pub(super) fn copy(arguments: &str) -> Option<String> {
    let mut depth = 0_u32;
    for token in tokens(arguments) {
        let (source, rest) = (&arguments[..token.start], &arguments[token.end()..]);
        match () {
            () if source.is_empty() && (token.is_word("SELECT") || token.is_word("WITH")) => return None,
            () if token.is_symbol('(') => depth += 1,
            () if token.is_symbol(')') => depth = depth.saturating_sub(1),
            () if depth > 0 || !is_word_of_its_own(source, rest) => {}
            () if token.is_word("FROM") => return Some(load(source.trim(), &file(rest)?)),
            () if token.is_word("TO") => return Some(save(source.trim(), &file(rest)?)),
            () => {}
        }
    }
    None
}

/// Whether it is no part of a file's name, and not the first word.
fn is_word_of_its_own(before: &str, after: &str) -> bool {
    before.ends_with([' ', '\t', ')', '"']) && after.starts_with([' ', '\t', '\''])
}

fn load(table: &str, file: &str) -> String {
    // Columns may be named after the table.
    let table = table.split('(').next().unwrap_or(table).trim();
    let load = if is_standard(file) {
        "firearrow load URL - --into".to_owned()
    } else {
        format!("\\load {} --into", quoted(file))
    };
    format!("\\copy writes files; to load one, write {load} {}", quoted(table))
}

fn save(source: &str, file: &str) -> String {
    let query = source.strip_prefix('(').and_then(|source| source.strip_suffix(')')).map(str::trim);
    let file = if is_standard(file) { "- --format csv".to_owned() } else { quoted(file) };
    format!("here this is \\copy {} {file}", quoted(query.unwrap_or(source)))
}

/// The first word, without its quotes.
fn file(rest: &str) -> Option<String> {
    let rest = rest.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let file = match quote {
        Some(quote) => rest[1..].split(quote).next(),
        None => rest.split_whitespace().next(),
    };
    file.filter(|file| !file.is_empty()).map(str::to_owned)
}

fn is_standard(file: &str) -> bool {
    ["stdin", "stdout", "pstdin", "pstdout"].iter().any(|name| file.eq_ignore_ascii_case(name))
}

/// As a word of a command's arguments.
fn quoted(text: &str) -> String {
    match text {
        _ if !text.contains(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '(')) => text.to_owned(),
        _ if !text.contains('\'') => format!("'{text}'"),
        _ if !text.contains('"') => format!("\"{text}\""),
        // No word can have both.
        _ => "'SELECT …'".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_psql_are_translated() {
        for (theirs, ours) in [
            ("t from 'f.csv'", "\\copy writes files; to load one, write \\load f.csv --into t"),
            (
                "t (a, b) FROM my.csv with csv",
                "\\copy writes files; to load one, write \\load my.csv --into t",
            ),
            (
                "\"T x\" from stdin",
                "\\copy writes files; to load one, write firearrow load URL - --into '\"T x\"'",
            ),
            ("(select a from t) to 'f.csv' csv header", "here this is \\copy 'select a from t' f.csv"),
            ("(select 'x' from t) to 'my f.csv'", "here this is \\copy \"select 'x' from t\" 'my f.csv'"),
            ("t to stdout", "here this is \\copy t - --format csv"),
            ("(select '\"' from t) to f", "here this is \\copy 'SELECT …' f"),
        ] {
            assert_eq!(copy(theirs).as_deref(), Some(ours), "{theirs}");
        }
        for ours in [
            "T f.csv",
            "'SELECT a FROM t' f.csv",
            "T to",
            "T to/x.csv",
            "SELECT a FROM t f.csv",
            "FROM to.csv",
            "\"A to b\" f.csv --force",
            "",
            "T",
        ] {
            assert_eq!(copy(ours), None, "{ours}");
        }
    }
}
