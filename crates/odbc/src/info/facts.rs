//! What is known of a connection.

use crate::abi::attribute::connection::READ_COMMITTED;
use firearrow::Dialect;

/// What is known of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) release: Release,
    /// Of the connection; that of the database may differ.
    pub(crate) dialect: Dialect,
    /// The data source that the application named, or nothing.
    pub(crate) data_source: String,
    /// The host of the server; nothing for a database in the process.
    pub(crate) server: String,
    /// The path or alias of the database.
    pub(crate) database: String,
    /// As the engine knows it.
    pub(crate) user: String,
    /// Whether the database or the connection refuses writes.
    pub(crate) is_read_only: bool,
    /// Bytes of a database page.
    pub(crate) page_size: u32,
    /// The isolation of new connections, one of `SQL_TXN_…`.
    pub(crate) isolation: u32,
    /// Whether each DDL statement commits by itself.
    pub(crate) commits_ddl: bool,
    /// Whether the application wants names without quotes to be case-sensitive.
    pub(crate) is_sensitive: bool,
    /// Whether the application wants names in quotes.
    pub(crate) has_quotes: bool,
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            release: Release::default(),
            dialect: Dialect::default(),
            data_source: String::new(),
            server: String::new(),
            database: String::new(),
            user: String::new(),
            is_read_only: false,
            page_size: 8192,
            isolation: READ_COMMITTED,
            commits_ddl: false,
            is_sensitive: false,
            has_quotes: true,
        }
    }
}

/// The release of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Release {
    pub(crate) major: u16,
    pub(crate) minor: u16,
    pub(crate) build: u32,
    /// What the server says of itself, such as `LI-V5.0.4.1812 Firebird 5.0`.
    pub(crate) text: String,
}

impl Release {
    /// Reads what a server says of itself: platform and stage of development, then four numbers. What is missing is 0.
    pub(crate) fn read(text: &str) -> Self {
        let digits = text.find(|character: char| character.is_ascii_digit()).map_or("", |at| &text[at..]);
        let end = digits.find(|character: char| !character.is_ascii_digit() && character != '.');
        let mut numbers = digits[..end.unwrap_or(digits.len())].split('.');
        let mut next = || numbers.next().unwrap_or_default();
        let (major, minor, _patch, build) = (next(), next(), next(), next());
        Self {
            major: major.parse().unwrap_or_default(),
            minor: minor.parse().unwrap_or_default(),
            build: build.parse().unwrap_or_default(),
            text: text.to_owned(),
        }
    }

    /// Returns the version as ODBC wants it: `05.00.1812`, then the server's words.
    pub(crate) fn version(&self) -> String {
        format!("{:02}.{:02}.{:04} {}", self.major, self.minor, self.build, self.text).trim_end().to_owned()
    }

    /// Whether it has what Firebird 4 brought: long names, INT128, DECFLOAT, time zones.
    pub(crate) fn is_4(&self) -> bool {
        self.major >= 4
    }

    /// Whether it has schemas.
    pub(crate) fn has_schemas(&self) -> bool {
        self.major >= 6
    }

    /// Most characters of a name.
    pub(crate) fn name_length(&self) -> u16 {
        if self.is_4() { 63 } else { 31 }
    }
}
