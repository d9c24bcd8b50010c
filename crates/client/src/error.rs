//! One error type: what kind of failure, what Firebird said of it, and what to do.

mod place;

use crate::arrow::{DecodeError, DecodeErrorKind, ParamError, ParamErrorKind, SchemaError};
use crate::config::ConfigError;
use crate::lost_commit::{CommitOutcome, LostCommit};
use crate::rows::RowsExecuted;
use arrow::error::ArrowError;
use firearrow_proto::api::gds;
use firearrow_proto::api::status::StatusVector;
use firearrow_proto::wire::ProtocolError;
use place::Place;
use std::fmt;
use std::io;
use std::sync::Arc;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of failure it is, from the view of somebody who must decide what to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The connection string or an option is wrong.
    Configuration,
    /// The server cannot be reached.
    Unreachable,
    /// No engine library, or a part of it is missing.
    EngineMissing,
    /// User, password or plugin was not accepted.
    Login,
    /// The database does not exist or cannot be opened.
    Database,
    /// The user may not do this.
    Permission,
    /// The SQL text is wrong or names something unknown.
    Syntax,
    /// A constraint forbids it.
    Constraint,
    /// Another transaction is in the way. Roll back and repeat the work in a new transaction.
    Conflict,
    /// A value cannot be converted, or does not fit.
    Data,
    /// Parameters do not match the statement.
    Parameter,
    /// What a statement uses has been altered since it was prepared; it can be prepared again.
    Changed,
    /// The statement was cancelled.
    Cancelled,
    /// A statement or a wait took longer than allowed.
    Timeout,
    /// More memory would be needed than an option allows; the message names it.
    Memory,
    /// The connection is lost or was shut down.
    Closed,
    /// A commit was sent and its answer was lost; [`Error::lost_commit`] tells what is known of it. Do not simply repeat
    /// the work.
    CommitUnknown,
    /// The peer broke the protocol.
    Protocol,
    /// The server or engine has no such feature, or this crate has not.
    Unsupported,
    /// The call is not allowed in this state.
    Misuse,
    /// Reading or writing a local file failed.
    Io,
    /// Any other error of the engine.
    Engine,
    /// An error of the caller's own code; see [`Error::other`].
    Other,
}

/// A failure. The whole status vector is kept when there is one.
///
/// Rows count from 0, in messages, too; columns count from 0 in [`column_index`](Error::column_index), and from 1 in messages,
/// which also have their names.
#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: Kind,
    message: String,
    status: Option<StatusVector>,
    done: Option<RowsExecuted>,
    lost_commit: Option<LostCommit>,
    /// The value it is about.
    place: Place,
    source: Option<Source>,
    /// It was found in what the engine gave: the statement has run.
    has_run: bool,
}

/// The error that caused another one. Shared, because [`Error`] can be cloned.
type Source = Arc<dyn std::error::Error + Send + Sync>;

