//! Errors in ADBC's terms: status, SQLSTATE, and details under keys that begin with `firebird.`.
//!
//! | detail | meaning |
//! |---|---|
//! | `firebird.gds` | the first gds code of the engine |
//! | `firebird.gds_codes` | all of them, separated by commas |
//! | `firebird.gds_names` | their symbolic names, such as `arith_except`; empty for a code without one |
//! | `firebird.sqlcode`, `firebird.sqlstate` | the legacy SQLCODE, the SQLSTATE |
//! | `firebird.line`, `firebird.column` | the position in the SQL text |
//! | `firebird.table`, `firebird.constraint`, `firebird.key` | the table, constraint and key of a violated constraint |
//! | `firebird.row` | the parameter row, counted from 0 |
//! | `firebird.rows_committed` | the number of ingested rows that are committed |
//! | `firebird.commit` | the outcome of a commit whose answer was lost: `committed`, `rolled_back` or `unknown` |
//! | `firebird.transaction` | the number of that transaction, if it is known |
//! | `firebird.staging_table` | the table that holds the rows meant to replace others |
//! | `firebird.retryable` | `true` when the same work may succeed in a new transaction |

use adbc_core::error::{Error, Status};
use firearrow::{Kind, gds};
use firearrow_driver::Class;
use std::ffi::c_char;
use std::fmt::Display;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Returns an error that the driver itself has found.
pub(crate) fn new(status: Status, message: impl Into<String>) -> Error {
    Error::with_message_and_status(without_nul(message.into()), status)
}

/// Returns the error for a call at the wrong time.
pub(crate) fn invalid_state(message: impl Into<String>) -> Error {
    new(Status::InvalidState, message)
}

/// Returns the error for an invalid argument or option.
pub(crate) fn invalid_argument(message: impl Into<String>) -> Error {
    new(Status::InvalidArguments, message)
}

/// Returns the error for something that Firebird or this driver does not support.
pub(crate) fn not_implemented(message: impl Into<String>) -> Error {
    new(Status::NotImplemented, message)
}

/// Returns the error for a bug in this driver.
pub(crate) fn internal(message: impl Into<String>) -> Error {
    new(Status::Internal, message)
}

/// Sets the SQLSTATE of an error.
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

/// Converts an error of the driver layer or the client, which has the engine's whole status vector, or one that came
/// through a reader.
pub fn of(error: impl Into<firearrow_driver::Error>) -> Error {
    let error = error.into();
    let mut of = new(status(&error), error.message());
    if let Some(sqlstate) = error.sqlstate() {
        of = with_sqlstate(of, sqlstate);
    }
    for (detail, value) in error.details() {
        of = with_detail(of, &format!("firebird.{}", detail.name()), value);
    }
    of
}

/// Returns the status of a failure.
fn status(error: &firearrow_driver::Error) -> Status {
    match (error.class(), error.client()) {
        (Class::Client, Some(client)) => status_of_client(client),
        (Class::Cancelled, _) => Status::Cancelled,
        (Class::Timeout, _) => Status::Timeout,
        (Class::State, _) => Status::InvalidState,
        (Class::Argument, _) => Status::InvalidArguments,
        (Class::Unsupported, _) => Status::NotImplemented,
        (Class::NotFound, _) => Status::NotFound,
        (Class::Exists, _) => Status::AlreadyExists,
        (Class::Io, _) => Status::IO,
        _ => Status::Internal,
    }
}

/// Replaces NULs, which would end a C string.
fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

/// Returns the status of a client error. The engine's codes come first, since SQLSTATEs differ between releases or are
/// too broad; then the SQLSTATE and the kind of the error.
fn status_of_client(error: &firearrow::Error) -> Status {
    let codes = error.gds_codes();
    let has = |code: i32| codes.contains(&code);
    for (found, status) in [
        (gds::ISC_BUG_CHECK, Status::Internal),
        (gds::ISC_CFG_STMT_TIMEOUT, Status::Timeout),
        (gds::ISC_ATT_STMT_TIMEOUT, Status::Timeout),
        (gds::ISC_REQ_STMT_TIMEOUT, Status::Timeout),
        (gds::ISC_NO_PRIV, Status::Unauthorized),
        // Firebird 3 reports the first for DDL, and 4 and later report the second for CREATE; both with an SQLSTATE for
        // syntax errors.
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
        Kind::CommitUnknown => Status::Unknown,
        _ => Status::Unknown,
    }
}

/// Returns the status for an SQLSTATE of the engine, if the SQLSTATE is more specific than the kind of the error.
fn by_sqlstate(state: &str) -> Option<Status> {
    Some(match state {
        "42S02" | "42S22" => Status::NotFound,
        "42S01" | "42S11" | "42S21" => Status::AlreadyExists,
        "21S01" | "HY004" | "HY104" | "07001" | "07002" => Status::InvalidArguments,
        // A single-row subquery returned several rows.
        "21000" => Status::InvalidData,
        "27000" => Status::Integrity,
        // Limits of the engine on rows, keys and statements.
        _ if state.starts_with("54") => Status::InvalidArguments,
        _ if state.starts_with("25") => Status::InvalidState,
        _ if state.starts_with("XX") => Status::Internal,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nul_is_no_end_of_a_message() {
        let error = firearrow_driver::Error::internal("a\0b").context("c\0d");
        assert_eq!(of(error).message, "c\u{fffd}d: a\u{fffd}b");
    }

    #[test]
    fn driver_errors_keep_their_particulars() {
        let error = of(firearrow_driver::Error::no_table("t"));
        assert_eq!((error.status, error.message.as_str()), (Status::NotFound, "there is no table \"t\""));
        assert_eq!(error.sqlstate.map(|byte| byte as u8), *b"42S02");
        assert_eq!(error.details, Some(vec![("firebird.table".to_owned(), b"t".to_vec())]));
    }

    #[test]
    fn statuses_follow_classes() {
        for (class, expected) in [
            (Class::Cancelled, Status::Cancelled),
            (Class::Timeout, Status::Timeout),
            (Class::State, Status::InvalidState),
            (Class::Argument, Status::InvalidArguments),
            (Class::Unsupported, Status::NotImplemented),
            (Class::NotFound, Status::NotFound),
            (Class::Exists, Status::AlreadyExists),
            (Class::Io, Status::IO),
            (Class::Internal, Status::Internal),
        ] {
            assert_eq!(of(firearrow_driver::Error::new(class, "")).status, expected);
        }
    }
}
