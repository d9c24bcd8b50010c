//! Things that must not appear in messages and logs.

use std::fmt;

/// A password. Only [`Password::reveal`] shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// Hides `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The password itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether it is the one that old installations came with, known to everybody.
    pub fn is_well_known(&self) -> bool {
        // Legacy_Auth looks at eight characters only, so the shorter form is the same password there.
        matches!(self.0.as_str(), "masterkey" | "masterke")
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl From<&str> for Password {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Password {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// Where the key of an encrypted database comes from.
#[derive(Clone, PartialEq, Eq)]
pub enum KeySource {
    /// An environment variable of this name.
    Env(String),
    /// The contents of a file.
    File(String),
    /// What this command prints.
    Command(String),
    /// The key itself. Cannot be written in a connection string, where it would be seen by everybody.
    Literal(Vec<u8>),
}

impl KeySource {
    /// Reads `env:NAME`, `file:PATH` or `cmd:COMMAND`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once(':')?;
        if rest.is_empty() {
            return None;
        }
        match kind {
            "env" => Some(Self::Env(rest.into())),
            "file" => Some(Self::File(rest.into())),
            "cmd" => Some(Self::Command(rest.into())),
            _ => None,
        }
    }

    /// The text [`KeySource::parse`] reads, unless it is or may contain a secret.
    pub(super) fn public_text(&self) -> Option<String> {
        match self {
            Self::Env(name) => Some(format!("env:{name}")),
            Self::File(path) => Some(format!("file:{path}")),
            // Commands tend to have tokens among their arguments.
            Self::Command(_) | Self::Literal(_) => None,
        }
    }
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "Env({name:?})"),
            Self::File(path) => write!(f, "File({path:?})"),
            Self::Command(_) => f.write_str("Command(***)"),
            Self::Literal(_) => f.write_str("Literal(***)"),
        }
    }
}
