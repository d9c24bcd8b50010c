//! The arguments of `firearrow load`.

use super::date_order::DateOrder;
use super::decimal_mark::DecimalMark;
use super::mapping::TextForm;
use super::notation::Notation;
use crate::failure::{Failure, Result};
use crate::output::Format;
use crate::platform::files;
use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum, ValueHint};
use encoding_rs::Encoding;
use firearrow_driver::TextAs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  firearrow load firebird://alice@db/shop sales.csv --into SALES
  firearrow load demo.fdb january.parquet february.parquet --into SALES --mode append
  firearrow load demo.fdb prices.csv --into PRICES --mode upsert --key ARTICLE,COUNTRY
  firearrow load demo.fdb clients.csv --into CLIENTS --encoding windows-1252 --delimiter ';'
  firearrow load demo.fdb orders.jsonl --into ORDERS --reject refused.csv
  firearrow load demo.fdb refused.csv --into ORDERS --skip-columns FILE,LINE,ERROR
  firearrow copy a.fdb SALES - --format arrow | firearrow load b.fdb - --format arrow --into SALES
  zcat sales.csv.gz | firearrow load demo.fdb - --format csv --into SALES
  firearrow load firebird://alice@db/shop sales/ --into SALES

All rows are loaded in one transaction, or none are: after a failure or Ctrl-C
the table is as it was, and a table that was created for them is gone.
--commit-rows N commits in between; the error then says how many rows stay.

Modes:
  (none)   append; create the table if it does not exist
  create   create the table, which must not exist
  append   append to the table, which must exist
  replace  delete its rows first, in the same transaction; the table stays
           as it is
  upsert   update the rows whose key exists, insert the others; the key is
           --key, or the primary key

Names of columns and of the table are matched exactly, otherwise ignoring letter
case. Columns that the files lack get their default. \"Quotes\" around the table's
name make letter case count.

CSV has a header (RFC 4180). An empty field is NULL, and \"\" an empty text, as
`copy` writes them. JSON has one object per line; missing members are NULL. In
both, binary values are hexadecimal, and times ISO 8601. Dates are 2024-12-31 or
31.12.2024; 31/12/2024 needs --date-order. A table that is created for them gets
types inferred from its first rows, and prints them: BIGINT, NUMERIC, DOUBLE
PRECISION, DATE, TIMESTAMP and BOOLEAN where all values are such, else text.

A folder of Parquet files is loaded as a whole, with the columns that folders in
it are named after (COUNTRY=DE). What `copy` has written is checked against its
_firearrow.json: files, rows and checksums. A folder must be complete; links in
it are refused.

Extensions: .parquet, .pq, .arrow, .feather, .ipc, .arrows, .csv, .json, .jsonl
and .ndjson.")]
pub(crate) struct LoadArgs {
    /// The database
    #[arg(value_hint = ValueHint::Url)]
    pub(crate) url: String,
    /// The files, with the same columns; their extension names the format. - is standard input, which needs --format.
    /// Or a folder of Parquet files
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) files: Vec<PathBuf>,
    /// The table
    #[arg(long, value_name = "TABLE")]
    pub(crate) into: String,
    /// What happens to the table [default: append, or create]
    #[arg(long, value_enum)]
    pub(crate) mode: Option<LoadMode>,
    /// The columns that upsert finds rows by [default: the primary key]
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) key: Vec<String>,
    /// Commit after each N rows, instead of all at once
    #[arg(long, value_name = "N")]
    pub(crate) commit_rows: Option<NonZeroUsize>,
    /// Write rows that the database refuses to FILE (CSV), with their line and error, and load the others; an
    /// existing file is replaced
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) reject: Option<PathBuf>,
    /// Load the files of a folder although nothing says that it is complete
    #[arg(long)]
    pub(crate) incomplete: bool,
    /// The format, if the extension does not name it
    #[arg(long, value_parser = Format::parser(|format| !format.is_for_people()))]
    pub(crate) format: Option<Format>,
    /// CSV: the first line is a row as well; its fields are the table's columns in order
    #[arg(long)]
    pub(crate) no_header: bool,
    /// Leave these columns of the files out; of several with the same name the first
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', conflicts_with = "no_header")]
    pub(crate) skip_columns: Vec<String>,
    /// CSV: what separates fields: one ASCII character, or tab [default: ,]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// CSV: the unquoted text that stands for NULL [default: the empty one]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) null: Option<String>,
    /// CSV: numbers have a decimal comma (2,50), and no points
    #[arg(long)]
    pub(crate) decimal_comma: bool,
    /// CSV and JSON: what comes first in dates such as 01/05/2024 and 01-05-2024, which date columns refuse
    /// otherwise. Between points, as in 31.12.2024, it is the day
    #[arg(long, value_name = "ORDER", value_enum)]
    pub(crate) date_order: Option<DateOrder>,
    /// CSV and JSON: the encoding of the file: latin1, windows-1252, utf-16le … [default: that of its
    /// byte order mark, or utf-8]
    #[arg(long, value_name = "NAME", value_parser = encoding)]
    pub(crate) encoding: Option<&'static Encoding>,
    /// Make the text columns of a new table VARCHAR(N) [default: twice the longest text in the files, at least 64;
    /// BLOBs if the files have more than 64 MiB]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u16>::new().range(1..=TextAs::LONGEST_TEXT.into()))]
    pub(crate) text_length: Option<u16>,
    /// Show no progress and no summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// The value of `--mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LoadMode {
    Create,
    Append,
    Replace,
    Upsert,
}

