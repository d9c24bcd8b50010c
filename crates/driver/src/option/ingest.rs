//! How tables are made and filled.

use firearrow::WriteOptions;

/// How ingestion treats an existing or missing table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Creates the table, which must not exist.
    #[default]
    Create,
    /// Appends to the table, which must exist.
    Append,
    /// Replaces the table, or creates it.
    Replace,
    /// Appends to the table, or creates it.
    CreateAppend,
    /// Updates rows whose key exists and inserts the others.
    Upsert,
}

/// The type of text or binary columns in a new table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TextAs {
    /// A BLOB, which holds values of any length.
    Blob,
    /// A VARCHAR or VARBINARY of this length.
    Varying(u16),
    /// A VARCHAR with room for the data, if there is no more than [`AHEAD_BYTES`](crate::AHEAD_BYTES) of it and rows stay short;
    /// otherwise a BLOB.
    #[default]
    Auto,
}

impl TextAs {
    /// The longest VARCHAR in UTF8, in characters.
    pub const LONGEST_TEXT: u16 = 8191;
    /// The longest VARBINARY, in bytes.
    pub const LONGEST_BINARY: u16 = 32765;
}

/// The front end's names of options, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IngestNames {
    /// [`IngestOptions::key`].
    pub key: &'static str,
    /// [`IngestOptions::commit_rows`].
    pub commit_rows: &'static str,
}

impl Default for IngestNames {
    fn default() -> Self {
        Self { key: "key", commit_rows: "commit_rows" }
    }
}

/// Options of an ingestion.
#[derive(Clone, Debug)]
pub struct IngestOptions {
    /// The table.
    pub table: String,
    /// How to treat an existing or missing table.
    pub mode: Mode,
    /// Whether simple lower-case names of a new table and its columns become upper case, as in SQL without quotes.
    pub upper_case: bool,
    /// Whether to create a global temporary table, which is dropped when the session ends.
    pub temporary: bool,
    /// The type of text columns in a new table.
    pub text: TextAs,
    /// The type of binary columns in a new table.
    pub binary: TextAs,
    /// Columns that [`Mode::Upsert`] finds rows by; empty = the primary key.
    pub key: Vec<String>,
    /// Rows of a transaction in autocommit mode; 0 = all.
    pub commit_rows: usize,
    /// How rows are encoded and sent.
    pub write: WriteOptions,
    /// The names of options in messages.
    pub names: IngestNames,
}

impl Default for IngestOptions {
    fn default() -> Self {
        Self {
            table: String::new(),
            mode: Mode::default(),
            upper_case: false,
            temporary: false,
            text: TextAs::Auto,
            binary: TextAs::Blob,
            key: Vec::new(),
            commit_rows: 0,
            write: WriteOptions::default(),
            names: IngestNames::default(),
        }
    }
}
