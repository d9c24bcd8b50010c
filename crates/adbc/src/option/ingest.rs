//! Options for creating and filling tables.

use super::{Keyed, bad_value, flag, number, within};
use crate::error::{Result, not_implemented};
use firearrow::WriteOptions;
use firearrow::arrow::OptionError;
use firearrow_driver::{IngestNames, IngestOptions, Mode, TextAs};

const MODES: [(Mode, &str); 5] = [
    (Mode::Create, "adbc.ingest.mode.create"),
    (Mode::Append, "adbc.ingest.mode.append"),
    (Mode::Replace, "adbc.ingest.mode.replace"),
    (Mode::CreateAppend, "adbc.ingest.mode.create_append"),
    (Mode::Upsert, "adbc.firebird.ingest.mode.upsert"),
];

/// Parses the type of text or binary columns; `word` is the type with a length.
fn parse_type(key: &str, value: &str, word: &str, longest: u16) -> Result<TextAs> {
    let varying = || {
        let length = value.strip_prefix(word)?.strip_prefix('(')?.strip_suffix(')')?.trim().parse().ok()?;
        (1..=longest).contains(&length).then_some(TextAs::Varying(length))
    };
    match value {
        "blob" => Ok(TextAs::Blob),
        "auto" => Ok(TextAs::Auto),
        _ => varying().ok_or_else(|| {
            bad_value(key, value, &format!("blob, auto, or {word}(n) with n from 1 to {longest}"))
        }),
    }
}

fn spell_type(given: TextAs, word: &str) -> String {
    match given {
        TextAs::Blob => "blob".into(),
        TextAs::Auto => "auto".into(),
        TextAs::Varying(length) => format!("{word}({length})"),
    }
}

/// The table that a statement ingests into, if any.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// Whether a table is set.
    pub(crate) is_set: bool,
    pub(crate) options: IngestOptions,
}

impl Default for Target {
    fn default() -> Self {
        let names = IngestNames { key: "adbc.firebird.ingest.key", commit_rows: "ingest.commit_rows" };
        Self { is_set: false, options: IngestOptions { names, ..IngestOptions::default() } }
    }
}

impl Target {
    /// Removes the table, because the statement runs a query instead.
    pub(crate) fn clear(&mut self) {
        self.is_set = false;
        self.options.table.clear();
    }
}

impl Keyed for Target {
    fn set(&mut self, key: &str, value: &str) -> Result<bool> {
        let options = &mut self.options;
        match key {
            "adbc.ingest.target_table" => {
                value.clone_into(&mut options.table);
                self.is_set = true;
            }
            "adbc.ingest.mode" => {
                let mode = MODES.iter().find(|(_, name)| *name == value).map(|(mode, _)| *mode);
                let expected = || MODES.map(|(_, name)| name).join(", ");
                options.mode = mode.ok_or_else(|| bad_value(key, value, &expected()))?;
            }
            "adbc.ingest.target_catalog" | "adbc.ingest.target_db_schema" => {
                if !value.is_empty() {
                    return Err(not_implemented(format!(
                        "{key}: this database has neither catalogs nor schemas"
                    )));
                }
            }
            "adbc.ingest.temporary" => options.temporary = flag(key, value)?,
            "adbc.firebird.ingest.upper_case" => options.upper_case = flag(key, value)?,
            "adbc.firebird.ingest.text" => {
                options.text = parse_type(key, value, "varchar", TextAs::LONGEST_TEXT)?;
            }
            "adbc.firebird.ingest.binary" => {
                options.binary = parse_type(key, value, "varbinary", TextAs::LONGEST_BINARY)?;
            }
            "adbc.firebird.ingest.key" => {
                let names = value.split(',').map(str::trim).filter(|name| !name.is_empty());
                options.key = names.map(str::to_owned).collect();
            }
            "adbc.firebird.ingest.commit_rows" => {
                options.commit_rows = number(key, value, "a number of rows from 0")?;
            }
            "adbc.firebird.ingest.batch_bytes" => {
                let range = WriteOptions::PIECE_BYTES;
                options.write.piece_bytes = within(key, value, range, "bytes from 4096 to 16777216")?;
            }
            "adbc.firebird.ingest.time_rounding" => {
                let rounding = value.parse();
                options.write.time_rounding =
                    rounding.map_err(|error: OptionError| bad_value(key, value, &error.expected))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn get(&self, key: &str) -> Option<Result<String>> {
        let options = &self.options;
        Some(Ok(match key {
            "adbc.ingest.target_table" => options.table.clone(),
            "adbc.ingest.mode" => {
                MODES.iter().find(|(mode, _)| *mode == options.mode).map_or("", |(_, name)| *name).to_owned()
            }
            "adbc.ingest.target_catalog" | "adbc.ingest.target_db_schema" => String::new(),
            "adbc.ingest.temporary" => options.temporary.to_string(),
            "adbc.firebird.ingest.upper_case" => options.upper_case.to_string(),
            "adbc.firebird.ingest.text" => spell_type(options.text, "varchar"),
            "adbc.firebird.ingest.binary" => spell_type(options.binary, "varbinary"),
            "adbc.firebird.ingest.key" => options.key.join(","),
            "adbc.firebird.ingest.commit_rows" => options.commit_rows.to_string(),
            "adbc.firebird.ingest.batch_bytes" => options.write.piece_bytes.to_string(),
            "adbc.firebird.ingest.time_rounding" => options.write.time_rounding.to_string(),
            _ => return None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_columns_are_spelled_as_they_are_read() {
        let mut options = Target::default();
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