impl LoadArgs {
    /// With the files that patterns stand for, where no shell has expanded them.
    pub(super) fn expanded(&self) -> Result<Self> {
        let expanded = |path| files::expanded(path).map_err(|error| Failure::file(path, &error));
        let files = self.files.iter().map(PathBuf::as_path).map(expanded).collect::<Result<Vec<_>>>()?;
        Ok(Self { files: files.concat(), ..self.clone() })
    }

    /// Fails for options that do not go together.
    pub(super) fn check(&self, files: &[PathBuf]) -> Result<()> {
        if !self.key.is_empty() && self.mode != Some(LoadMode::Upsert) {
            return Err(Failure::usage("--key is for --mode upsert"));
        }
        if self.commit_rows.is_some() && self.mode == Some(LoadMode::Replace) {
            return Err(Failure::usage(
                "--mode replace is one transaction, so that the old rows stay until the new ones are there; \
                 leave out --commit-rows",
            ));
        }
        if self.reject.is_some() && self.mode == Some(LoadMode::Create) {
            return Err(Failure::usage(
                "--reject is for a table that exists: the types of a new one are inferred from the rows; \
                 create it first",
            ));
        }
        // Standard input may be a file as well.
        let place = |file: &PathBuf| {
            if is_standard_input(file) { Path::new(files::STANDARD_INPUT).to_owned() } else { file.clone() }
        };
        if let Some(reject) = self.reject.as_ref().and_then(|path| path.canonicalize().ok())
            && files.iter().any(|file| place(file).canonicalize().is_ok_and(|file| file == reject))
        {
            return Err(Failure::usage("--reject would replace a file that is loaded; choose another name"));
        }
        if self.files.len() > 1 && self.files.iter().any(|file| is_standard_input(file)) {
            return Err(Failure::usage("standard input cannot be loaded together with files"));
        }
        Ok(())
    }

    /// How texts are to be understood.
    pub(super) fn form(&self) -> TextForm {
        let mark = if self.decimal_comma { DecimalMark::Comma } else { DecimalMark::Point };
        TextForm { has_header: !self.no_header, notation: Notation { mark, dates: self.date_order } }
    }

    /// Fails for options of text files if the files have another format.
    pub(super) fn check_format(&self, format: Format) -> Result<()> {
        let csv = [
            ("--no-header", self.no_header),
            ("--delimiter", self.delimiter.is_some()),
            ("--null", self.null.is_some()),
            ("--decimal-comma", self.decimal_comma),
        ];
        let refuse = |option: &str, of: &str| Err(Failure::usage(format!("{option} is for {of} files")));
        match (format, csv.into_iter().find(|(_, is_set)| *is_set)) {
            (Format::Csv, _) => Ok(()),
            (_, Some((option, _))) => refuse(option, "CSV"),
            (Format::Json, _) => Ok(()),
            _ if self.encoding.is_some() => refuse("--encoding", "CSV and JSON"),
            _ if self.date_order.is_some() => refuse("--date-order", "CSV and JSON"),
            _ => Ok(()),
        }
    }
}

/// Whether this stands for standard input.
pub(super) fn is_standard_input(file: &std::path::Path) -> bool {
    file.as_os_str() == "-"
}

pub(crate) fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if matches!(text, "tab" | "\\t") => Ok(b'\t'),
        [b'"' | b'\r' | b'\n'] => Err("quotes and line ends cannot separate fields".to_owned()),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("expected one ASCII character, or tab".to_owned()),
    }
}

fn encoding(label: &str) -> Result<&'static Encoding, String> {
    Encoding::for_label_no_replacement(label.as_bytes())
        .ok_or_else(|| "no such encoding; the names are those of the WHATWG, such as windows-1250".to_owned())
}
