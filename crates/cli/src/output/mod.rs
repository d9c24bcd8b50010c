//! Writes rows: one sink per format.

mod cells;
mod columnar;
mod csv;
mod expanded;
mod file;
mod json;
mod table;

pub(crate) use columnar::parquet_properties;
pub(crate) use file::OutputFile;

use crate::args::{Compression, TextArgs};
use crate::failure::{Failure, Result};
use crate::terminal;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use firearrow_bench::text::thousands;
use std::io::{IsTerminal, Write};
use std::path::Path;

/// Prints text for people. Unlike `println!`, it does not panic when the reader has gone.
pub(crate) fn print(text: &str) -> Result<()> {
    print_data(&terminal::lines(text))
}

/// Returns `1 row`, `2,000 rows`.
pub(crate) fn counted(number: u64, noun: &str, rest: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}{rest}", thousands(number))
}

/// Prints data for programs unchanged.
pub(crate) fn print_data(text: &str) -> Result<()> {
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}

/// The format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Table,
    /// For people: a line for each value
    Expanded,
    /// RFC 4180, with a header
    Csv,
    /// One object per line
    Json,
    /// Arrow IPC
    Arrow,
    Parquet,
}

/// The writer below a sink.
pub(crate) type Output = Box<dyn Write + Send>;

/// Takes batches of one schema.
pub(crate) trait Sink: Send {
    /// Writes the rows of a batch.
    fn write(&mut self, batch: &RecordBatch) -> Result<()>;

    /// Writes what is held back, if the format can.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Writes the end of the output, and everything held back.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// What a format needs in addition to the rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    /// Width of the terminal in columns, for tables shown on one.
    pub(crate) width: Option<usize>,
    /// Arrow as a stream, which readers need not seek, instead of a file.
    pub(crate) stream: bool,
    /// The compression of Parquet.
    pub(crate) compression: Compression,
    /// Whether the reader can ask again, as in the shell.
    pub(crate) is_conversation: bool,
    /// Rows of tables and CSV alone, without names of columns.
    pub(crate) bare: bool,
    /// What separates the fields of CSV, instead of a comma.
    pub(crate) delimiter: Option<u8>,
}

impl Format {
    /// Returns a parser of the names of some formats, for a command line.
    pub(crate) fn parser(is_offered: fn(Self) -> bool) -> impl TypedValueParser<Value = Self> {
        let offered = Self::value_variants().iter().filter(|format| is_offered(**format));
        let names = offered.filter_map(ValueEnum::to_possible_value).collect::<Vec<_>>();
        PossibleValuesParser::new(names).try_map(|name| Self::from_str(&name, false))
    }

    /// Whether the format is for people alone.
    pub(crate) fn is_for_people(self) -> bool {
        matches!(self, Self::Table | Self::Expanded)
    }

    /// Returns the format for a file name.
    pub(crate) fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "json" | "jsonl" | "ndjson" => Some(Self::Json),
            "arrow" | "arrows" | "feather" | "ipc" => Some(Self::Arrow),
            "parquet" | "pq" => Some(Self::Parquet),
            _ => None,
        }
    }

    /// Whether the format is unreadable on a terminal.
    pub(crate) fn is_binary(self) -> bool {
        matches!(self, Self::Arrow | Self::Parquet)
    }

    /// Fails if standard output is a terminal that cannot show the format.
    pub(crate) fn refuse_terminal(self, instead: &str) -> Result<()> {
        if self.is_binary() && std::io::stdout().is_terminal() {
            let text = "a terminal cannot show this format";
            return Err(Failure::usage(format!("{text}: {instead}, or pipe the output to a program")));
        }
        Ok(())
    }

    /// Starts writing in this format.
    pub(crate) fn sink(self, schema: &SchemaRef, style: Style, output: Output) -> Result<Box<dyn Sink>> {
        Ok(match self {
            Self::Table => Box::new(table::Table::new(schema, style, output)),
            Self::Expanded => Box::new(expanded::Expanded::new(schema, output)),
            Self::Csv => Box::new(csv::Csv::new(schema, style, output)?),
            Self::Json => Box::new(json::Json::new(schema, output)),
            Self::Arrow if style.stream => Box::new(columnar::Stream::new(schema, output)?),
            Self::Arrow => Box::new(columnar::File::new(schema, output)?),
            Self::Parquet => Box::new(columnar::Parquet::new(schema, style.compression, output)?),
        })
    }
}

/// The extensions that name a format.
const EXTENSIONS: &str =
    ".parquet, .pq, .arrow, .feather, .ipc, .arrows (a stream), .csv, .json, .jsonl or .ndjson";

/// The error for a file whose extension names no format.
pub(crate) fn no_format(path: &Path) -> Failure {
    let name = path.display();
    Failure::usage(format!("{name}: the extension names no format; use {EXTENSIONS}, or --format"))
}

impl Style {
    /// With what a command line says of tables and CSV.
    pub(crate) fn with(self, text: &TextArgs, format: Format) -> Result<Self> {
        if text.no_header && !matches!(format, Format::Table | Format::Csv) {
            return Err(Failure::usage(
                "--no-header is for tables and CSV; other formats name their columns",
            ));
        }
        if text.delimiter.is_some() && format != Format::Csv {
            return Err(Failure::usage("--delimiter needs --format csv"));
        }
        Ok(Self { bare: text.no_header, delimiter: text.delimiter, ..self })
    }

    /// Chooses the compression.
    ///
    /// # Errors
    /// The format has none to choose.
    pub(crate) fn compressed(self, compression: Option<Compression>, format: Format) -> Result<Self> {
        if compression.is_some() && format != Format::Parquet {
            return Err(Failure::usage(
                "--compression is for Parquet; the other formats are written without",
            ));
        }
        Ok(Self { compression: compression.unwrap_or_default(), ..self })
    }

    /// Chooses the style by the file name: `.arrows` is the customary extension of streams.
    pub(crate) fn of_path(path: &Path) -> Self {
        let stream = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("arrows"));
        Self { stream, ..Self::default() }
    }
}
