//! The command line of `firearrow bench`.

use crate::bench::all::AllArgs;
use crate::bench::blob::BlobArgs;
use crate::bench::driver::DriverArgs;
use crate::bench::report::ReportArgs;
use crate::wan::{Rate, RoundTrip};
use clap::builder::{RangedU64ValueParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

/// The most repetitions that are worth a thought: turns are counted, and their figures kept.
pub(crate) const MOST_REPETITIONS: u64 = 1_000_000;

/// Reads a number from 1 to `most`.
pub(crate) fn up_to(most: u64) -> impl TypedValueParser<Value = NonZeroUsize> {
    let number = RangedU64ValueParser::<u64>::new().range(1..=most);
    number.try_map(|number| usize::try_from(number).and_then(NonZeroUsize::try_from))
}

#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) command: BenchCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Run the fetch, insert, wire, odbc, adbc, blob, driver and oltp suites, and write one report
    All(AllArgs),
    /// Measure reading whole tables, phase by phase
    Fetch(FetchArgs),
    /// Measure inserting many rows
    Insert(InsertArgs),
    /// Measure a server near and far: reading, BLOBs, inserting, small statements
    Wire(WireArgs),
    /// Measure the ADBC driver: reading, partitions, ingesting
    Adbc(AdbcBenchArgs),
    /// Measure the ODBC driver: reading, describing columns, inserting
    Odbc(OdbcBenchArgs),
    /// Measure BLOBs over a slow network: strategies, statistics of the wire, the client library
    Blob(BlobArgs),
    /// Measure many drivers beside each other, each cell hashed: ADBC, ODBC, Python and other languages
    Driver(Box<DriverArgs>),
    /// Take part in `bench driver`
    #[command(hide = true)]
    DriverContestant,
    /// Make a page with charts, tables or CSV of recorded runs
    Report(ReportArgs),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow bench adbc demo.fdb --library target/release/libadbc_driver_firebird.so
  firearrow bench adbc firebird://SYSDBA@localhost//data/demo.fdb --library /usr/lib/libadbc_driver_firebird.so \\
      --python .venv/bin/python --reference-client /opt/firebird/lib/libfbclient.so.2 --save runs

Reads T_WIDE through the driver, in C and in Python, in turns with the crate on
which the driver is built; reads it in partitions, in turns with one stream;
ingests rows of ten INTEGER, in turns with a loop over the client library.
Missing demo tables are created first. Rows, checksums and sums are verified; if
they are wrong, no result is printed and the exit status is 1.")]
pub(crate) struct AdbcBenchArgs {
    /// A database; created if it does not exist
    #[arg(value_hint = ValueHint::Url)]
    pub(crate) url: String,
    /// The driver: libadbc_driver_firebird.so
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) library: PathBuf,
    /// A Python with adbc_driver_manager and pyarrow
    #[arg(long, value_name = "PATH", value_hint = ValueHint::ExecutablePath)]
    pub(crate) python: Option<PathBuf>,
    /// Rows of demo tables to create
    #[arg(long, value_name = "N", default_value = "1000000")]
    pub(crate) rows: NonZeroU64,
    /// Rows to ingest
    #[arg(long, value_name = "N", default_value = "1000000")]
    pub(crate) ingest_rows: NonZeroU64,
    /// Partitions, each read by its own thread
    #[arg(long, value_name = "N", default_value = "2")]
    pub(crate) partitions: NonZeroUsize,
    /// Measured repetitions
    #[arg(long, default_value = "5", value_name = "N", value_parser = up_to(MOST_REPETITIONS))]
    pub(crate) repeat: NonZeroUsize,
    /// The client library (libfbclient) to compare ingestion with, of the server's version
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) reference_client: Option<PathBuf>,
    /// Write DIR/DATE-adbc-PLATFORM/raw.jsonl and report.md
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) save: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow bench odbc demo.fdb
  firearrow bench odbc demo.fdb --only fetch --other libOdbcFb.so --other-keywords 'Dbname=/data/demo.fdb;UID=SYSDBA'
  firearrow bench odbc firebird://SYSDBA@localhost//data/demo.fdb --driver /usr/lib/libfirearrowodbc.so \\
      --reference-client /opt/firebird/lib/libfbclient.so.2 --save runs

