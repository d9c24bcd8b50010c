//! Errors for any front end: the client's, and those that the driver finds itself.
//!
//! | class | what the front ends make of it (ADBC; ODBC; DB-API) |
//! |---|---|
//! | [`Class::Client`] | decided by the client's kind, SQLSTATE and gds codes |
//! | any other | decided by the class, and by the SQLSTATE if there is one |

mod detail;

pub use detail::Detail;

use arrow::error::ArrowError;
use firearrow::Kind;
use firearrow::catalog::quoted;
use std::fmt::Display;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Class {
    /// A failure of the client or the engine: [`Error::client`] has the particulars.
    Client,
    /// The execution was cancelled.
    Cancelled,
    /// The time limit of the execution has passed.
    Timeout,
    /// The call is made at the wrong time.
    State,
    /// An argument or option has a value that cannot be used.
    Argument,
    /// Firebird or this driver has no such feature.
    Unsupported,
    /// A table does not exist.
    NotFound,
    /// A table exists already.
    Exists,
    /// Reading the caller's data failed.
    Io,
    /// The driver has a bug, or panicked.
    Internal,
}

/// A failure. Front ends translate it with one function each.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    class: Class,
    message: String,
    /// Takes precedence over that of the client.
    sqlstate: Option<&'static str>,
    /// Follow those of the client.
    details: Vec<(Detail, String)>,
    /// The detail of the client's error that does not apply here.
    without: Option<Detail>,
    #[source]
    client: Option<Box<firearrow::Error>>,
}

impl Error {
    /// Creates an error of this class.
    pub fn new(class: Class, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            sqlstate: None,
            details: Vec::new(),
            without: None,
            client: None,
        }
    }

    /// Creates an error for a call made at the wrong time.
    pub fn state(message: impl Into<String>) -> Self {
        Self::new(Class::State, message)
    }

    /// Creates an error for an argument or option that cannot be used.
    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(Class::Argument, message)
    }

    /// Creates an error for something that Firebird or this driver does not have.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(Class::Unsupported, message)
    }

    /// Creates an error for a bug of the driver.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Class::Internal, message)
    }

    /// Creates the error for a table that does not exist.
    pub fn no_table(table: &str) -> Self {
        Self::new(Class::NotFound, format!("there is no table {}", quoted(table)))
            .with_sqlstate("42S02")
            .with_detail(Detail::Table, table)
    }

    /// The error for a table that exists already, or is not of the right kind.
    pub(crate) fn table_exists(table: &str, what: &str) -> Self {
        Self::new(Class::Exists, format!("table {} {what}", quoted(table)))
            .with_sqlstate("42S01")
            .with_detail(Detail::Table, table)
    }

    /// The error of one row of parameters, counted from 0 over all batches.
    pub(crate) fn of_row(row: usize, error: firearrow::Error) -> Self {
        Self::from(error).context(format_args!("row {row}")).with_detail(Detail::Row, row)
    }

    /// The error of a cancelled call where the engine reports nothing.
    pub(crate) fn cancelled() -> Self {
        Self::new(Class::Cancelled, "cancelled").with_sqlstate("HY008")
    }

    /// Turns the error of a cancelled call into that of a time limit. Its details stay, such as what became of a commit.
    pub(crate) fn into_timeout(self) -> Self {
        let timeout = Self { class: Class::Timeout, ..self };
        timeout.context("the time of the execution is up").with_sqlstate("HYT00")
    }

    /// Sets the SQLSTATE.
    pub fn with_sqlstate(self, sqlstate: &'static str) -> Self {
        Self { sqlstate: Some(sqlstate), ..self }
    }

    /// Adds a detail.
    pub fn with_detail(mut self, detail: Detail, value: impl Display) -> Self {
        self.details.push((detail, value.to_string()));
        self
    }

    /// Leaves out a detail of the client's error.
    pub(crate) fn without_detail(self, detail: Detail) -> Self {
        Self { without: Some(detail), ..self }
    }

    /// Prefixes the message.
    pub fn context(self, text: impl Display) -> Self {
        Self { message: format!("{text}: {}", self.message), ..self }
    }

    /// Returns the kind of failure.
    pub fn class(&self) -> Class {
        self.class
    }

    /// Returns the message, with all lines that the engine sent.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the SQLSTATE. Errors of the driver have one only where a standard prescribes it; otherwise front ends
    /// choose one by the class.
    pub fn sqlstate(&self) -> Option<&str> {
        self.sqlstate.or_else(|| self.client.as_ref().map(|client| client.sqlstate()))
    }

    /// Returns the client's error, if there is one. With [`Class::Timeout`] it is that of a cancelled call.
    pub fn client(&self) -> Option<&firearrow::Error> {
        self.client.as_deref()
    }

    /// Returns the details: those of the client's error, then those of the driver.
    pub fn details(&self) -> Vec<(Detail, String)> {
        let mut details = self.client.as_deref().map(detail::details).unwrap_or_default();
        details.retain(|(detail, _)| Some(*detail) != self.without);
        details.extend(self.details.iter().cloned());
        details
    }

    /// Whether the call was cancelled.
    pub fn is_cancelled(&self) -> bool {
        match self.class {
            Class::Client => self.client.as_ref().is_some_and(|client| client.kind() == Kind::Cancelled),
            class => class == Class::Cancelled,
        }
    }
}

