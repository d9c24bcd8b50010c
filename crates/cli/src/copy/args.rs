//! The arguments of `firearrow copy`.

use crate::args::{Compression, Parameters, TextArgs};
use crate::failure::{Failure, Result};
use crate::output::{Format, Style};
use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueHint};
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow copy firebird://alice@db/employee SALES sales.parquet
  firearrow copy demo.fdb 'SELECT ID, DEC_18_4 FROM T_WIDE WHERE ID <= 1000' part.csv
  firearrow copy demo.fdb 'SELECT * FROM T_WIDE WHERE ID > :id' new.csv --param id=900
  firearrow copy demo.fdb '\"Mixed case table\"' mixed.arrow --force
  firearrow copy demo.fdb T_WIDE wide.parquet --compression snappy --batch-rows 10000
  firearrow copy firebird://alice@db/employee SALES sales.parquet --partitions 4
  firearrow copy demo.fdb T_WIDE wide.parquet --partitions 4 --separate
  firearrow copy demo.fdb T_WIDE - --format csv | head
  firearrow copy firebird://alice@db/employee SALES sales/ --partition-by COUNTRY
  firearrow copy firebird://alice@db/employee SALES sales/ --partition-by COUNTRY --resume

A name alone is a table, anything else is a query. The file gets its name when
it is complete; until then it has a hidden name.

A large table is read by one reader per processor, or by --readers, and its rows
keep their order. With --partitions, the order of rows is undefined. All read
one snapshot. Each reader or partition has a connection of its own, beside the
one that leads them. One reader is used, and the summary says so, for
  - queries that are sorted, aggregated or limited
  - queries of several tables or with sub-queries
  - rows that an index finds
  - small tables, views and procedures
  - servers whose round trip exceeds 3 ms, unless --readers gives a number
  - Firebird before 4.0.

A folder (its name ends with a slash, or it exists and is empty) gets Parquet
files of bounded size: part-00000.parquet and so on, below COUNTRY=DE and the
like with --partition-by. Each gets its name when it is whole. _firearrow.json
lists them, and _SUCCESS says that all are there. After a failure or a kill,
--resume keeps the whole files and writes the others. The folder is then exactly
what a new copy would be: if rows of a whole file have changed since, it is
refused, even if the copy is complete. That needs Firebird 4 and a table, or a
query for which the list above allows several readers.

Extensions: .parquet, .pq, .arrow, .feather, .ipc, .arrows (a stream), .csv,
.json, .jsonl and .ndjson. A .txt file needs --format table.")]
pub(crate) struct CopyArgs {
    /// The database
    #[arg(value_hint = ValueHint::Url)]
    pub(crate) url: String,
    /// A table (quoted as in SQL if its name needs it), or a query
    #[arg(value_name = "SQL|TABLE")]
    pub(crate) source: String,
    /// The file, whose extension names the format, or a folder for Parquet files. - is standard output, which needs
    /// --format
    #[arg(value_name = "FILE|FOLDER/", value_hint = ValueHint::AnyPath)]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) parameters: Parameters,
    /// The format, if the extension does not name it
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    #[command(flatten)]
    pub(crate) text: TextArgs,
    /// Replace the file if it exists; of a folder, remove the files of an earlier copy first
    #[arg(long)]
    pub(crate) force: bool,
    /// Maximum rows per batch, the unit of reading, memory and writing
    #[arg(long, value_name = "N")]
    pub(crate) batch_rows: Option<NonZeroUsize>,
    /// Compression of Parquet files [default: zstd]
    #[arg(long, value_enum)]
    pub(crate) compression: Option<Compression>,
    /// Read with N readers (64 at most), keeping the order of rows; 0 (the default) means one per processor, or a single
    /// one if the server is distant; 1 uses one connection
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(0..=64))]
    pub(crate) readers: Option<usize>,
    /// Read N partitions at once (64 at most), in any order; 0 means one per processor
    #[arg(long, value_name = "N", conflicts_with = "readers", value_parser = RangedU64ValueParser::<usize>::new().range(0..=64))]
    pub(crate) partitions: Option<usize>,
    /// Write each partition to its own file: wide-1.parquet, wide-2.parquet …
    #[arg(long, requires = "partitions")]
    pub(crate) separate: bool,
    /// Let partitions see different states of the data on servers before Firebird 4, which have no snapshots to share.
    /// Without it, such a server is read in one partition
    #[arg(long, requires = "partitions")]
    pub(crate) without_snapshot: bool,
    /// Folder: write the rows of each value of these columns to a folder of its own, COLUMN=VALUE
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) partition_by: Vec<String>,
    /// Folder: begin another file after about SIZE of data, as the database has it; files are smaller [default: 128MiB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) file_size: Option<u64>,
    /// Folder: continue a copy that was interrupted, or begin one
    #[arg(long, conflicts_with = "force")]
    pub(crate) resume: bool,
    /// Show no progress and no summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl CopyArgs {
    pub(super) fn is_standard_output(&self) -> bool {
        self.output.as_os_str() == "-"
    }

    /// Whether a folder is written.
    ///
    /// # Errors
    /// Options of files and folders, or of folders and standard output, are mixed.
    pub(super) fn is_folder(&self) -> Result<bool> {
        let options = [
            ("--partition-by", !self.partition_by.is_empty()),
            ("--file-size", self.file_size.is_some()),
            ("--resume", self.resume),
        ];
        let option = options.into_iter().find(|(_, is_given)| *is_given);
        if self.is_standard_output() {
            return match option {
                Some((option, _)) => Err(Failure::usage(format!("{option} is for a folder; name one"))),
                None => Ok(false),
            };
        }
        let is_named = self.output.to_string_lossy().ends_with(std::path::is_separator);
        if !is_named
            && let Some((option, _)) = option
            && Format::of_path(&self.output).is_some()
            && !self.output.exists()
        {
            let text = format!(
                "{option} is for a folder, and {} is the name of a file; end it with a slash",
                self.output.display()
            );
            return Err(Failure::usage(text));
        }
        if !is_named && option.is_none() && !self.output.is_dir() {
            return Ok(false);
        }
        if self.partitions.is_some() {
            let text = "--partitions is for a file; a folder is divided into files by itself, see --readers";
            return Err(Failure::usage(text));
        }
        if self.format.is_some_and(|format| format != Format::Parquet) {
            return Err(Failure::usage("a folder gets Parquet files; for another format name a file"));
        }
        Style::default().with(&self.text, Format::Parquet)?;
        Ok(true)
    }
}

/// Smaller sizes are mistakes: a number without a unit counts bytes.
const LEAST_FILE: u64 = 4 << 10;

fn size(text: &str) -> Result<u64, String> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => 0,
    };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    bytes
        .filter(|bytes| *bytes >= LEAST_FILE)
        .ok_or_else(|| "a size of at least 4KiB is needed, such as 64MiB or 1GB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [("4096", 4096), ("64MiB", 64 << 20), ("2 gb", 2_000_000_000), ("10KB", 10_000)]
        {
            assert_eq!(size(text), Ok(bytes));
        }
        for text in ["", "0", "16", "MiB", "1.5GB", "-1", "7 miles", "99999999999GiB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
