//! What went wrong, in the words of ADBC: status, SQLSTATE, and details under keys that begin with `firebird.`.
//!
//! | detail | what it tells |
//! |---|---|
//! | `firebird.gds` | the first gds code of the engine |
//! | `firebird.gds_codes` | all of them, with commas between |
//! | `firebird.sqlcode`, `firebird.sqlstate` | the legacy SQLCODE, the SQLSTATE |
//! | `firebird.line`, `firebird.column` | where in the SQL text |
//! | `firebird.table`, `firebird.constraint`, `firebird.key` | what a constraint is about |
//! | `firebird.row` | the row of parameters, counted from 0 |
//! | `firebird.rows_committed` | rows of an ingestion that stay |
//! | `firebird.commit` | what became of a commit whose answer was lost: `committed`, `rolled_back` or `unknown` |
//! | `firebird.transaction` | the number of its transaction, if it is known |
//! | `firebird.staging_table` | the table that holds rows which were to replace others |
//! | `firebird.retryable` | `true` when the same work may succeed in a new transaction |

use adbc_core::error::{Error, Status};
use arrow::error::ArrowError;
use firearrow::catalog::quoted;
use firearrow::{CommitOutcome, Kind, StatusArg, StatusVector, gds};
use std::ffi::c_char;
use std::fmt::Display;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// SQLSTATE of a table that exists already, for [`with_sqlstate`].
pub(crate) const TABLE_EXISTS: &str = "42S01";

/// An error that this driver finds by itself.
pub(crate) fn new(status: Status, message: impl Into<String>) -> Error {
    Error::with_message_and_status(without_nul(message.into()), status)
}

/// The call comes at the wrong time.
pub(crate) fn invalid_state(message: impl Into<String>) -> Error {
    new(Status::InvalidState, message)
}

/// An argument or option that cannot be.
pub(crate) fn invalid_argument(message: impl Into<String>) -> Error {
    new(Status::InvalidArguments, message)
}

/// Something that Firebird or this driver does not have.
pub(crate) fn not_implemented(message: impl Into<String>) -> Error {
    new(Status::NotImplemented, message)
}

/// Something that this driver does wrong.
pub(crate) fn internal(message: impl Into<String>) -> Error {
    new(Status::Internal, message)
}

/// There is no table of this name.
pub(crate) fn no_table(table: &str) -> Error {
    let error = new(Status::NotFound, format!("there is no table {}", quoted(table)));
    with_detail(with_sqlstate(error, "42S02"), "firebird.table", table)
}

/// Gives an error its SQLSTATE.
pub(crate) fn with_sqlstate(mut error: Error, sqlstate: &str) -> Error {
    for (to, from) in error.sqlstate.iter_mut().zip(sqlstate.bytes()) {
        *to = from as c_char;
    }
    error
}

/// Adds a detail.
pub(crate) fn with_detail(mut error: Error, key: &str, value: impl Display) -> Error {
    error.details.get_or_insert_default().push((key.to_owned(), value.to_string().into_bytes()));
    error
}

/// Puts words in front of the message.
pub(crate) fn context(mut error: Error, text: impl Display) -> Error {
    error.message = without_nul(format!("{text}: {}", error.message));
    error
}

/// An error of the client, which has the whole status vector of the engine.
pub fn of(error: firearrow::Error) -> Error {
    let mut of = new(status(&error), error.message());
    of = with_sqlstate(of, error.sqlstate());
    if let Some(vector) = error.status() {
        let codes = error.gds_codes();
        if let Some(first) = codes.first() {
            of = with_detail(of, "firebird.gds", first);
        }
        let list: Vec<String> = codes.iter().map(i32::to_string).collect();
        of = with_detail(of, "firebird.gds_codes", list.join(","));
        of = with_detail(of, "firebird.sqlcode", vector.sqlcode());
        for (key, value) in named(vector) {
            of = with_detail(of, key, value);
        }
    }
    of = with_detail(of, "firebird.sqlstate", error.sqlstate());
    if matches!(error.kind(), Kind::Conflict | Kind::Changed) {
        of = with_detail(of, "firebird.retryable", true);
    }
    if let Some(lost) = error.lost_commit() {
        let outcome = match lost.outcome {
            CommitOutcome::Committed => "committed",
            CommitOutcome::RolledBack => "rolled_back",
            CommitOutcome::Unknown => "unknown",
        };
        of = with_detail(of, "firebird.commit", outcome);
        if let Some(number) = lost.transaction {
            of = with_detail(of, "firebird.transaction", number);
        }
    }
    let failed = error.rows_executed().and_then(|done| done.failures.first());
    if let Some(failure) = failed {
        of = with_detail(of, "firebird.row", failure.row);
    }
    of
}

/// The failure of one row of parameters, counted from 0 over all batches.
pub(crate) fn of_row(row: usize, error: firearrow::Error) -> Error {
    with_detail(context(of(error), format_args!("row {row}")), "firebird.row", row)
}

/// An error that came through a reader.
pub(crate) fn of_arrow(error: ArrowError) -> Error {
    match error {
        ArrowError::ExternalError(error) => match error.downcast::<firearrow::Error>() {
            Ok(error) => of(*error),
            Err(error) => match error.downcast::<Error>() {
                Ok(error) => *error,
                Err(error) => internal(error.to_string()),
            },
        },
        ArrowError::NotYetImplemented(text) => not_implemented(text),
        ArrowError::IoError(text, _) => new(Status::IO, text),
        ArrowError::InvalidArgumentError(text) => invalid_argument(text),
        other => internal(other.to_string()),
    }
}

