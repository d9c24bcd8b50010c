//! SELECT without FROM, which other databases have.

use firearrow::sql::{Token, tokens};

const FROM: &str = " FROM RDB$DATABASE";

/// Words that begin the next part of a SELECT. All are reserved.
const CLAUSES: [&str; 11] =
    ["WHERE", "GROUP", "HAVING", "WINDOW", "PLAN", "UNION", "ORDER", "ROWS", "OFFSET", "FETCH", "FOR"];

/// Adds FROM RDB$DATABASE to each SELECT of a query that has no FROM, outside parentheses. `None` if there is none.
pub(crate) fn with_from(sql: &str) -> Option<String> {
    let mut added = String::new();
    let mut copied = 0;
    let mut add = |at: usize| {
        added.push_str(&sql[copied..at]);
        added.push_str(FROM);
        copied = at;
    };
    let mut nesting = 0_usize;
    let mut lacks_from = false;
    let mut previous: Option<Token<'_>> = None;
    for token in tokens(sql) {
        let follows = |word| previous.is_some_and(|previous: Token<'_>| previous.is_word(word));
        match token.text {
            "(" => nesting += 1,
            ")" => nesting = nesting.saturating_sub(1),
            _ if nesting > 0 => {}
            _ if previous.is_none() && !token.is_word("SELECT") && !token.is_word("WITH") => return None,
            _ if token.is_word("SELECT") => lacks_from = true,
            // All columns of no table.
            "*" if follows("SELECT") => return None,
            // IS DISTINCT FROM is a comparison.
            _ if token.is_word("FROM") && !follows("DISTINCT") => lacks_from = false,
            // NEXT VALUE FOR belongs to what is selected.
            _ if token.is_word("FOR") && follows("VALUE") => {}
            _ if lacks_from && ends_list(&token) => {
                previous.inspect(|previous| add(previous.end()));
                lacks_from = false;
            }
            _ => {}
        }
        previous = Some(token);
    }
    if lacks_from {
        previous.inspect(|previous| add(previous.end()));
    }
    added.push_str(&sql[copied..]);
    (copied > 0).then_some(added)
}

/// Whether this comes after what is selected.
fn ends_list(token: &Token<'_>) -> bool {
    token.is_symbol(';') || CLAUSES.iter().any(|clause| token.is_word(clause))
}
