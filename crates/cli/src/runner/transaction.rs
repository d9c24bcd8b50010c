//! `SET TRANSACTION`, and what a statement does to the transaction.

use crate::failure::{Failure, Result};
use firearrow::sql::{Token, TokenKind, tokens};
use firearrow::{Isolation, LockResolution, TransactionOptions};

/// What a statement needs of the transaction that it runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It ends the transaction, or continues it (`RETAIN`).
    Commit { retain: bool },
    /// The same; going back to a savepoint is [`Role::Change`].
    Rollback { retain: bool },
    /// It begins one with these options.
    Start(TransactionOptions),
    /// It defines something, which others see once it is committed.
    Define,
    /// It reads only, unless a procedure that it calls writes.
    Read,
    /// It may change something, or locks rows.
    Change,
}

/// Finds out by the words of a statement, so that no round trip is needed for it.
pub(super) fn role(sql: &str) -> Result<Role> {
    let words: Vec<Token<'_>> = tokens(sql).collect();
    let is = |index: usize, word: &str| words.get(index).is_some_and(|token| token.is_word(word));
    Ok(match () {
        () if is(0, "COMMIT") => Role::Commit { retain: retains(&words)? },
        () if is(0, "ROLLBACK") && !is(1 + usize::from(is(1, "WORK")), "TO") => {
            Role::Rollback { retain: retains(&words)? }
        }
        () if is(0, "SET") && is(1, "TRANSACTION") => Role::Start(options(&words[2..])?),
        () if firearrow_driver::sql::is_ddl(sql) => Role::Define,
        () if (is(0, "SELECT") || is(0, "WITH")) && !locks(&words) => Role::Read,
        () => Role::Change,
    })
}

