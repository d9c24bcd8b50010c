//! SQL that begins or ends a transaction. The driver does what it says: it must know its own transaction.

use crate::attributes::connection::has_transaction;
use crate::diagnostics::{Failure, Result, State};
use crate::handle::Link;
use firearrow::{StatementKind, sql};
use firearrow_driver::{Level, SessionOptions};

/// What a statement does to the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    Begin(Mode),
    End { commits: bool },
}

/// The options of `SET TRANSACTION`, which are Firebird's where it names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode {
    read_only: bool,
    level: Level,
    lock_timeout: Option<u16>,
}

/// Whether the text controls the transaction, by its first words.
pub(crate) fn is_control(text: &str) -> bool {
    let mut words = sql::tokens(text);
    let is = |token: Option<sql::Token<'_>>, word| token.is_some_and(|token| token.is_word(word));
    match words.next() {
        Some(first) if first.is_word("SET") => is(words.next(), "TRANSACTION"),
        first => is(first, "COMMIT") || is(first, "ROLLBACK"),
    }
}

impl Control {
    /// What a statement of this kind does, which the server has understood.
    pub(crate) fn new(kind: StatementKind, text: &str) -> Result<Option<Self>> {
        Ok(match kind {
            StatementKind::Commit => Some(Self::End { commits: true }),
            StatementKind::Rollback => Some(Self::End { commits: false }),
            StatementKind::StartTransaction => Some(Self::Begin(Mode::read(text)?)),
            _ => None,
        })
    }

    pub(crate) fn run(self, link: &Link) -> Result<()> {
        match self {
            Self::Begin(mode) => mode.begin(link),
            // There is nothing to end, and open cursors have transactions of their own.
            Self::End { .. } if link.session.is_autocommit() => Ok(()),
            Self::End { commits } => link.end(commits),
        }
    }
}

impl Mode {
    fn read(text: &str) -> Result<Self> {
        let words: Vec<String> = sql::tokens(text).map(|token| token.text.to_ascii_uppercase()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != ";").collect();
        let mut mode = Self { read_only: false, level: Level::Snapshot, lock_timeout: None };
        let mut rest = words.get(2..).unwrap_or_default();
        while !rest.is_empty() {
            rest = mode.take(rest).ok_or_else(|| {
                let text = format!("SET TRANSACTION cannot have {} here", rest.join(" "));
                Failure::new(State::NOT_IMPLEMENTED, text)
            })?;
        }
        Ok(mode)
    }

    /// Takes the first option, and returns the words after it.
    fn take<'a, 'b>(&mut self, words: &'a [&'b str]) -> Option<&'a [&'b str]> {
        Some(match words {
            ["READ", "ONLY", rest @ ..] => {
                self.read_only = true;
                rest
            }
            ["READ", "WRITE", rest @ ..] | ["ISOLATION", "LEVEL", rest @ ..] | ["ISOLATION", rest @ ..] => {
                rest
            }
            ["WAIT", rest @ ..] => rest,
            ["NO", "WAIT", rest @ ..] => {
                self.lock_timeout = Some(0);
                rest
            }
            ["LOCK", "TIMEOUT", seconds, rest @ ..] => {
                self.lock_timeout = Some(seconds.parse().ok()?);
                rest
            }
            ["READ", "COMMITTED" | "UNCOMMITTED", "READ", "CONSISTENCY", rest @ ..]
            | ["READ", "COMMITTED" | "UNCOMMITTED", "RECORD_VERSION", rest @ ..]
            | ["READ", "COMMITTED" | "UNCOMMITTED", rest @ ..]
                if !matches!(rest, ["NO", "RECORD_VERSION", ..]) =>
            {
                self.level = Level::ReadCommitted;
                rest
            }
            ["SNAPSHOT", "TABLE", "STABILITY", rest @ ..] | ["SNAPSHOT", "TABLE", rest @ ..] => {
                self.level = Level::Serializable;
                rest
            }
            ["SNAPSHOT", rest @ ..] => rest,
            _ => return None,
        })
    }

    /// Begins the transaction of manual mode in this way.
    fn begin(self, link: &Link) -> Result<()> {
        let session = &link.session;
        let refused = |text| Err(Failure::new(State::TRANSACTION_STATE, text));
        let usual = session.options();
        if usual.autocommit {
            return refused("SET TRANSACTION needs SQL_AUTOCOMMIT_OFF: now each statement has its own");
        }
        if has_transaction(link)? {
            return refused("a transaction is open: commit or roll back first");
        }
        let Self { read_only, level, lock_timeout } = self;
        session.configure(SessionOptions { read_only, level, lock_timeout, ..usual.clone() })?;
        // It keeps the options that it begins with.
        let begun = session.in_transaction(|_| Ok(()));
        session.configure(usual)?;
        Ok(begun?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_are_controlled_by_their_first_words() {
        for sql in ["commit", "/* x */ ROLLBACK work", "Set Transaction read only", "rollback to s"] {
            assert!(is_control(sql), "{sql}");
        }
        for sql in ["SET GENERATOR g TO 1", "SAVEPOINT s", "SET", "", "SELECT 1"] {
            assert!(!is_control(sql), "{sql}");
        }
    }

    #[test]
    fn options_are_understood_or_refused() {
        let mode = |read_only, level, lock_timeout| Mode { read_only, level, lock_timeout };
        for (sql, expected) in [
            ("set transaction", mode(false, Level::Snapshot, None)),
            ("SET TRANSACTION READ ONLY;", mode(true, Level::Snapshot, None)),
            (
                "SET TRANSACTION NO WAIT ISOLATION LEVEL READ COMMITTED RECORD_VERSION READ ONLY",
                mode(true, Level::ReadCommitted, Some(0)),
            ),
            ("SET TRANSACTION READ COMMITTED READ CONSISTENCY", mode(false, Level::ReadCommitted, None)),
            ("SET TRANSACTION READ COMMITTED READ WRITE", mode(false, Level::ReadCommitted, None)),
            (
                "SET TRANSACTION WAIT LOCK TIMEOUT 7 SNAPSHOT TABLE STABILITY",
                mode(false, Level::Serializable, Some(7)),
            ),
        ] {
            assert_eq!(Mode::read(sql), Ok(expected), "{sql}");
        }
        for sql in [
            "SET TRANSACTION READ COMMITTED NO RECORD_VERSION",
            "SET TRANSACTION SNAPSHOT AT NUMBER 17",
            "SET TRANSACTION RESERVING t FOR SHARED READ",
            "SET TRANSACTION LOCK TIMEOUT 99999",
        ] {
            assert_eq!(
                Mode::read(sql).map_err(|failure| failure.state),
                Err(State::NOT_IMPLEMENTED),
                "{sql}"
            );
        }
    }
}
