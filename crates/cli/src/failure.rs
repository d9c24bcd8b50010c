//! The reasons for which a command fails.

use crate::platform::files;
use crate::terminal;
use crate::{hint, interrupt};
use arrow::error::ArrowError;
use firearrow::config::ConfigError;
use firearrow::{Kind, gds};
use firearrow_bench::secret;
use parquet::errors::ParquetError;
use serde_json::{Value, json};
use std::error::Error;
use std::fmt::Write;
use std::io;
use std::path::Path;

/// The result of the functions of a command.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// An error, by how it is shown to the user.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The client or the engine reported it.
    Firebird(firearrow::Error),
    /// The same, with a text that says more than the error: where it happened, and what stays.
    Told(String, Box<firearrow::Error>),
    /// The command line names something that does not exist, or its parts do not fit together.
    Usage(String),
    /// Anything else.
    Other(String),
    /// The reason, and where it happened.
    At(String, Box<Failure>),
    /// The reason, and what may help.
    Hinted(Box<Failure>, String),
    /// The reason, and what has become of the statements before.
    WithOutcome(Box<Failure>, String),
    /// The command was told to stop; [`interrupt::reason`] has the reason.
    Stopped,
    /// The reader of the output has closed the pipe, which is not an error.
    PipeClosed,
}

impl Failure {
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::Usage(text.into())
    }

    pub(crate) fn other(text: impl Into<String>) -> Self {
        Self::Other(text.into())
    }

    /// Returns an error about a file.
    pub(crate) fn file(path: &Path, error: &io::Error) -> Self {
        Self::Other(format!("{}: {error}", path.display()))
    }

    /// Returns the message and what may help, without passwords.
    pub(crate) fn text(&self, verbose: bool) -> String {
        self.told(verbose, true)
    }

    /// With `hints`, what may help and what has become of the statements before is a part of the text.
    fn told(&self, verbose: bool, hints: bool) -> String {
        let hint = self.client().filter(|_| hints).and_then(hint::of);
        let hint = hint.map_or_else(String::new, |hint| format!("\n  hint: {hint}"));
        let text = match self {
            Self::Firebird(error) => firebird(error.message(), error, verbose) + &hint,
            Self::Told(text, error) => firebird(text, error, verbose) + &hint,
            Self::Usage(text) | Self::Other(text) => text.clone(),
            Self::At(place, reason) => format!("{place}: {}", reason.told(verbose, hints)),
            Self::Hinted(reason, _) | Self::WithOutcome(reason, _) if !hints => reason.told(verbose, hints),
            // One hint is enough: this one knows more.
            Self::Hinted(reason, hint) => format!("{}\n  hint: {hint}", reason.told(verbose, false)),
            Self::WithOutcome(reason, outcome) => format!("{}\n  {outcome}", reason.told(verbose, hints)),
            Self::Stopped => {
                interrupt::reason().map_or_else(|| "interrupted".to_owned(), interrupt::Reason::text)
            }
            Self::PipeClosed => "nobody reads the output".to_owned(),
        };
        secret::redact(text.trim_end())
    }

    /// The error of the client or the engine, if it is one.
    pub(crate) fn client(&self) -> Option<&firearrow::Error> {
        match self.reason() {
            Self::Firebird(error) => Some(error),
            Self::Told(_, error) => Some(error),
            _ => None,
        }
    }

    /// Prints the error and returns the exit status.
    pub(crate) fn report(&self, verbose: bool, json: bool) -> u8 {
        if let Some(reason) = interrupt::reason() {
            match json {
                true => interrupt::report_json(reason, self.outcome()),
                false => interrupt::report(reason, &self.detail(verbose)),
            }
            return reason.status();
        }
        let status = match self.reason() {
            Self::Usage(_) => 2,
            // Ctrl-C at a question: the terminal sent no signal.
            Self::Stopped => 130,
            Self::PipeClosed => return 0,
            _ => 1,
        };
        match json {
            true => terminal::remark(&self.json().to_string()),
            false => terminal::remark(&format!("error: {}", self.text(verbose))),
        }
        status
    }

    /// Returns the error as one JSON object.
    fn json(&self) -> Value {
        let mut error = json!({ "message": self.told(false, false) });
        if let Some(firebird) = self.client() {
            error["kind"] = format!("{:?}", firebird.kind()).into();
            error["sqlstate"] = firebird.sqlstate().to_string().into();
            error["sqlcode"] = firebird.sqlcode().into();
            let codes = firebird.gds_codes();
            let names: Vec<_> = codes.iter().map(|code| gds::name(*code)).collect();
            error["gds_names"] = names.into();
            error["gds_codes"] = codes.into();
        }
        if let Some(hint) = self.hint() {
            error["hint"] = hint.into();
        }
        if let Some(outcome) = self.outcome() {
            error["outcome"] = outcome.into();
        }
        json!({ "error": error })
    }

    /// What may help.
    fn hint(&self) -> Option<String> {
        match self {
            Self::Hinted(_, hint) => Some(hint.clone()),
            Self::At(_, reason) | Self::WithOutcome(reason, _) => reason.hint(),
            _ => hint::of(self.client()?),
        }
    }

    /// What has become of the statements before.
    fn outcome(&self) -> Option<&str> {
        match self {
            Self::WithOutcome(_, outcome) => Some(outcome),
            Self::At(_, reason) | Self::Hinted(reason, _) => reason.outcome(),
            _ => None,
        }
    }

    /// Returns the failure itself, without its place, hints and outcome.
    pub(crate) fn reason(&self) -> &Self {
        match self {
            Self::At(_, reason) | Self::Hinted(reason, _) | Self::WithOutcome(reason, _) => reason.reason(),
            reason => reason,
        }
    }

    /// Returns the details worth printing although the command was told to stop.
    fn detail(&self, verbose: bool) -> String {
        match self.client() {
            Some(error) if verbose || error.kind() != Kind::Cancelled => {
                format!("\n  {}", self.text(verbose).replace('\n', "\n  "))
            }
            _ => self.outcome().map_or_else(String::new, |outcome| format!("\n  {outcome}")),
        }
    }
}