/// Whether COMMIT or ROLLBACK, with optional words, continues the transaction.
///
/// # Errors
/// Other words follow: most likely the next statement, after a semicolon that is missing.
fn retains(words: &[Token<'_>]) -> Result<bool> {
    let given = |index: usize, word: &str| words.get(index).is_some_and(|token| token.is_word(word));
    let at = 1 + usize::from(given(1, "WORK"));
    let retain = given(at, "RETAIN");
    let at = at + usize::from(retain);
    let at = at + usize::from(retain && given(at, "SNAPSHOT"));
    // With another terminator (SET TERM), a semicolon may stand between.
    match words[at.min(words.len())..].iter().find(|token| token.text != ";") {
        None => Ok(retain),
        Some(token) => Err(too_much(words[0].text, token.text)),
    }
}

/// The error of a statement that is the command's own, not the server's, with more words than it has.
pub(super) fn too_much(statement: &str, word: &str) -> Failure {
    let statement = statement.to_ascii_uppercase();
    Failure::usage(format!("{statement}: {word} is not understood here; is a semicolon missing before it?"))
}

/// # Errors
/// One of these words is COMMIT or ROLLBACK: a statement of its own, after a semicolon that is missing.
pub(super) fn refuse_endings(statement: &str, words: &[Token<'_>]) -> Result<()> {
    match words.iter().find(|token| token.is_word("COMMIT") || token.is_word("ROLLBACK")) {
        Some(token) => Err(too_much(statement, token.text)),
        None => Ok(()),
    }
}

/// `WITH LOCK` keeps its rows locked until the transaction ends.
fn locks(words: &[Token<'_>]) -> bool {
    words.windows(2).any(|pair| pair[0].is_word("WITH") && pair[1].is_word("LOCK"))
}

/// The options of `SET TRANSACTION`.
fn options(words: &[Token<'_>]) -> Result<TransactionOptions> {
    let mut options = TransactionOptions::default();
    let mut rest = words;
    let starts = |rest: &[Token<'_>], words: &[&str]| {
        words.len() <= rest.len() && words.iter().zip(rest).all(|(word, token)| token.is_word(word))
    };
    while let Some(first) = rest.first() {
        let form = FORMS.iter().find(|(words, _)| starts(rest, words));
        if starts(rest, &["SNAPSHOT", "AT", "NUMBER"]) && rest.len() > 3 {
            let number = rest[3].text.parse().map_err(|_| unknown(rest[3].text))?;
            (options.isolation, options.at_snapshot) = (Isolation::Snapshot, Some(number));
            rest = &rest[4..];
        } else if let Some((words, set)) = form {
            set(&mut options);
            rest = &rest[words.len()..];
        } else if starts(rest, &["LOCK", "TIMEOUT"])
            && rest.get(2).is_some_and(|t| t.kind == TokenKind::Number)
        {
            let seconds = rest[2].text.parse();
            let seconds = seconds.map_err(|_| unknown(rest[2].text))?;
            options.lock_resolution = LockResolution::Timeout(seconds);
            rest = &rest[3..];
        } else {
            return Err(unknown(first.text));
        }
    }
    Ok(options)
}

fn unknown(word: &str) -> Failure {
    Failure::usage(format!(
        "SET TRANSACTION: {word} is not understood here; it takes READ ONLY, READ WRITE, WAIT, NO WAIT, LOCK TIMEOUT n, \
         SNAPSHOT, SNAPSHOT AT NUMBER n, SNAPSHOT TABLE STABILITY, READ COMMITTED [RECORD_VERSION, NO RECORD_VERSION or \
         READ CONSISTENCY], IGNORE LIMBO and NO AUTO UNDO"
    ))
}

type Form = (&'static [&'static str], fn(&mut TransactionOptions));

/// Longer ones first.
const FORMS: [Form; 14] = [
    (&["ISOLATION", "LEVEL"], |_| {}),
    (&["SNAPSHOT", "TABLE", "STABILITY"], |options| options.isolation = Isolation::SnapshotTableStability),
    (&["SNAPSHOT", "TABLE"], |options| options.isolation = Isolation::SnapshotTableStability),
    (&["READ", "COMMITTED", "READ", "CONSISTENCY"], |options| {
        options.isolation = Isolation::ReadCommittedReadConsistency;
    }),
    (&["READ", "COMMITTED", "NO", "RECORD_VERSION"], |options| {
        options.isolation = Isolation::ReadCommittedNoRecordVersion;
    }),
    (&["READ", "COMMITTED", "RECORD_VERSION"], |options| {
        options.isolation = Isolation::ReadCommittedRecordVersion;
    }),
    // As the engine has it.
    (&["READ", "COMMITTED"], |options| options.isolation = Isolation::ReadCommittedNoRecordVersion),
    (&["READ", "ONLY"], |options| options.read_only = true),
    (&["READ", "WRITE"], |options| options.read_only = false),
    (&["NO", "WAIT"], |options| options.lock_resolution = LockResolution::NoWait),
    (&["WAIT"], |options| options.lock_resolution = LockResolution::Wait),
    (&["IGNORE", "LIMBO"], |options| options.ignore_limbo = true),
    (&["NO", "AUTO", "UNDO"], |options| options.no_auto_undo = true),
    (&["SNAPSHOT"], |options| options.isolation = Isolation::Snapshot),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_have_roles() {
        for (sql, expected) in [
            ("commit", Role::Commit { retain: false }),
            ("COMMIT WORK RETAIN SNAPSHOT", Role::Commit { retain: true }),
            ("rollback work", Role::Rollback { retain: false }),
            ("ROLLBACK RETAIN", Role::Rollback { retain: true }),
            ("ROLLBACK WORK TO SAVEPOINT a", Role::Change),
            ("rollback to a", Role::Change),
            ("/* x */ CREATE TABLE t (a INT)", Role::Define),
            ("select 'with lock' from t", Role::Read),
            ("WITH x AS (SELECT 1 a FROM t) SELECT a FROM x", Role::Read),
            ("SELECT a FROM t WITH LOCK", Role::Change),
            ("INSERT INTO t SELECT 1 FROM u", Role::Change),
            ("EXECUTE BLOCK AS BEGIN END", Role::Change),
            ("SET GENERATOR g TO 1", Role::Change),
        ] {
            assert_eq!(role(sql).unwrap(), expected, "{sql}");
        }
    }

    #[test]
    fn a_forgotten_semicolon_loses_no_statement() {
        for (sql, word) in [
            ("COMMIT\nUPDATE t SET a = 1", "COMMIT: UPDATE"),
            ("commit work insert into t values (1)", "COMMIT: insert"),
            ("COMMIT RETAIN SNAPSHOT SELECT 1 FROM t", "COMMIT: SELECT"),
            ("ROLLBACK SNAPSHOT", "ROLLBACK: SNAPSHOT"),
            ("ROLLBACK\nDELETE FROM t", "ROLLBACK: DELETE"),
        ] {
            let error = role(sql).unwrap_err().text(false);
            assert!(error.contains(word) && error.contains("semicolon"), "{sql}: {error}");
        }
        assert_eq!(role("COMMIT;").unwrap(), Role::Commit { retain: false });
    }

    #[test]
    fn transactions_have_options() {
        let of = |sql: &str| match role(sql).unwrap() {
            Role::Start(options) => options,
            role => panic!("{role:?}"),
        };
        assert_eq!(of("SET TRANSACTION"), TransactionOptions::default());
        let given = of("set transaction read only no wait isolation level read committed record_version");
        assert!(given.read_only);
        assert_eq!(given.isolation, Isolation::ReadCommittedRecordVersion);
        assert_eq!(given.lock_resolution, LockResolution::NoWait);
        let given = of("SET TRANSACTION LOCK TIMEOUT 5 SNAPSHOT TABLE STABILITY");
        assert_eq!(given.isolation, Isolation::SnapshotTableStability);
        assert_eq!(given.lock_resolution, LockResolution::Timeout(5));
        assert_eq!(of("SET TRANSACTION SNAPSHOT AT NUMBER 77").at_snapshot, Some(77));
        for wrong in
            ["READ", "LOCK TIMEOUT soon", "RESERVING t", "SNAPSHOT AT NUMBER x", "LOCK TIMEOUT 99999999"]
        {
            let error = role(&format!("SET TRANSACTION {wrong}")).unwrap_err();
            assert!(error.text(false).contains("it takes READ ONLY"), "{wrong}");
        }
    }
}