impl Error {
    #[cold]
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            status: None,
            done: None,
            lost_commit: None,
            place: Place::default(),
            source: None,
            has_run: false,
        }))
    }

    /// An error of your own code, for closures that must return this type. It is the [`source`](std::error::Error::source).
    pub fn other(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let source = source.into();
        let mut error = Self::new(Kind::Other, source.to_string());
        error.0.source = Some(Arc::from(source));
        error
    }

    /// Keeps the causing error for [`source`](std::error::Error::source).
    pub(crate) fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// An error that the engine reported.
    #[cold]
    pub(crate) fn engine(status: StatusVector) -> Self {
        let mut error = Self::new(kind_of(&status), status.to_string());
        error.0.status = Some(status);
        error.0.has_run = true;
        error
    }

    /// A statement is not what it was.
    #[cold]
    pub(crate) fn changed() -> Self {
        Self::new(
            Kind::Changed,
            "tables or procedures of the statement have been altered meanwhile: run it again",
        )
    }

    /// Puts words in front of the message.
    pub(crate) fn context(mut self, text: impl fmt::Display) -> Self {
        self.0.message = format!("{text}: {}", self.0.message);
        self
    }

    /// The same failure, because of a time limit.
    pub(crate) fn late(mut self) -> Self {
        self.0.kind = Kind::Timeout;
        self.context("the time limit has passed")
    }

    /// Whether the engine has had anything to do with it.
    pub(crate) fn has_run(&self) -> bool {
        self.0.has_run
    }

    /// Says what many rows of parameters came to before this ended them.
    pub(crate) fn after(mut self, done: RowsExecuted) -> Self {
        if done.rows > 0 {
            self = self.context(format!("after {} rows had been executed", done.rows));
        }
        self.0.done = Some(done);
        self
    }

    /// The same failure, because of which nobody knows what became of a commit.
    pub(crate) fn lost_commit_of(mut self, transaction: Option<u64>) -> Self {
        self.0.kind = Kind::CommitUnknown;
        self.0.lost_commit = Some(LostCommit { transaction, outcome: CommitOutcome::Unknown });
        match transaction {
            Some(number) => self.context(format!("the answer to the commit of transaction {number} was lost")),
            None => self.context(
                "the answer to a commit was lost, and the number of its transaction was not known yet: look at the data \
                 before you repeat the work",
            ),
        }
    }

    /// The same failure, which is of this kind in the first place.
    pub(crate) fn of_kind(mut self, kind: Kind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Adds what the server says of the commit, on another connection.
    pub(crate) fn with_outcome(mut self, outcome: CommitOutcome, told: &str) -> Self {
        if let Some(lost) = &mut self.0.lost_commit {
            lost.outcome = outcome;
        }
        self.0.message = format!("{}; {told}", self.0.message);
        self
    }

    /// The commit whose answer was lost: with [`Kind::CommitUnknown`], and when a statement was cancelled whose commit had
    /// left together with it.
    pub fn lost_commit(&self) -> Option<&LostCommit> {
        self.0.lost_commit.as_ref()
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The message, with all lines that the engine sent.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The five characters of SQLSTATE.
    pub fn sqlstate(&self) -> &str {
        match (&self.0.status, self.0.kind) {
            (Some(status), _) => status.sqlstate(),
            (None, Kind::Unreachable | Kind::EngineMissing | Kind::Database) => "08001",
            (None, Kind::Closed | Kind::Protocol) => "08006",
            (None, Kind::CommitUnknown) => "08007",
            (None, Kind::Login) => "28000",
            (None, Kind::Data) => "22000",
            (None, Kind::Parameter) => "07001",
            (None, Kind::Timeout) => "HYT00",
            (None, Kind::Cancelled) => "HY008",
            (None, Kind::Memory) => "HY013",
            (None, Kind::Unsupported) => "0A000",
            (None, Kind::Changed) => "0A000",
            (None, Kind::Misuse) => "HY010",
            (None, _) => "HY000",
        }
    }

    /// All gds codes of the error, in order.
    pub fn gds_codes(&self) -> Vec<i32> {
        self.0.status.iter().flat_map(StatusVector::errors).collect()
    }

    /// The legacy SQLCODE, if the engine reported the error.
    pub fn sqlcode(&self) -> Option<i32> {
        self.0.status.as_ref().map(StatusVector::sqlcode)
    }

    /// What was done by then, if the error ended [`execute_rows`](crate::Statement::execute_rows),
    /// [`query_rows`](crate::Statement::query_rows) or their forms for streams: the first rows, and those among them that failed. Nothing
    /// of the rows behind them is done, unless the connection was lost; then the transaction is gone anyway.
    pub fn rows_executed(&self) -> Option<&RowsExecuted> {
        self.0.done.as_ref()
    }

    /// The whole status vector, if the engine reported the error.
    pub fn status(&self) -> Option<&StatusVector> {
        self.0.status.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

/// Sorts a status vector by its codes first (SQLSTATEs differ between releases), then by its SQLSTATE class.
fn kind_of(status: &StatusVector) -> Kind {
    // These come behind isc_cancelled.
    let limits = [gds::ISC_CFG_STMT_TIMEOUT, gds::ISC_ATT_STMT_TIMEOUT, gds::ISC_REQ_STMT_TIMEOUT];
    if limits.into_iter().any(|code| status.contains(code)) {
        return Kind::Timeout;
    }
    for code in status.errors() {
        let kind = match code {
            gds::ISC_LOGIN | gds::ISC_LOGIN_ERROR => Kind::Login,
            gds::ISC_WIRECRYPT_INCOMPATIBLE | gds::ISC_MISS_WIRECRYPT | gds::ISC_BAD_CRYPT_KEY => {
                Kind::Configuration
            }
            gds::ISC_NO_PRIV => Kind::Permission,
            // Its SQLSTATE is 39000, which is about routines that fail.
            gds::ISC_DSQL_FUNCTION_ERR => Kind::Syntax,
            gds::ISC_LOCK_CONFLICT | gds::ISC_UPDATE_CONFLICT | gds::ISC_DEADLOCK => Kind::Conflict,
            gds::ISC_CANCELLED => Kind::Cancelled,
            gds::ISC_SHUTDOWN | gds::ISC_ATT_SHUTDOWN | gds::ISC_NET_READ_ERR => Kind::Closed,
            gds::ISC_WISH_LIST => Kind::Unsupported,
            gds::ISC_SQL_DIALECT_DATATYPE_UNSUPPORT
            | gds::ISC_SQL_DB_DIALECT_DTYPE_UNSUPPORT
            | gds::ISC_DDL_NOT_ALLOWED_BY_DB_SQL_DIAL => Kind::Unsupported,
            gds::ISC_TRA_SNAPSHOT_DOES_NOT_EXIST => Kind::Misuse,
            gds::ISC_IO_ERROR | gds::ISC_UNAVAILABLE | gds::ISC_WRONG_ODS => Kind::Database,
            _ => continue,
        };
        return kind;
    }
    match status.sqlstate() {
        "28000" => Kind::Permission,
        "40001" => Kind::Conflict,
        "HY008" => Kind::Cancelled,
        "0A000" => Kind::Unsupported,
        state => match &state[..state.len().min(2)] {
            "07" => Kind::Parameter,
            "08" => Kind::Closed,
            "22" => Kind::Data,
            "23" => Kind::Constraint,
            "42" => Kind::Syntax,
            _ => Kind::Engine,
        },
    }
}

impl From<ProtocolError> for Error {
    #[cold]
    fn from(error: ProtocolError) -> Self {
        let kind = match &error {
            ProtocolError::Refused(status) => return Self::engine(status.clone()),
            ProtocolError::InvalidMessage(_)
            | ProtocolError::UnexpectedPacket { .. }
            | ProtocolError::TooLong { .. }
            | ProtocolError::Compress(_)
            | ProtocolError::Crypt(_)
            | ProtocolError::NotEncrypted => Kind::Protocol,
            ProtocolError::Closed => Kind::Closed,
            ProtocolError::Rejected => Kind::Unsupported,
            ProtocolError::Incompatible(_) => Kind::Configuration,
            ProtocolError::LoginFailed(_) | ProtocolError::Unauthenticated | ProtocolError::Auth(_) => {
                Kind::Login
            }
            ProtocolError::Misuse(_) => Kind::Misuse,
        };
        Self::new(kind, error.to_string()).with_source(error)
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::new(Kind::Configuration, error.to_string()).with_source(error)
    }
}

impl From<DecodeError> for Error {
    #[cold]
    fn from(error: DecodeError) -> Self {
        let kind = match error.kind {
            DecodeErrorKind::OverLimit => Kind::Memory,
            _ => Kind::Data,
        };
        let mut of = Self::new(kind, error.to_string()).in_column(error.column, &error.column_name);
        of.0.place.row = usize::try_from(error.row).ok();
        of.0.has_run = true;
        of.with_source(error)
    }
}

impl From<SchemaError> for Error {
    #[cold]
    fn from(error: SchemaError) -> Self {
        Self::new(Kind::Unsupported, error.to_string())
            .in_column(error.column, &error.column_name)
            .with_source(error)
    }
}

impl From<ParamError> for Error {
    #[cold]
    fn from(error: ParamError) -> Self {
        let kind = match error.kind {
            ParamErrorKind::Inexact
            | ParamErrorKind::OutOfRange
            | ParamErrorKind::Malformed
            | ParamErrorKind::TooLong => Kind::Data,
            ParamErrorKind::Count | ParamErrorKind::Schema => Kind::Parameter,
            ParamErrorKind::Unsupported => Kind::Unsupported,
        };
        let mut of = Self::new(kind, error.to_string());
        // The number of columns is about none of them.
        if error.kind != ParamErrorKind::Count {
            of = of.in_column(error.column, &error.field);
        }
        of.0.place.row = error.row;
        of.with_source(error)
    }
}

impl Error {
    /// The error about the only row of parameters: its number would say nothing.
    pub(crate) fn of_only_row(error: ParamError) -> Self {
        let message = ParamError { row: None, ..error.clone() }.to_string();
        let mut of = Self::from(error);
        of.0.message = message;
        of
    }
}

/// Batches of a cursor come with errors of Arrow, which contain those of this crate.
impl From<ArrowError> for Error {
    #[cold]
    fn from(error: ArrowError) -> Self {
        let error = match error {
            ArrowError::ExternalError(error) => match error.downcast() {
                Ok(error) => return *error,
                Err(error) => ArrowError::ExternalError(error),
            },
            error => error,
        };
        let kind = if matches!(error, ArrowError::IoError(..)) { Kind::Io } else { Kind::Data };
        Self::new(kind, error.to_string()).with_source(error)
    }
}

/// The traits of `std::io` wrap errors of this crate, which come out again.
impl From<io::Error> for Error {
    #[cold]
    fn from(error: io::Error) -> Self {
        match error.downcast() {
            Ok(error) => error,
            Err(error) => Self::new(Kind::Io, error.to_string()).with_source(error),
        }
    }
}

impl From<Error> for ArrowError {
    fn from(error: Error) -> Self {
        Self::ExternalError(Box::new(error))
    }
}