impl From<firearrow::Error> for Error {
    fn from(error: firearrow::Error) -> Self {
        Self { client: Some(Box::new(error.clone())), ..Self::new(Class::Client, error.message()) }
    }
}

/// The error that came through a reader.
impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::ExternalError(error) => match error.downcast::<firearrow::Error>() {
                Ok(error) => (*error).into(),
                Err(error) => match error.downcast::<Self>() {
                    Ok(error) => *error,
                    Err(error) => Self::internal(error.to_string()),
                },
            },
            ArrowError::NotYetImplemented(text) => Self::unsupported(text),
            ArrowError::IoError(text, _) => Self::new(Class::Io, text),
            ArrowError::InvalidArgumentError(text) => Self::argument(text),
            other => Self::internal(other.to_string()),
        }
    }
}

/// The way into a reader, from which `Error::from` gets it back.
impl From<Error> for ArrowError {
    fn from(error: Error) -> Self {
        Self::ExternalError(Box::new(error))
    }
}

/// Truncates a text from the caller for use in a message.
pub fn shortened(text: &str) -> String {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_come_back_from_readers_as_they_went_in() {
        let error = Error::state("no").with_sqlstate("42S01").with_detail(Detail::Row, 7);
        let back = Error::from(ArrowError::from(error));
        assert_eq!((back.class(), back.message(), back.sqlstate()), (Class::State, "no", Some("42S01")));
        assert_eq!(back.details(), [(Detail::Row, "7".to_owned())]);
        for (error, class) in [
            (ArrowError::NotYetImplemented("x".into()), Class::Unsupported),
            (ArrowError::InvalidArgumentError("x".into()), Class::Argument),
            (ArrowError::ComputeError("x".into()), Class::Internal),
        ] {
            assert_eq!(Error::from(error).class(), class);
        }
    }

    #[test]
    fn a_timeout_keeps_the_details_of_the_cancelled_call() {
        let error = Error::cancelled().with_detail(Detail::Commit, "unknown").into_timeout();
        assert!(!error.is_cancelled() && error.class() == Class::Timeout);
        assert_eq!(error.message(), "the time of the execution is up: cancelled");
        assert_eq!(error.sqlstate(), Some("HYT00"));
        assert_eq!(error.details(), [(Detail::Commit, "unknown".to_owned())]);
    }

    #[test]
    fn long_texts_are_shortened() {
        assert_eq!(shortened("größe"), "größe");
        assert_eq!(shortened(&"ß".repeat(81)), format!("{}…", "ß".repeat(80)));
    }
}
