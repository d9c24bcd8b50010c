//! CSV files as rows of texts.

use super::csv_record::{Fault, FaultKind, Record, Records};
use super::input::{self, Text};
use super::names::is_unseparated;
use super::source::{Part, Reading, Source, Texts, texts};
use crate::failure::{Failure, Result};
use arrow::datatypes::{Fields, SchemaRef};
use firearrow_bench::text::size;
use std::io;
use std::path::{Path, PathBuf};

pub(super) struct Csv {
    path: PathBuf,
    records: Records<Text>,
    record: Record,
    /// The first record is in `record`, and is a row.
    is_ahead: bool,
    null: String,
    schema: SchemaRef,
}

impl Csv {
    /// Opens a file and reads its header. Without one, the columns are named by their numbers.
    pub(super) fn open(path: &Path, reading: &Reading) -> Result<Self> {
        let text = input::text(path, reading.encoding, &reading.read)?;
        let mut csv = Self {
            path: path.to_owned(),
            records: Records::new(text, reading.delimiter),
            record: Record::default(),
            is_ahead: false,
            null: reading.null.clone(),
            schema: texts([].into_iter()),
        };
        let is_there = csv.read()?;
        if reading.has_header {
            if !is_there || csv.record.is_blank() {
                return Err(csv.failure(1, "there is no header; --no-header if there should be none"));
            }
            csv.schema = texts(csv.record.fields().map(|(name, _)| name));
        } else {
            let numbers: Vec<String> = (1..=csv.record.len()).map(|number| number.to_string()).collect();
            csv.schema = texts(numbers.iter().map(String::as_str));
            csv.is_ahead = is_there;
        }
        Ok(csv)
    }

    fn read(&mut self) -> Result<bool> {
        self.records.read(&mut self.record).map_err(|fault| fault.at(&self.path))
    }

    fn failure(&self, line: u64, what: &str) -> Failure {
        at_line(&self.path, line, what)
    }

    fn check_fields(&self) -> Result<()> {
        let (found, expected) = (self.record.len(), self.schema.fields().len());
        if found == expected {
            return Ok(());
        }
        let is_one = |fields: &Fields| fields.len() == 1 && is_unseparated(fields[0].name());
        let hint = match found == 1 || is_one(self.schema.fields()) {
            true => "; --delimiter names what separates them",
            false => "",
        };
        let what =
            format!("{found} {} instead of {expected}{hint}", if found == 1 { "field" } else { "fields" });
        Err(self.failure(self.record.line, &what))
    }
}

impl Source for Csv {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    fn next(&mut self) -> Result<Option<Part>> {
        let mut rows = Texts::new(&self.schema);
        let is_single = self.schema.fields().len() == 1;
        while !rows.is_full() {
            if !std::mem::take(&mut self.is_ahead) && !self.read()? {
                break;
            }
            // In a single column an empty line is a NULL; in others it is no row.
            if self.record.is_blank() && !is_single {
                continue;
            }
            self.check_fields()?;
            let null = self.null.as_str();
            let fields = self.record.fields();
            let values = fields.map(|(text, is_quoted)| (is_quoted || text != null).then_some(text));
            rows.push(self.record.line, values);
        }
        rows.finish()
    }
}

impl Fault {
    /// Returns what to print.
    fn at(self, path: &Path) -> Failure {
        let what = match self.kind {
            FaultKind::Unclosed => "the quote that begins here is never closed".to_owned(),
            FaultKind::AfterQuote => {
                "text after a closing quote; a quote within quotes is written twice".to_owned()
            }
            FaultKind::Encoding => NO_UTF8.to_owned(),
            FaultKind::TooLong(bytes) => {
                format!("the record is longer than {}; is a quote missing?", size(bytes as u64))
            }
            FaultKind::TooMany(fields) => format!("the record has more than {fields} fields"),
            FaultKind::Io(error) => return broken(path, self.line, &error),
        };
        at_line(path, self.line, &what)
    }
}

/// A failure to read the file, near this line.
pub(super) fn broken(path: &Path, line: u64, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::InvalidData => at_line(path, line, &error.to_string()),
        _ => Failure::file(path, error),
    }
}

pub(super) fn at_line(path: &Path, line: u64, what: &str) -> Failure {
    Failure::other(format!("{}, line {line}: {what}", path.display()))
}

pub(super) const NO_UTF8: &str =
    "the text is not UTF-8; name its encoding, for example --encoding windows-1252";
