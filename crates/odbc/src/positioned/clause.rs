//! `UPDATE … WHERE CURRENT OF name` and `DELETE … WHERE CURRENT OF name`.

use super::name;
use firearrow::sql::{Token, tokens};

/// Where a statement refers to a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clause<'a> {
    /// The table that it changes, as the catalog spells it.
    pub(super) table: String,
    /// The name of the cursor as it is written.
    pub(super) cursor: &'a str,
    /// The text before WHERE.
    pub(super) before: &'a str,
    /// The text after the name: RETURNING.
    pub(super) after: &'a str,
    pub(super) is_delete: bool,
}

impl<'a> Clause<'a> {
    /// `None` if the text is another statement.
    pub(super) fn find(sql: &'a str) -> Option<Self> {
        let mut tokens = tokens(sql);
        let first = tokens.next()?;
        let is_delete = first.is_word("DELETE");
        if !is_delete && !first.is_word("UPDATE") {
            return None;
        }
        let mut next = tokens.next()?;
        if is_delete {
            if !next.is_word("FROM") {
                return None;
            }
            next = tokens.next()?;
        }
        let table = name::of_token(&next)?;
        let mut nesting = 0_usize;
        let mut last: [Option<Token<'_>>; 3] = [None; 3];
        for token in tokens {
            match token.text {
                "(" => nesting += 1,
                ")" => nesting = nesting.saturating_sub(1),
                _ if nesting > 0 => {}
                _ => {
                    let [before, current, of] = last;
                    let is = |token: Option<Token<'_>>, word| token.is_some_and(|token| token.is_word(word));
                    if is(before, "WHERE")
                        && is(current, "CURRENT")
                        && is(of, "OF")
                        && name::of_token(&token).is_some()
                    {
                        let start = before?.start;
                        return Some(Self {
                            table,
                            cursor: token.text,
                            before: sql.get(..start)?,
                            after: sql.get(token.end()..)?,
                            is_delete,
                        });
                    }
                }
            }
            last = [last[1], last[2], Some(token)];
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clause_is_found() {
        for (sql, table, cursor, after, is_delete) in [
            ("UPDATE t SET a = ? WHERE CURRENT OF c", "T", "c", "", false),
            ("delete from \"a b\" where current of \"My C\";", "a b", "\"My C\"", ";", true),
            (
                "UPDATE t SET a = ')' /* WHERE CURRENT OF x */ WHERE\nCURRENT -- of y\n OF z RETURNING a",
                "T",
                "z",
                " RETURNING a",
                false,
            ),
            ("UPDATE t SET a = (SELECT b FROM u WHERE c = 1) WHERE CURRENT OF c", "T", "c", "", false),
        ] {
            let clause = Clause::find(sql).expect(sql);
            assert_eq!(
                (clause.table.as_str(), clause.cursor, clause.after, clause.is_delete),
                (table, cursor, after, is_delete)
            );
            assert!(clause.before.ends_with([' ', '\n']));
        }
    }

    #[test]
    fn other_statements_have_none() {
        for sql in [
            "UPDATE t SET a = 'WHERE CURRENT OF c'",
            "UPDATE t SET a = 1 -- WHERE CURRENT OF c",
            "UPDATE t SET a = 1 WHERE CURRENT OF",
            "UPDATE t SET a = 1 WHERE CURRENT_DATE > d",
            "EXECUTE BLOCK AS BEGIN UPDATE t SET a = 1 WHERE CURRENT OF c; END",
            "SELECT 1 FROM t WHERE CURRENT OF c",
            "",
            "DELETE",
            "UPDATE OR",
        ] {
            assert_eq!(Clause::find(sql), None, "{sql}");
        }
    }
}