/// The way back into a reader: [`of_arrow`] finds the error again.
pub(crate) fn into_arrow(error: Error) -> ArrowError {
    ArrowError::ExternalError(Box::new(error))
}

/// C strings end at the first NUL.
fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

/// The status by the codes of the engine first, since SQLSTATEs differ between releases or are too wide; then by the SQLSTATE
/// and the kind of the error.
fn status(error: &firearrow::Error) -> Status {
    let codes = error.gds_codes();
    let has = |code: i32| codes.contains(&code);
    for (found, status) in [
        (gds::ISC_BUG_CHECK, Status::Internal),
        (gds::ISC_CFG_STMT_TIMEOUT, Status::Timeout),
        (gds::ISC_ATT_STMT_TIMEOUT, Status::Timeout),
        (gds::ISC_REQ_STMT_TIMEOUT, Status::Timeout),
        (gds::ISC_NO_PRIV, Status::Unauthorized),
        // What Firebird 3 says of DDL, and what 4 and later say of CREATE; both with an SQLSTATE of syntax.
        (gds::ISC_DYN_NO_PRIV, Status::Unauthorized),
        (gds::ISC_DYN_NO_CREATE_PRIV, Status::Unauthorized),
        (gds::ISC_IO_OPEN_ERR, Status::NotFound),
        (gds::ISC_LOST_DB_CONNECTION, Status::IO),
        (gds::ISC_DSQL_PROCEDURE_ERR, Status::NotFound),
        (gds::ISC_DSQL_FUNCTION_ERR, Status::NotFound),
        (gds::ISC_GENNOTDEF, Status::NotFound),
        (gds::ISC_DEPENDENCY, Status::Integrity),
        (gds::ISC_TRA_SNAPSHOT_DOES_NOT_EXIST, Status::InvalidState),
    ] {
        if has(found) {
            return status;
        }
    }
    if error.status().is_some()
        && let Some(status) = by_sqlstate(error.sqlstate())
    {
        return status;
    }
    match error.kind() {
        Kind::Configuration | Kind::Syntax | Kind::Parameter => Status::InvalidArguments,
        Kind::EngineMissing => Status::NotFound,
        Kind::Login => Status::Unauthenticated,
        Kind::Permission => Status::Unauthorized,
        Kind::Constraint => Status::Integrity,
        Kind::Data => Status::InvalidData,
        Kind::Changed | Kind::Misuse | Kind::Memory => Status::InvalidState,
        Kind::Cancelled => Status::Cancelled,
        Kind::Timeout => Status::Timeout,
        Kind::Unsupported => Status::NotImplemented,
        Kind::Unreachable | Kind::Database | Kind::Conflict | Kind::Closed | Kind::Protocol | Kind::Io => {
            Status::IO
        }
        Kind::OverBudget => Status::Internal,
        Kind::CommitUnknown => Status::Unknown,
        _ => Status::Unknown,
    }
}

/// The status that an SQLSTATE of the engine stands for, where it says more than the kind of the error.
fn by_sqlstate(state: &str) -> Option<Status> {
    Some(match state {
        "42S02" | "42S22" => Status::NotFound,
        "42S01" | "42S11" | "42S21" => Status::AlreadyExists,
        "21S01" | "HY004" | "HY104" | "07001" | "07002" => Status::InvalidArguments,
        // A subquery that may have one row has several.
        "21000" => Status::InvalidData,
        "27000" => Status::Integrity,
        // Limits of the engine: of rows, keys, statements.
        _ if state.starts_with("54") => Status::InvalidArguments,
        _ if state.starts_with("25") => Status::InvalidState,
        _ if state.starts_with("XX") => Status::Internal,
        _ => return None,
    })
}

/// What the vector names: places, tables, constraints and keys.
fn named(vector: &StatusVector) -> Vec<(&'static str, String)> {
    let mut found: Vec<(&'static str, String)> = Vec::new();
    for (index, arg) in vector.0.iter().enumerate() {
        let StatusArg::Gds(code) = arg else { continue };
        let keys: &[&'static str] = match *code {
            gds::ISC_DSQL_LINE_COL_ERROR => &["firebird.line", "firebird.column"],
            gds::ISC_UNIQUE_KEY_VIOLATION | gds::ISC_FOREIGN_KEY | gds::ISC_CHECK_CONSTRAINT => {
                &["firebird.constraint", "firebird.table"]
            }
            gds::ISC_IDX_KEY_VALUE => &["firebird.key"],
            _ => continue,
        };
        let values = vector.0[index + 1..].iter().map_while(|arg| match arg {
            StatusArg::Text(text) => Some(text.clone()),
            StatusArg::Number(number) => Some(number.to_string()),
            _ => None,
        });
        for (key, value) in keys.iter().zip(values) {
            if !found.iter().any(|(known, _)| known == key) {
                found.push((key, value));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nul_is_no_end_of_a_message() {
        let error = context(new(Status::Internal, "a\0b"), "c\0d");
        assert_eq!(error.message, "c\u{fffd}d: a\u{fffd}b");
    }

    #[test]
    fn errors_come_back_from_readers_as_they_went_in() {
        let error = with_detail(with_sqlstate(invalid_state("no"), TABLE_EXISTS), "firebird.row", 7);
        assert_eq!(of_arrow(into_arrow(error.clone())), error);
        let texts = [
            (ArrowError::NotYetImplemented("x".into()), Status::NotImplemented),
            (ArrowError::InvalidArgumentError("x".into()), Status::InvalidArguments),
            (ArrowError::ComputeError("x".into()), Status::Internal),
        ];
        for (error, status) in texts {
            assert_eq!(of_arrow(error).status, status);
        }
    }
}
