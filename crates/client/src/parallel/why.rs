//! Why a query is read by one connection.

use crate::partition::shape::has_volatile;
use crate::sql::{Token, tokens};
use std::fmt;

/// How a query is read: see [`Cursor::parallel`](crate::Cursor::parallel).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Parallelism {
    /// By this many connections at once, beside the cursor's own.
    Readers(usize),
    /// By the cursor's own connection alone.
    Plain(WhyPlain),
}

impl Parallelism {
    /// Returns how many connections read at once.
    pub fn readers(&self) -> usize {
        match self {
            Self::Readers(readers) => *readers,
            Self::Plain(_) => 1,
        }
    }

    /// Returns why only one reads, if so.
    pub fn why_plain(&self) -> Option<&WhyPlain> {
        match self {
            Self::Readers(_) => None,
            Self::Plain(why) => Some(why),
        }
    }
}

impl fmt::Display for Parallelism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Readers(readers) => write!(f, "{readers} readers"),
            Self::Plain(why) => write!(f, "one reader: {why}"),
        }
    }
}

/// Why a query is read by one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhyPlain {
    /// Nobody asked for more; see [`Statement::with_parallel`](crate::Statement::with_parallel).
    NotWanted,
    /// The engine, before Firebird 4, cannot share a snapshot.
    OldEngine,
    /// It is not a plain query of one table: a procedure or changes with RETURNING, for example.
    NoQuery,
    /// It joins tables.
    Join,
    /// It sorts its rows, or removes duplicates.
    Sorted,
    /// It aggregates rows.
    Aggregated,
    /// It limits the number of rows (FIRST, ROWS, FETCH …).
    Limited,
    /// It has several SELECTs.
    Subquery,
    /// It locks rows or opens a cursor for updates.
    Locks,
    /// It calls what may have another value in each execution or on each connection, such as CURRENT_TIMESTAMP, a
    /// generator, or a function of the database. So may a computed column.
    Volatile,
    /// What it reads is not an ordinary table: a view, a procedure, or a temporary, external or system table.
    NoTable,
    /// An index finds its rows.
    Index,
    /// Without snapshots to share, before Firebird 4, rows are divided by the primary key, and the table has none that
    /// begins with an integer.
    NoKey,
    /// The engine reads it in another way than page by page.
    Plan,
    /// The table is too small to gain anything.
    Small,
    /// The transaction has no stable snapshot: SNAPSHOT TABLE STABILITY, READ COMMITTED without READ CONSISTENCY, or one that
    /// commits by itself.
    Isolation,
    /// The transaction has changes of its own, or went on after it was committed, which others do not see.
    Changes,
    /// The session has settings of its own (`SET ROLE`, `SET BIND`, an idle time …), which other connections lack.
    Settings,
    /// The server is distant: its round trip is longer than 3 ms, and no number of connections was given.
    Distant,
    /// BLOBs are read by their ids (`blobs=lazy`), in the transaction that returned them.
    LazyBlobs,
    /// The other connections could not be opened, or not read the same.
    Readers(String),
}

impl fmt::Display for WhyPlain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotWanted => "parallel reading was not requested",
            Self::OldEngine => "sharing a snapshot needs Firebird 4 or later",
            Self::NoQuery => "it is not a plain query of one table",
            Self::Join => "it joins tables",
            Self::Sorted => "its rows are sorted",
            Self::Aggregated => "it aggregates rows",
            Self::Limited => "it limits the number of rows",
            Self::Subquery => "it has several SELECTs",
            Self::Locks => "it locks rows",
            Self::Volatile => "it calls something whose value may differ between connections",
            Self::NoTable => "it does not read an ordinary table",
            Self::Index => "an index finds its rows",
            Self::NoKey => "the table has no primary key that begins with an integer",
            Self::Plan => "the engine does not read it page by page",
            Self::Small => "the table is small",
            Self::Isolation => "the transaction has no stable snapshot",
            Self::Changes => "the transaction has changes of its own",
            Self::Settings => "the session has settings of its own",
            Self::Distant => "the server is distant",
            Self::LazyBlobs => "BLOBs are read by their ids",
            Self::Readers(error) => {
                let lines: Vec<&str> = error.lines().map(str::trim).collect();
                return write!(f, "the other connections failed: {}", lines.join("; "));
            }
        })
    }
}

impl WhyPlain {
    /// Of SQL that is not a plain query of one table.
    pub(crate) fn of_sql(sql: &str) -> Self {
        if has_volatile(sql) {
            return Self::Volatile;
        }
        let mut depth = 0_i32;
        let mut has_from = false;
        for token in tokens(sql) {
            if token.is_symbol('(') {
                depth += 1;
            } else if token.is_symbol(')') {
                depth -= 1;
            }
            if depth > 0 {
                continue;
            }
            if let Some(why) = Self::of_word(&token) {
                return why;
            }
            if token.is_symbol(',') && has_from {
                return Self::Join;
            }
            has_from |= token.is_word("FROM");
        }
        Self::NoQuery
    }

    fn of_word(token: &Token<'_>) -> Option<Self> {
        const WORDS: [(&[&str], WhyPlain); 6] = [
            (&["JOIN", "NATURAL"], WhyPlain::Join),
            (&["ORDER", "DISTINCT"], WhyPlain::Sorted),
            (&["GROUP", "HAVING"], WhyPlain::Aggregated),
            (&["FIRST", "SKIP", "ROWS", "OFFSET", "FETCH"], WhyPlain::Limited),
            (&["UNION", "WITH"], WhyPlain::Subquery),
            (&["FOR"], WhyPlain::Locks),
        ];
        let mut known = WORDS.iter();
        let found = known.find(|(words, _)| words.iter().any(|word| token.is_word(word)))?;
        Some(found.1.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_why() {
        for (sql, why) in [
            ("SELECT a, b FROM t JOIN u ON 1 = 1 ORDER BY 1", WhyPlain::Join),
            ("SELECT a, b FROM t, u", WhyPlain::Join),
            ("SELECT a, (SELECT 1 FROM x ORDER BY 1) FROM t ORDER BY 1", WhyPlain::Sorted),
            ("SELECT a FROM t GROUP BY a", WhyPlain::Aggregated),
            ("SELECT FIRST 5 a FROM t", WhyPlain::Limited),
            ("SELECT a FROM t UNION SELECT b FROM t", WhyPlain::Subquery),
            ("SELECT a FROM t FOR UPDATE", WhyPlain::Locks),
            ("SELECT a, RAND() FROM t ORDER BY 1", WhyPlain::Volatile),
            ("SELECT 1", WhyPlain::NoQuery),
        ] {
            assert_eq!(WhyPlain::of_sql(sql), why, "{sql}");
        }
    }

    #[test]
    fn reasons_are_one_line() {
        let why = WhyPlain::Readers("no login\n  for you\n".into());
        assert_eq!(why.to_string(), "the other connections failed: no login; for you");
    }
}
