//! What can be wrong with a connection string; every message says what to write instead.

use std::borrow::Cow;
use thiserror::Error;

/// Why a connection string or an option was refused. No message repeats what stands where a password belongs.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no text.
    #[error("the connection string is empty; write firebird://user@host/database")]
    Empty,
    /// The text has more than this many bytes.
    #[error("the text is longer than {0} bytes")]
    TooLong(usize),
    /// There is a zero byte in the text, or an escape that makes one.
    #[error("the text contains a zero byte")]
    NulByte,
    /// The text before `://` is none of the known schemes.
    #[error(
        "'{0}://' is unknown; write firebird://host/database or host:/path, or file:///path for a \
         database in this process"
    )]
    UnknownScheme(String),
    /// A protocol that only exists on Windows machines, by its name.
    #[error(
        "{0} works between processes of a Windows machine only and is not supported; connect by TCP, with \
         inet://localhost/database"
    )]
    LocalProtocol(&'static str),
    /// There is no path or alias.
    #[error("no database is named; add its path or alias, as in firebird://host/database or host:path")]
    MissingDatabase,
    /// There is a port, but no host.
    #[error("a port is given, but no host; write host/3050:path or host=…;port=…")]
    MissingHost,
    /// The host contains a character that no host has, or is no IPv6 address in spite of its brackets.
    #[error("the host is wrong: {0}")]
    InvalidHost(&'static str),
    /// What should be a port is none.
    #[error(
        "the port is not a number from 1 to 65535. If this is a part of the user name or password: write \
         / ? # @ and : in these as %2F %3F %23 %40 and %3A"
    )]
    InvalidPort,
    /// `host/service:path` with a service other than `gds_db`.
    #[error(
        "'{0}' is no port, and service names other than gds_db are not looked up; write host/3050:path \
         with the number of the port"
    )]
    UnknownService(String),
    /// `host:3050:path`.
    #[error("write the port after a slash, before the colon: host/3050:path")]
    PortBehindColon,
    /// A `user@` in front of a host of the `inet` form.
    #[error("inet:// takes no user; write firebird://user:password@host/database")]
    UserInLocator,
    /// Almost a URL with a login, but without `://`.
    #[error(
        "this looks like a URL without its ://; write firebird://user@host/database. If it is a path with \
         : and @ in it, write inet://host//path, or embedded:path for a database in this process"
    )]
    NearUrl,
    /// An `@` too many in a URL, or behind its host.
    #[error(
        "there is an @ behind the host, or more than one in front of it; in user name, password and path \
         write @ as %40, # as %23, / as %2F and ? as %3F"
    )]
    UnescapedAt,
    /// A `#` in a URL.
    #[error("an unescaped # would end the URL; in user name, password, path and options write # as %23")]
    UnescapedHash,
    /// A `%` that two hexadecimal digits do not follow, in this part of the text.
    #[error("a % in the {0} is not followed by two hexadecimal digits; write the % itself as %25")]
    InvalidEscape(&'static str),
    /// Escapes which are not UTF-8 when put together, in this part of the text.
    #[error("the escapes in the {0} do not make UTF-8; escape each byte of the UTF-8 form")]
    InvalidUtf8(&'static str),
    /// A part of an option list has no `=`.
    #[error(
        "a part of the option list is not name=value. In a URL write & in values as %26, and ? in the \
         password as %3F; in a list of keywords put values that contain ; in braces, {{…}}"
    )]
    MissingEquals,
    /// A value in braces does not end, or goes on behind them.
    #[error(
        "a value that begins with {{ ends with }}, and a }} within it is doubled: Pwd={{a}}}}b}} means a}}b"
    )]
    UnbalancedBrace,
    /// Nothing has this name.
    #[error(
        "there is no option '{name}'; {}",
        nearest.map_or_else(|| "remove it".into(), |nearest| format!("is '{nearest}' meant?"))
    )]
    UnknownOption {
        /// The name.
        name: String,
        /// The option that is spelled most like it.
        nearest: Option<&'static str>,
    },
    /// An option of the ODBC driver, the ADBC driver or the Python package, elsewhere.
    #[error(
        "'{name}' is an option of the ODBC driver, the ADBC driver or the Python package and has no effect here; \
         remove it and use the calls of this interface"
    )]
    FrontEndOption {
        /// The name.
        name: String,
    },
    /// An option that names code to run or a secret to send, in a connection string.
    #[error(
        "{option} is not allowed in a connection string, because it chooses code to run, secrets to send \
         or files to replace; set it in the application instead: {instead}"
    )]
    ApplicationOnly {
        /// The option.
        option: &'static str,
        /// Where the application sets it.
        instead: &'static str,
    },
    /// An option is given twice, perhaps under two of its names.
    #[error("{0} is given twice; remove one of the two")]
    Duplicate(String),
    /// An option cannot have this value.
    #[error("{option}='{value}' is not possible; it must be {expected}")]
    InvalidValue {
        /// The option.
        option: &'static str,
        /// What it was given, shortened; hidden if it is a secret.
        value: String,
        /// What it can be.
        expected: Cow<'static, str>,
    },
    /// A connection character set other than UTF8.
    #[error(
        "charset='{0}' is not possible: firearrow always connects with UTF8 and the server converts, so \
         remove the option. For columns of CHARACTER SET NONE use none_encoding=…"
    )]
    Charset(String),
    /// The file that `FIREARROW_PASSWORD_FILE` names is of no use.
    #[error("the password file {path}, which FIREARROW_PASSWORD_FILE names, cannot be used: {reason}")]
    PasswordFile {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// Two things were asked for that exclude each other.
    #[error("{0}")]
    Conflict(&'static str),
}

impl ConfigError {
    pub(super) fn value(option: &'static str, value: &str, expected: impl Into<Cow<'static, str>>) -> Self {
        let secret = matches!(option, "password" | "db_key");
        let value = if secret && !value.is_empty() { "***".into() } else { shorten(value) };
        Self::InvalidValue { option, value, expected: expected.into() }
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
