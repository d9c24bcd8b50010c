//! The errors of benchmarks and demo databases.

use crate::secret;
use std::fmt;
use std::io;
use std::path::Path;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a benchmark or a demo database could not be completed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The client or the engine reported it.
    Firebird(firearrow::Error),
    /// The options name something that does not exist, or do not fit together.
    Usage(String),
    /// A result was wrong, a program failed, or something necessary is missing; the text explains it.
    Other(String),
    /// The operating system reported it.
    Io(io::Error),
    /// [`Host::check`](crate::Host::check) asked the run to stop.
    Stopped,
}

impl Error {
    /// Returns an [`Error::Other`] with this text.
    pub fn other(text: impl Into<String>) -> Self {
        Self::Other(text.into())
    }

    /// Returns an [`Error::Usage`] with this text.
    pub fn usage(text: impl Into<String>) -> Self {
        Self::Usage(text.into())
    }

    /// Says who has failed. A run that is to stop still stops.
    #[must_use]
    pub fn of(self, who: &str) -> Self {
        match self {
            Self::Stopped => self,
            error => Self::Other(format!("{who}: {error}")),
        }
    }

    /// Returns an error about a file.
    pub(crate) fn file(path: &Path, error: &io::Error) -> Self {
        Self::Other(format!("{}: {error}", path.display()))
    }
}

/// Formats the text for people, without passwords. Further lines of an engine's message are indented.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&secret::redact(self.text().trim_end()))
    }
}

impl Error {
    /// The text for people, also without this password. It is to be hidden before anything else is.
    #[must_use]
    pub fn hidden(&self, password: &str) -> String {
        secret::hide(self.text().trim_end(), password)
    }

    /// The text as it came.
    fn text(&self) -> String {
        match self {
            Self::Firebird(error) => error.message().trim_end().replace('\n', "\n  "),
            Self::Usage(text) | Self::Other(text) => text.clone(),
            Self::Io(error) => error.to_string(),
            Self::Stopped => "stopped".to_owned(),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Firebird(error) => Some(error),
            Self::Io(error) => Some(error),
            Self::Usage(_) | Self::Other(_) | Self::Stopped => None,
        }
    }
}

impl From<firearrow::Error> for Error {
    fn from(error: firearrow::Error) -> Self {
        Self::Firebird(error)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Io(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_no_passwords() {
        let error = Error::other("cannot reach firebird://u:s3@h/x\n");
        assert_eq!(error.to_string(), "cannot reach firebird://u:***@h/x");
        let error = Error::other("password=s3;cr et@x was wrong");
        assert_eq!(error.hidden("s3;cr et@x"), "password=*** was wrong");
    }
}