Parts:
  fetch     T_INT10, T_WIDE and short texts: columns bound row by row and in
            arrays of 1,000 rows, SQLGetData for every value; and an empty table
  cells     fetching rows that the driver has at hand
  describe  SQLDescribeColW after preparing
  insert    rows of ten INTEGER: by arrays of 1,000 parameters, and one by one
  other     the parts above, in turns with the other driver

The driver's functions are called directly and through unixODBC, in turns with a
loop over the client library. Missing demo tables are created first. Rows,
checksums and sums are verified, for both drivers and in every way; if they are
wrong, no result is printed and the exit status is 1.")]
pub(crate) struct OdbcBenchArgs {
    /// A database; created if it does not exist
    #[arg(value_hint = ValueHint::Url)]
    pub(crate) url: String,
    /// Parts to measure [default: all]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PARTS")]
    pub(crate) only: Vec<OdbcPart>,
    /// The driver [default: libfirearrowodbc.so beside this command]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) driver: Option<PathBuf>,
    /// Another driver to compare with
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, requires = "other_keywords")]
    pub(crate) other: Option<PathBuf>,
    /// The other driver's connection string, without DRIVER
    #[arg(long, value_name = "TEXT", requires = "other")]
    pub(crate) other_keywords: Option<String>,
    /// Rows of demo tables to create
    #[arg(long, value_name = "N", default_value = "100000")]
    pub(crate) rows: NonZeroU64,
    /// Rows to insert by arrays; one by one a tenth, with autocommit a hundredth
    #[arg(long, value_name = "N", default_value = "100000")]
    pub(crate) insert_rows: NonZeroU64,
    /// Measured repetitions
    #[arg(long, default_value = "9", value_name = "N", value_parser = up_to(MOST_REPETITIONS))]
    pub(crate) repeat: NonZeroUsize,
    /// The client library (libfbclient) to compare with, of the server's version
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, conflicts_with = "no_reference")]
    pub(crate) reference_client: Option<PathBuf>,
    /// Do not compare with the client library
    #[arg(long)]
    pub(crate) no_reference: bool,
    /// Write DIR/DATE-odbc-PLATFORM/raw.jsonl and report.md
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) save: Option<PathBuf>,
}

/// A part of `bench odbc`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OdbcPart {
    Fetch,
    Cells,
    Describe,
    Insert,
    Other,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow bench wire firebird://SYSDBA@localhost//data/demo.fdb \\
      --reference-client /opt/firebird/lib/libfbclient.so.2 --save runs
  firearrow bench wire firebird://SYSDBA@localhost//data/demo.fdb --rtt 80ms --rate 20Mbit --only link,blobs
  firearrow bench wire firebird://SYSDBA@localhost//data/demo.fdb --quick

Parts:
  fetch       T_WIDE and T_INT10 over the direct connection, encrypted and plain
  link        the first rows of T_WIDE over the link: plain, encrypted, zlib
  blobs       T_BLOB over the link: asked for, sent with their rows, never read
  insert      rows of ten INTEGER, without and with the link
  statements  connecting, new SQL and known statements, with and without link
  small       prepared statements of one row, again and again, over the direct
              connection

A proxy in this process emulates the link. Missing demo tables that the parts
read are created first. Plain means neither encrypted nor compressed. Rows,
checksums and sums are verified; if they are wrong, no result is printed and the
exit status is 1. Firearrow and the reference take turns. The reference reads
BLOBs one by one, which takes half a minute over the link: it does so once. The
processor time of a server on this machine is that of the process listening on
its port. Without --quick it takes about ten minutes.")]
pub(crate) struct WireArgs {
    /// A database on a server; created if it does not exist
    #[arg(value_hint = ValueHint::Url)]
    pub(crate) url: String,
    /// Parts to measure [default: all]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PARTS")]
    pub(crate) only: Vec<WirePart>,
    /// Round trip of the link: a number with us, ms or s
    #[arg(long, value_name = "TIME", default_value = "12.5ms")]
    pub(crate) rtt: RoundTrip,
    /// Bits per second in each direction: a number, optionally with kbit, Mbit or Gbit; or unlimited
    #[arg(long, value_name = "RATE", default_value = "71Mbit")]
    pub(crate) rate: Rate,
    /// Rows of demo tables to create [default: 1000000; quick 2000]
    #[arg(long, value_name = "N")]
    pub(crate) rows: Option<NonZeroU64>,
    /// Rows of T_WIDE to read over the link [default: 100000; quick 500]
    #[arg(long, value_name = "N")]
    pub(crate) link_rows: Option<NonZeroU64>,
    /// Rows to insert [default: 100000; quick 1000]
    #[arg(long, value_name = "N")]
    pub(crate) insert_rows: Option<NonZeroU64>,
    /// Executions of small statements [default: 20000; quick 100]
    #[arg(long, value_name = "N")]
    pub(crate) executions: Option<NonZeroU64>,
    /// Measured repetitions [default: 5; quick 1]
    #[arg(long, value_name = "N", value_parser = up_to(MOST_REPETITIONS))]
    pub(crate) repeat: Option<NonZeroUsize>,
    /// Measured repetitions of the reference that reads BLOBs one by one
    #[arg(long, default_value = "1", value_name = "N", value_parser = up_to(MOST_REPETITIONS))]
    pub(crate) blob_reference_repeat: NonZeroUsize,
    /// Measure few rows, once: a quick check
    #[arg(long)]
    pub(crate) quick: bool,
    /// The client library (libfbclient) to compare with, of the server's version
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) reference_client: Option<PathBuf>,
    /// Do not compare with the client library
    #[arg(long, conflicts_with = "reference_client")]
    pub(crate) no_reference: bool,
    /// Write DIR/DATE-wire-firebird-VERSION/raw.jsonl and report.md
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) save: Option<PathBuf>,
}

