//! Queries that a condition on the rows of their table divides.

use crate::sql::{Token, TokenKind, tokens};

/// `SELECT … FROM table [alias] [WHERE …]` and nothing more. Aggregates and the like in its columns are not detected
/// here; the engine's plan shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlainQuery<'a> {
    sql: &'a str,
    /// The table as the catalog has it.
    pub(crate) table: String,
    /// The qualifier of its columns.
    pub(crate) reference: &'a str,
    /// Where the word FROM begins.
    from_start: usize,
    /// Where the table and its alias end.
    from_end: usize,
    /// Where the word WHERE ends, and its condition.
    condition: Option<(usize, usize)>,
}

/// Clauses that may follow a table or a WHERE, and joins. `parallel/why.rs` gives the reason for each of these; add it
/// there too.
const CLAUSES: [&str; 24] = [
    "CROSS",
    "EXCEPT",
    "FETCH",
    "FOR",
    "FULL",
    "GROUP",
    "HAVING",
    "INNER",
    "INTERSECT",
    "INTO",
    "JOIN",
    "LEFT",
    "LIMIT",
    "NATURAL",
    "OFFSET",
    "OPTIMIZE",
    "ORDER",
    "PLAN",
    "RETURNING",
    "RIGHT",
    "ROWS",
    "UNION",
    "WINDOW",
    "WITH",
];
/// Expressions whose value may differ with each execution.
const VOLATILE: [&str; 13] = [
    "CURRENT_CONNECTION",
    "CURRENT_DATE",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "CURRENT_TRANSACTION",
    "GEN_ID",
    "GEN_UUID",
    "LOCALTIME",
    "LOCALTIMESTAMP",
    "NEXT",
    "RAND",
    "RDB$GET_CONTEXT",
    "RDB$SET_CONTEXT",
];
/// Texts that mean a time once they are converted.
const VOLATILE_TEXTS: [&str; 4] = ["NOW", "TODAY", "TOMORROW", "YESTERDAY"];

impl<'a> PlainQuery<'a> {
    /// The query, if it is one of these.
    pub(crate) fn of(sql: &'a str) -> Option<Self> {
        let mut depth = 0_usize;
        let mut outer = Vec::new();
        for token in tokens(sql) {
            if is_volatile(&token) {
                return None;
            }
            if token.is_symbol(')') {
                depth = depth.checked_sub(1)?;
            }
            if depth == 0 {
                outer.push(token);
            }
            if token.is_symbol('(') {
                depth += 1;
            }
        }
        if depth > 0 || !outer.first()?.is_word("SELECT") {
            return None;
        }
        while outer.last()?.is_symbol(';') {
            outer.pop();
        }
        let from = outer.iter().position(|token| token.is_word("FROM"))?;
        let from_start = outer.get(from)?.start;
        let (table, rest) = outer.get(from + 1..)?.split_first()?;
        let name = catalog_name(table)?;
        let (alias, rest) = alias(rest);
        let last = alias.unwrap_or(table);
        let (reference, from_end) = (last.text, last.end());
        let mut query = Self { sql, table: name, reference, from_start, from_end, condition: None };
        let Some((next, condition)) = rest.split_first() else { return Some(query) };
        let is_simple =
            next.is_word("WHERE") && !condition.iter().any(|token| is_clause(token) || token.is_symbol(';'));
        query.condition = Some((next.end(), condition.last()?.end()));
        is_simple.then_some(query)
    }

    /// A query for other columns of the same rows.
    pub(crate) fn with_columns(&self, columns: &str) -> String {
        format!("SELECT {columns} {}", &self.sql[self.from_start..])
    }

    /// The same query for those rows only that also meet `condition`.
    pub(crate) fn and(&self, condition: &str) -> String {
        match self.condition {
            None => format!("{}\nWHERE {condition}", &self.sql[..self.from_end]),
            // The line end closes a comment at the end of the condition.
            Some((start, end)) => {
                format!("{} ({}\n) AND {condition}", &self.sql[..start], self.sql[start..end].trim())
            }
        }
    }
}

/// The alias, and what follows it.
fn alias<'t, 'a>(rest: &'t [Token<'a>]) -> (Option<&'t Token<'a>>, &'t [Token<'a>]) {
    let named = match rest.split_first() {
        Some((word, rest)) if word.is_word("AS") => rest,
        _ => rest,
    };
    match named.split_first() {
        Some((token, behind))
            if catalog_name(token).is_some() && !token.is_word("WHERE") && !is_clause(token) =>
        {
            (Some(token), behind)
        }
        _ => (None, rest),
    }
}

