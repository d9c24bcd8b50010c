//! What can be wrong with a connection string; every message says what to write instead.

use std::fmt;

/// Why a connection string or an option was refused. No message repeats what stands where a password belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no text.
    Empty,
    /// The text has more than this many bytes.
    TooLong(usize),
    /// There is a zero byte in the text, or an escape that makes one.
    NulByte,
    /// The text before `://` is none of the known schemes.
    UnknownScheme(String),
    /// A protocol that only exists on Windows machines, by its name.
    LocalProtocol(&'static str),
    /// There is no path or alias.
    MissingDatabase,
    /// There is a port, but no host.
    MissingHost,
    /// The host contains a character that no host has, or is no IPv6 address in spite of its brackets.
    InvalidHost(&'static str),
    /// What should be a port is none.
    InvalidPort,
    /// `host/service:path` with a service other than `gds_db`.
    UnknownService(String),
    /// `host:3050:path`.
    PortBehindColon,
    /// A `user@` in front of a host of the `inet` form.
    UserInLocator,
    /// Almost a URL with a login, but without `://`.
    NearUrl,
    /// An `@` too many in a URL, or behind its host.
    UnescapedAt,
    /// A `#` in a URL.
    UnescapedHash,
    /// A `%` that two hexadecimal digits do not follow, in this part of the text.
    InvalidEscape(&'static str),
    /// Escapes which are not UTF-8 when put together, in this part of the text.
    InvalidUtf8(&'static str),
    /// A part of an option list has no `=`.
    MissingEquals,
    /// A value in braces does not end, or goes on behind them.
    UnbalancedBrace,
    /// Nothing has this name.
    UnknownOption {
        /// The name.
        name: String,
        /// The option that is spelled most like it.
        nearest: Option<&'static str>,
    },
    /// An option of the ODBC or ADBC driver where there is none.
    FrontEndOption {
        /// The name.
        name: String,
    },
    /// An option that names code to run or a secret to send, in a connection string.
    ApplicationOnly {
        /// The option.
        option: &'static str,
        /// Where the application sets it.
        instead: &'static str,
    },
    /// An option is given twice, perhaps under two of its names.
    Duplicate(String),
    /// An option cannot have this value.
    InvalidValue {
        /// The option.
        option: &'static str,
        /// What it was given, shortened; hidden if it is a secret.
        value: String,
        /// What it can be.
        expected: &'static str,
    },
    /// A connection character set other than UTF8.
    Charset(String),
    /// The file that `FIREARROW_PASSWORD_FILE` names is of no use.
    PasswordFile {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// Two things were asked for that exclude each other.
    Conflict(&'static str),
}

impl ConfigError {
    pub(super) fn value(option: &'static str, value: &str, expected: &'static str) -> Self {
        let secret = matches!(option, "password" | "db_key");
        let value = if secret && !value.is_empty() { "***".into() } else { shorten(value) };
        Self::InvalidValue { option, value, expected }
    }
}

/// Enough of a text to recognize it in a message.
pub(super) fn shorten(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut chars = text.chars();
    let mut start: String =
        chars.by_ref().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if chars.next().is_some() {
        start.push('…');
    }
    start
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the connection string is empty; write firebird://user@host/database"),
            Self::TooLong(limit) => write!(f, "the text is longer than {limit} bytes"),
            Self::NulByte => f.write_str("the text contains a zero byte"),
            Self::UnknownScheme(scheme) => write!(
                f,
                "'{scheme}://' is unknown; write firebird://host/database or host:/path, or file:///path for a \
                 database in this process"
            ),
            Self::LocalProtocol(name) => write!(
                f,
                "{name} works between processes of a Windows machine only and is not supported; connect by TCP, \
                 with inet://localhost/database"
            ),
            Self::MissingDatabase => {
                f.write_str("no database is named; add its path or alias, as in firebird://host/database or host:path")
            }
            Self::MissingHost => f.write_str("a port is given, but no host; write host/3050:path or host=…;port=…"),
            Self::InvalidHost(reason) => write!(f, "the host is wrong: {reason}"),
            Self::InvalidPort => f.write_str(
                "the port is not a number from 1 to 65535. If this is a part of the user name or password: write \
                 / ? # @ and : in these as %2F %3F %23 %40 and %3A",
            ),
            Self::UnknownService(name) => write!(
                f,
                "'{name}' is no port, and service names other than gds_db are not looked up; write \
                 host/3050:path with the number of the port"
            ),
            Self::PortBehindColon => {
                f.write_str("the port goes behind a slash in front of the colon: write host/3050:path")
            }
            Self::UserInLocator => {
                f.write_str("inet:// takes no user; write firebird://user:password@host/database")
            }
            Self::NearUrl => f.write_str(
                "this looks like a URL without its ://; write firebird://user@host/database. If it is a path with : and @ \
                 in it, write inet://host//path, or embedded:path for a database in this process",
            ),
            Self::UnescapedAt => f.write_str(
                "there is an @ behind the host, or more than one in front of it; in user name, password and path \
                 write @ as %40, # as %23, / as %2F and ? as %3F",
            ),
            Self::UnescapedHash => {
                f.write_str("an unescaped # would end the URL; in user name, password, path and options write # as %23")
            }
            Self::InvalidEscape(part) => {
                write!(f, "a % in the {part} is not followed by two hexadecimal digits; write the % itself as %25")
            }
            Self::InvalidUtf8(part) => {
                write!(f, "the escapes in the {part} do not make UTF-8; escape each byte of the UTF-8 form")
            }
            Self::MissingEquals => f.write_str(
                "a part of the option list is not name=value. In a URL write & in values as %26, and ? in the \
                 password as %3F; in a list of keywords put values that contain ; in braces, {…}",
            ),
            Self::UnbalancedBrace => f.write_str(
                "a value that begins with { ends with }, and a } within it is doubled: Pwd={a}}b} means a}b",
            ),
            Self::UnknownOption { name, nearest: Some(nearest) } => {
                write!(f, "there is no option '{name}'; is '{nearest}' meant?")
            }
            Self::UnknownOption { name, nearest: None } => {
                write!(f, "there is no option '{name}'; remove it")
            }
            Self::FrontEndOption { name } => write!(
                f,
                "'{name}' is an option of the ODBC or ADBC driver and has no effect here; remove it and use the calls \
                 of this interface"
            ),
            Self::ApplicationOnly { option, instead } => write!(
                f,
                "{option} is not allowed in a connection string, because it chooses code to run, secrets to send or files to replace; set it \
                 in the application instead: {instead}"
            ),
            Self::Duplicate(name) => write!(f, "{name} is given twice; remove one of the two"),
            Self::InvalidValue { option, value, expected } => {
                write!(f, "{option}='{value}' is not possible; it must be {expected}")
            }
            Self::Charset(name) => write!(
                f,
                "charset='{name}' is not possible: firearrow always connects with UTF8 and the server converts, so \
                 remove the option. For columns of CHARACTER SET NONE use none_encoding=…"
            ),
            Self::PasswordFile { path, reason } => {
                write!(f, "the password file {path}, which FIREARROW_PASSWORD_FILE names, cannot be used: {reason}")
            }
            Self::Conflict(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for ConfigError {}
