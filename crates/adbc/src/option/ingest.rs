//! How tables are made and filled.

use super::{bad_value, flag, number, within};
use crate::error::{Result, not_implemented};
use firearrow::WriteOptions;
use firearrow::arrow::OptionError;

/// What becomes of a table that is there or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    #[default]
    Create,
    Append,
    Replace,
    CreateAppend,
    /// Rows with a key that is there are updated.
    Upsert,
}

const MODES: [(Mode, &str); 5] = [
    (Mode::Create, "adbc.ingest.mode.create"),
    (Mode::Append, "adbc.ingest.mode.append"),
    (Mode::Replace, "adbc.ingest.mode.replace"),
    (Mode::CreateAppend, "adbc.ingest.mode.create_append"),
    (Mode::Upsert, "adbc.firebird.ingest.mode.upsert"),
];

/// What text, or binary data, becomes in a new table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TextAs {
    /// A BLOB, which holds values of any length.
    #[default]
    Blob,
    /// A VARCHAR or VARBINARY of this length.
    Varying(u16),
    /// VARCHAR as long as the data needs, if that is known and rows do not become too long.
    Auto,
}

/// Longest VARCHAR in UTF8, in characters, and longest VARBINARY, in bytes.
const LONGEST_TEXT: u16 = 8191;
const LONGEST_BINARY: u16 = 32765;

impl TextAs {
    fn parse(key: &str, value: &str, word: &str, longest: u16) -> Result<Self> {
        let varying = || {
            let length =
                value.strip_prefix(word)?.strip_prefix('(')?.strip_suffix(')')?.trim().parse().ok()?;
            (1..=longest).contains(&length).then_some(Self::Varying(length))
        };
        match value {
            "blob" => Ok(Self::Blob),
            "auto" => Ok(Self::Auto),
            _ => varying().ok_or_else(|| {
                bad_value(key, value, &format!("blob, auto, or {word}(n) with n from 1 to {longest}"))
            }),
        }
    }

    fn write(self, word: &str) -> String {
        match self {
            Self::Blob => "blob".into(),
            Self::Auto => "auto".into(),
            Self::Varying(length) => format!("{word}({length})"),
        }
    }
}

/// Options of ingestion.
#[derive(Clone, Debug, Default)]
pub(crate) struct IngestOptions {
    pub(crate) table: Option<String>,
    pub(crate) mode: Mode,
    pub(crate) temporary: bool,
    pub(crate) text: TextAs,
    pub(crate) binary: TextAs,
    /// Columns that find rows; empty = the primary key.
    pub(crate) key: Vec<String>,
    /// Rows of a transaction; 0 = all.
    pub(crate) commit_rows: usize,
    pub(crate) write: WriteOptions,
}

impl IngestOptions {
    /// Sets the option that has this key; `false` if there is none.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<bool> {
        match key {
            "adbc.ingest.target_table" => self.table = Some(value.to_owned()),
            "adbc.ingest.mode" => {
                let mode = MODES.iter().find(|(_, name)| *name == value).map(|(mode, _)| *mode);
                let expected = || MODES.map(|(_, name)| name).join(", ");
                self.mode = mode.ok_or_else(|| bad_value(key, value, &expected()))?;
            }
            "adbc.ingest.target_catalog" | "adbc.ingest.target_db_schema" => {
                if !value.is_empty() {
                    return Err(not_implemented(format!(
                        "{key}: this database has neither catalogs nor schemas"
                    )));
                }
            }
            "adbc.ingest.temporary" => self.temporary = flag(key, value)?,
            "adbc.firebird.ingest.text" => self.text = TextAs::parse(key, value, "varchar", LONGEST_TEXT)?,
            "adbc.firebird.ingest.binary" => {
                self.binary = TextAs::parse(key, value, "varbinary", LONGEST_BINARY)?;
            }
            "adbc.firebird.ingest.key" => {
                let names = value.split(',').map(str::trim).filter(|name| !name.is_empty());
                self.key = names.map(str::to_owned).collect();
            }
            "adbc.firebird.ingest.commit_rows" => {
                self.commit_rows = number(key, value, "a number of rows from 0 on")?;
            }
            "adbc.firebird.ingest.batch_bytes" => {
                let range = WriteOptions::PIECE_BYTES;
                self.write.piece_bytes = within(key, value, range, "bytes from 4096 to 16777216")?;
            }
            "adbc.firebird.ingest.time_rounding" => {
                let rounding = value.parse();
                self.write.time_rounding =
                    rounding.map_err(|error: OptionError| bad_value(key, value, &error.expected))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(crate) fn get(&self, key: &str) -> Option<Result<String>> {
        Some(Ok(match key {
            "adbc.ingest.target_table" => self.table.clone().unwrap_or_default(),
            "adbc.ingest.mode" => {
                MODES.iter().find(|(mode, _)| *mode == self.mode).map_or("", |(_, name)| *name).to_owned()
            }
            "adbc.ingest.target_catalog" | "adbc.ingest.target_db_schema" => String::new(),
            "adbc.ingest.temporary" => self.temporary.to_string(),
            "adbc.firebird.ingest.text" => self.text.write("varchar"),
            "adbc.firebird.ingest.binary" => self.binary.write("varbinary"),
            "adbc.firebird.ingest.key" => self.key.join(","),
            "adbc.firebird.ingest.commit_rows" => self.commit_rows.to_string(),
            "adbc.firebird.ingest.batch_bytes" => self.write.piece_bytes.to_string(),
            "adbc.firebird.ingest.time_rounding" => self.write.time_rounding.to_string(),
            _ => return None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_columns_are_spelled_as_they_are_read() {
        let mut options = IngestOptions::default();
        for (key, value) in [
            ("adbc.firebird.ingest.text", "varchar(8191)"),
            ("adbc.firebird.ingest.text", "auto"),
            ("adbc.firebird.ingest.binary", "varbinary(32765)"),
            ("adbc.firebird.ingest.binary", "blob"),
            ("adbc.firebird.ingest.key", "a,b c"),
            ("adbc.ingest.mode", "adbc.firebird.ingest.mode.upsert"),
        ] {
            assert!(options.set(key, value).expect(value));
            assert_eq!(options.get(key).expect("known").expect("a value"), value);
        }
        for (key, value) in [
            ("adbc.firebird.ingest.text", "varchar(8192)"),
            ("adbc.firebird.ingest.text", "varchar(0)"),
            ("adbc.firebird.ingest.text", "varchar"),
            ("adbc.firebird.ingest.binary", "varchar(5)"),
            ("adbc.ingest.mode", "create"),
            ("adbc.ingest.target_catalog", "x"),
        ] {
            assert!(options.set(key, value).is_err(), "{key}={value}");
        }
    }
}