/// A name as the catalog stores it.
pub(crate) fn catalog_name(token: &Token<'_>) -> Option<String> {
    match token.kind {
        TokenKind::Word => Some(token.text.to_ascii_uppercase()),
        TokenKind::QuotedName => {
            let inner = token.text.get(1..token.text.len().checked_sub(1)?)?;
            Some(inner.replace("\"\"", "\""))
        }
        _ => None,
    }
}

fn is_clause(token: &Token<'_>) -> bool {
    CLAUSES.iter().any(|clause| token.is_word(clause))
}

/// Whether SQL has an expression whose value may differ with each execution.
pub(crate) fn has_volatile(sql: &str) -> bool {
    tokens(sql).any(|token| is_volatile(&token))
}

fn is_volatile(token: &Token<'_>) -> bool {
    // In dialect 1, double quotes delimit text instead of names. Whatever delimits it: q'{now}' is text, too.
    VOLATILE.iter().any(|word| token.is_word(word))
        || matches!(token.kind, TokenKind::Text | TokenKind::QuotedName) && is_volatile_text(token.text)
}

/// Whether the engine takes this text for the time of the execution. Blanks and delimiters around it do not count.
pub(crate) fn is_volatile_text(text: &str) -> bool {
    let text = text.strip_prefix(['q', 'Q']).unwrap_or(text);
    let text = text.trim_matches(|character: char| !character.is_alphanumeric());
    VOLATILE_TEXTS.iter().any(|volatile| text.eq_ignore_ascii_case(volatile))
}

#[cfg(test)]
mod tests {
    use super::PlainQuery;

    #[test]
    fn conditions_are_added_to_plain_queries() {
        for (sql, table, divided) in [
            ("select * from t", "T", "select * from t\nWHERE t.X"),
            (
                "select * from \"a \"\"b\" ;; -- done",
                "a \"b",
                "select * from \"a \"\"b\"\nWHERE \"a \"\"b\".X",
            ),
            ("SELECT a, TRIM(b FROM c) FROM t AS u", "T", "SELECT a, TRIM(b FROM c) FROM t AS u\nWHERE u.X"),
            (
                "SELECT a FROM t u WHERE a=1 OR b='group by'",
                "T",
                "SELECT a FROM t u WHERE (a=1 OR b='group by'\n) AND u.X",
            ),
            ("SELECT a FROM t WHERE a=1 -- or so\n;", "T", "SELECT a FROM t WHERE (a=1\n) AND t.X"),
            (
                "SELECT a FROM t WHERE a IN (SELECT b FROM u ORDER BY 1)",
                "T",
                "SELECT a FROM t WHERE (a IN (SELECT b FROM u ORDER BY 1)\n) AND t.X",
            ),
        ] {
            let query = PlainQuery::of(sql).unwrap_or_else(|| panic!("plain: {sql}"));
            assert_eq!(query.table, table);
            assert_eq!(query.and(&format!("{}.X", query.reference)), divided);
        }
    }

    #[test]
    fn columns_are_replaced() {
        for (sql, expected) in [
            ("select * from t where a=1", "SELECT COUNT(*) from t where a=1"),
            ("SELECT a, TRIM(b FROM c) FROM t AS u", "SELECT COUNT(*) FROM t AS u"),
        ] {
            assert_eq!(PlainQuery::of(sql).expect("plain").with_columns("COUNT(*)"), expected);
        }
    }

    #[test]
    fn anything_else_stays_whole() {
        for sql in [
            "",
            "SELECT 1",
            "SELECT * FROM",
            "SELECT * FROM t WHERE",
            "SELECT * FROM t, u",
            "SELECT * FROM t JOIN u ON 1=1",
            "SELECT * FROM t x LEFT JOIN u ON 1=1",
            "SELECT * FROM p(1)",
            "SELECT * FROM s.t",
            "SELECT * FROM (SELECT * FROM t)",
            "SELECT * FROM t ORDER BY 1",
            "SELECT * FROM t WHERE a=1 ROWS 5",
            "SELECT * FROM t WHERE a=1 UNION SELECT * FROM u",
            "SELECT * FROM t FOR UPDATE WITH LOCK",
            "SELECT * FROM t GROUP BY 1",
            "SELECT * FROM t PLAN (t NATURAL)",
            "SELECT * FROM t WHERE a < CURRENT_TIMESTAMP",
            "SELECT * FROM t WHERE a < CAST('now' AS TIMESTAMP)",
            "SELECT (NEXT VALUE FOR g) FROM t",
            "SELECT * FROM t; SELECT 1",
            "SELECT * FROM t WHERE a=1; b",
            "SELECT * FROM t) WHERE (a=1",
            "WITH c AS (SELECT 1 FROM t) SELECT * FROM c",
            "UPDATE t SET a=1 RETURNING a",
            "SELECT * FROM t 5",
        ] {
            assert_eq!(PlainQuery::of(sql), None, "{sql}");
        }
    }
}
