//! The little that the driver must know about SQL: where statements end, what they begin with, and where `:name`
//! markers are.

use crate::error::{Error, Result, shortened};
use firearrow::Dialect;
use firearrow::catalog::identifier;
use firearrow::sql::{Token, TokenKind, tokens};

/// Removes the semicolons at the end, of which Firebird takes one at most, and the comments after them.
pub fn without_end(sql: &str) -> &str {
    if !sql.contains(';') {
        return sql;
    }
    let (mut end, mut ended) = (0, false);
    for token in tokens(sql) {
        if token.is_symbol(';') {
            ended = true;
        } else {
            (end, ended) = (token.end(), false);
        }
    }
    if ended { &sql[..end] } else { sql }
}

/// A name as DDL must have it: databases of dialect 1 take no quotes there, in whatever dialect.
pub(crate) fn name(dialect: Dialect, name: &str) -> Result<String> {
    identifier(dialect, name).ok_or_else(|| {
        let name = shortened(name);
        let text = "dialect 1 has no quotes for names: they are upper-case letters, digits, _ and $";
        Error::argument(format!("'{name}' cannot be a name: {text}"))
    })
}

/// The first words in upper case, up to `N`.
fn first_words<const N: usize>(sql: &str) -> [String; N] {
    let mut words = tokens(sql)
        .map_while(|token| (token.kind == TokenKind::Word).then(|| token.text.to_ascii_uppercase()));
    std::array::from_fn(|_| words.next().unwrap_or_default())
}

/// Returns whether a statement changes rows, by its first word.
pub fn is_dml(sql: &str) -> bool {
    let first = tokens(sql).next();
    first.is_some_and(|first| ["INSERT", "UPDATE", "DELETE", "MERGE"].iter().any(|word| first.is_word(word)))
}

/// Returns whether a statement defines something, by its first words. ALTER SESSION does not.
pub fn is_ddl(sql: &str) -> bool {
    let [first, second] = first_words(sql);
    match (first.as_str(), second.as_str()) {
        ("ALTER", "SESSION") => false,
        ("CREATE" | "ALTER" | "DROP" | "RECREATE" | "COMMENT" | "GRANT" | "REVOKE" | "DECLARE", _)
        | ("SET", "STATISTICS") => true,
        _ => false,
    }
}

/// A text whose `:name` markers have become `?`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The text with `?`.
    pub sql: String,
    /// The name of each marker, in order.
    pub names: Vec<String>,
}

/// Finds `:name` markers; `None` if there is none. In PSQL, where they are variables, it does not look for them.
///
/// # Errors
/// The text has `?` markers as well.
pub fn named(sql: &str) -> Result<Option<Named>> {
    let [first, second] = first_words(sql);
    if is_ddl(sql) || (first == "EXECUTE" && second == "BLOCK") {
        return Ok(None);
    }
    let mut named = Named { sql: String::with_capacity(sql.len()), names: Vec::new() };
    let (mut markers, mut copied) = (0, 0);
    let mut rest = tokens(sql).peekable();
    while let Some(token) = rest.next() {
        markers += usize::from(token.is_symbol('?'));
        let is_name = |next: &Token<'_>| next.kind == TokenKind::Word && next.start == token.end();
        if token.is_symbol(':')
            && let Some(name) = rest.next_if(is_name)
        {
            named.names.push(name.text.to_owned());
            named.sql.push_str(&sql[copied..token.start]);
            named.sql.push('?');
            copied = name.end();
        }
    }
    named.sql.push_str(&sql[copied..]);
    match (named.names.is_empty(), markers) {
        (true, _) => Ok(None),
        (false, 0) => Ok(Some(named)),
        _ => Err(Error::argument("the statement has markers of both kinds, :name and ?")),
    }
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
        for sql in [
            "SELECT 1",
            "SET GENERATOR g TO 1",
            "",
            "(SELECT 1)",
            "EXECUTE BLOCK AS BEGIN END",
            "ALTER SESSION RESET",
        ] {
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