/// A part of `bench wire`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WirePart {
    Fetch,
    Link,
    Blobs,
    Insert,
    Statements,
    Small,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow bench insert firebird://SYSDBA@db//data/demo.fdb --rows 100000 \\
      --reference-client /opt/firebird/lib/libfbclient.so.2

Inserts rows of ten INTEGER into the table FIREARROW_BENCH, which it creates and
drops. After each run rows and sums are read back; if they are wrong, no result
is printed. The reference uses the batch interface of the client library, or
single executions for servers before Firebird 4. If interrupted, the table
stays; the next run replaces it. A table of that name with other columns is left
alone, and nothing is measured.")]
pub(crate) struct InsertArgs {
    /// A database in which a table may be created
    #[arg(value_hint = ValueHint::Url)]
    pub(crate) url: String,
    /// Rows per repetition
    #[arg(long, default_value = "100000", value_name = "N")]
    pub(crate) rows: NonZeroU64,
    /// Measured repetitions
    #[arg(long, default_value = "5", value_name = "N", value_parser = up_to(MOST_REPETITIONS))]
    pub(crate) repeat: NonZeroUsize,
    /// The client library (libfbclient) to compare with, of the server's version
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) reference_client: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow bench fetch demo.fdb
  firearrow bench fetch firebird://SYSDBA@db//data/demo.fdb --tables T_WIDE --repeat 10 \\
      --reference-client /opt/firebird/lib/libfbclient.so.2 --save runs
  firearrow bench fetch demo.fdb --sql 'SELECT ID, DEC_28_8 FROM T_WIDE' --consume

Rows and checksums are verified before anything is timed; if they differ, no
result is printed and the exit status is 1. The reference is a loop over
fetchNext of the client library that converts nothing: the engine's floor.
Firearrow and the reference take turns; the ratio is the median of the turns'
ratios. Verifying also warms up.")]
pub(crate) struct FetchArgs {
    /// A database with the tables of create-demo
    #[arg(value_hint = ValueHint::Url)]
    pub(crate) url: String,
    /// Tables to read
    #[arg(long, value_delimiter = ',', value_name = "NAMES", default_value = "T_WIDE,T_INT10,T_VC5,T_BLOB")]
    pub(crate) tables: Vec<String>,
    /// A query to measure instead of tables; only its number of rows can be checked
    #[arg(long, conflicts_with = "tables")]
    pub(crate) sql: Option<String>,
    /// Measured repetitions
    #[arg(long, default_value = "5", value_name = "N", value_parser = up_to(MOST_REPETITIONS))]
    pub(crate) repeat: NonZeroUsize,
    /// Maximum rows per batch
    #[arg(long, value_name = "N")]
    pub(crate) batch_rows: Option<NonZeroUsize>,
    /// Also sum the bytes of all values while draining
    #[arg(long)]
    pub(crate) consume: bool,
    /// The client library (libfbclient) to compare with, of the server's version
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) reference_client: Option<PathBuf>,
    /// Do not compare with the client library
    #[arg(long, conflicts_with = "reference_client")]
    pub(crate) no_reference: bool,
    /// Write DIR/DATE-MACHINE/raw.jsonl and report.md
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) save: Option<PathBuf>,
}
