//! The table of a query, from its text: what the server describes does not tell a table from its second use.

use super::name;
use firearrow::sql::{Token, TokenKind, tokens};

/// A query whose rows are rows of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Query {
    /// As the catalog spells it.
    pub(super) table: String,
    /// Whether the cursor locks its rows.
    pub(super) locks: bool,
}

/// What may follow the only table of a query. All are reserved words, or cannot be an alias there.
const CLAUSES: [&str; 9] = ["WHERE", "PLAN", "ORDER", "ROWS", "OFFSET", "FETCH", "FOR", "WITH", "OPTIMIZE"];
const JOINS: [&str; 7] = ["JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL"];
const GROUPS: [&str; 4] = ["GROUP", "HAVING", "UNION", "WINDOW"];

impl Query {
    /// # Errors
    /// Why the rows are not those of one table.
    pub(super) fn read(sql: &str) -> Result<Self, &'static str> {
        let mut tokens = tokens(sql).peekable();
        if !tokens.next().is_some_and(|first| first.is_word("SELECT")) {
            return Err("it is not a plain SELECT");
        }
        let mut nesting = 0_usize;
        let mut previous: Option<Token<'_>> = None;
        loop {
            let Some(token) = tokens.next() else { return Err("it has no FROM") };
            let follows = |word| previous.is_some_and(|previous| previous.is_word(word));
            match token.text {
                "(" => nesting += 1,
                ")" => nesting = nesting.saturating_sub(1),
                _ if token.is_word("SELECT") => return Err("its columns contain a subquery"),
                _ if token.is_word("OVER") => return Err("its columns contain window functions"),
                _ if nesting > 0 => {}
                _ if previous.is_none() && token.is_word("DISTINCT") => return Err("it has DISTINCT"),
                _ if token.is_word("FROM") && !follows("DISTINCT") => break,
                _ => {}
            }
            previous = Some(token);
        }
        let table = tokens.next().and_then(|token| name::of_token(&token));
        let table = table.ok_or("its FROM is not the name of a table")?;
        let is_any = |token: &Token<'_>, words: &[&str]| words.iter().any(|word| token.is_word(word));
        if tokens.next_if(|token| token.is_word("AS")).is_some() {
            tokens.next();
        } else {
            let known = |token: &Token<'_>| {
                is_any(token, &CLAUSES) || is_any(token, &JOINS) || is_any(token, &GROUPS)
            };
            tokens.next_if(|token| match token.kind {
                TokenKind::Word => !known(token),
                kind => kind == TokenKind::QuotedName,
            });
        }
        match tokens.peek() {
            Some(token) if is_any(token, &JOINS) || token.is_symbol(',') => return Err("it joins tables"),
            Some(token) if !(is_any(token, &CLAUSES) || is_any(token, &GROUPS) || token.is_symbol(';')) => {
                return Err("its FROM is not the name of a table");
            }
            _ => {}
        }
        let (mut nesting, mut locks) = (0_usize, false);
        let mut previous: Option<Token<'_>> = None;
        for token in tokens {
            match token.text {
                "(" => nesting += 1,
                ")" => nesting = nesting.saturating_sub(1),
                _ if nesting > 0 => {}
                _ if is_any(&token, &GROUPS) => return Err("it groups rows or has UNION"),
                _ => {
                    locks |=
                        token.is_word("LOCK") && previous.is_some_and(|previous| previous.is_word("WITH"));
                }
            }
            previous = Some(token);
        }
        Ok(Self { table, locks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_table_is_found() {
        for (sql, table, locks) in [
            ("SELECT * FROM t", "T", false),
            (
                "select a.* from \"My T\" as a where id in (select id from u union select 1 from v)",
                "My T",
                false,
            ),
            ("SELECT FIRST 2 extract(year from d), x FROM t x ORDER BY 1;", "T", false),
            (
                "SELECT CASE WHEN a IS DISTINCT FROM b THEN 1 END, a FROM T WHERE a = ',' FOR UPDATE",
                "T",
                false,
            ),
            ("SELECT a FROM T FOR UPDATE OF a WITH LOCK", "T", true),
            ("SELECT a FROM T /* JOIN */ -- , u", "T", false),
            ("SELECT a FROM T \"JOIN\" ROWS 5", "T", false),
        ] {
            assert_eq!(Query::read(sql), Ok(Query { table: table.into(), locks }), "{sql}");
        }
    }

    #[test]
    fn other_queries_are_refused() {
        for sql in [
            "",
            "SELECT",
            "SELECT 1",
            "UPDATE t SET a = 1 RETURNING a",
            "WITH x AS (SELECT 1 FROM t) SELECT * FROM x",
            "SELECT DISTINCT a FROM t",
            "SELECT a FROM t, u",
            "SELECT a FROM t x, t y",
            "SELECT a FROM t JOIN t x ON 1 = 1",
            "SELECT a FROM t x LEFT JOIN u ON 1 = 1",
            "SELECT a FROM t NATURAL JOIN u",
            "SELECT a FROM (SELECT a FROM t)",
            "SELECT a FROM p(1)",
            "SELECT a FROM p (1) x",
            "SELECT a FROM t GROUP BY a",
            "SELECT a FROM t WHERE b = 1 GROUP BY a",
            "SELECT a FROM t UNION ALL SELECT a FROM t",
            "SELECT (SELECT x.id FROM t x ROWS 1) AS id FROM t",
            "SELECT FIRST_VALUE(id) OVER (ORDER BY a) FROM t",
            "SELECT a FROM s.t",
        ] {
            assert!(Query::read(sql).is_err(), "{sql}");
        }
    }
}