/// Returns the message of an error, with the engine's codes if `verbose`.
fn firebird(message: &str, error: &firearrow::Error, verbose: bool) -> String {
    // Text from the server must not look like a message of this program.
    let mut text = message.trim_end().replace('\n', "\n  ");
    if verbose {
        let _ = write!(text, "\n  kind: {:?}\n  SQLSTATE: {}", error.kind(), error.sqlstate());
        if let Some(code) = error.sqlcode() {
            let _ = write!(text, "\n  SQLCODE: {code}");
        }
        let code = |code: &i32| match gds::name(*code) {
            Some(name) => format!("{code} ({name})"),
            None => code.to_string(),
        };
        let codes: Vec<String> = error.gds_codes().iter().map(code).collect();
        if !codes.is_empty() {
            let _ = write!(text, "\n  gds codes: {}", codes.join(", "));
        }
    }
    text
}

impl From<firearrow::Error> for Failure {
    fn from(error: firearrow::Error) -> Self {
        Self::Firebird(error)
    }
}

impl From<firearrow_driver::Error> for Failure {
    fn from(error: firearrow_driver::Error) -> Self {
        match error.client() {
            Some(client) => Self::Told(error.message().to_owned(), Box::new(client.clone())),
            None if error.is_cancelled() => Self::Stopped,
            None => Self::Other(error.message().to_owned()),
        }
    }
}

impl From<firearrow_bench::Error> for Failure {
    fn from(error: firearrow_bench::Error) -> Self {
        match error {
            firearrow_bench::Error::Firebird(error) => error.into(),
            firearrow_bench::Error::Usage(text) => Self::Usage(text),
            firearrow_bench::Error::Io(error) => error.into(),
            firearrow_bench::Error::Stopped => Self::Stopped,
            firearrow_bench::Error::Other(text) => Self::Other(text),
            error => Self::Other(error.to_string()),
        }
    }
}

impl From<firearrow_report::Error> for Failure {
    fn from(error: firearrow_report::Error) -> Self {
        Self::Other(error.to_string())
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if files::is_closed_pipe(&error) { Self::PipeClosed } else { Self::Other(error.to_string()) }
    }
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, error) => error.into(),
            ArrowError::ExternalError(error) => match error.downcast::<firearrow::Error>() {
                Ok(error) => Self::Firebird(*error),
                Err(error) => Self::Other(error.to_string()),
            },
            error => Self::Other(error.to_string()),
        }
    }
}

impl From<ParquetError> for Failure {
    fn from(error: ParquetError) -> Self {
        let io = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        if io.is_some_and(files::is_closed_pipe) { Self::PipeClosed } else { Self::Other(error.to_string()) }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}
