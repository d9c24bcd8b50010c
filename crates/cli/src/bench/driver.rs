//! `firearrow bench driver`

use crate::bench::args::{MOST_REPETITIONS, up_to};
use crate::bench::{CommandHost, writable};
use crate::failure::{Failure, Result};
use crate::installed;
use crate::output::{print, print_data};
use crate::terminal;
use crate::wan::{Rate, RoundTrip};
use clap::{Args, ValueEnum, ValueHint};
use firearrow_bench::driver::{self, Firebird, Options, Shape, Source};
use firearrow_bench::{ReferenceChoice, save};
use firearrow_report::{self as report, Figures, Record};
use firearrow_wan::Link;
use std::io;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow bench driver demo.fdb --smoke
  firearrow bench driver firebird://SYSDBA@localhost//data/demo.fdb --python .venv/bin/python \\
      --official-odbc /opt/libOdbcFb.so --reference-client /opt/firebird/lib/libfbclient.so.2 --save runs
  firearrow bench driver firebird://SYSDBA@localhost//data/demo.fdb --only wide --contestants adbc,odbc-block,pyodbc
  firearrow bench driver firebird://SYSDBA@localhost//data/demo.fdb --link --rtt 40ms --rate 20Mbit --smoke
  firearrow bench driver demo.fdb --sql 'SELECT ID, DEC_28_8 FROM T_WIDE'
  firearrow bench driver --odbc 'DSN=Shop' --adbc-driver postgresql --adbc-option uri=postgresql:///shop \\
      --sql 'SELECT * FROM orders'

Reads the same rows through many drivers, each in a process of its own, in
turns: firearrow's ADBC and ODBC drivers, its crate and its Python package; the
client library; the official ODBC driver; pyodbc, turbodbc, arrow-odbc,
firebird-driver, fbfast and firebirdsql (Python); and what
scripts/driver-peers.sh builds for Mono, Go, Java and Rust. Missing or crashed
contestants are listed. Rows and the hash of every cell are checked in each
repetition; if they are wrong, there is no result. The exit status is 1 if a
firearrow contestant fails; with --odbc or --adbc-driver, if one built into this
command fails.")]
pub(crate) struct DriverArgs {
    /// A database. Without --sql, it and its demo tables are created if they do not exist, and stay
    #[arg(value_hint = ValueHint::Url, required_unless_present_any = ["odbc", "adbc_driver"])]
    url: Option<String>,
    /// Shapes to read [default: all]
    #[arg(long, value_name = "SHAPES", value_delimiter = ',', conflicts_with = "sql")]
    only: Vec<Only>,
    /// Read this query instead
    #[arg(long, value_name = "QUERY")]
    sql: Option<String>,
    /// Contestants [default: all], such as adbc,odbc-block,pyodbc; an unknown name prints the list
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    contestants: Vec<String>,
    /// Rows of demo tables to create, and to read
    #[arg(long, value_name = "N", default_value = "1000000", conflicts_with = "sql")]
    rows: NonZeroU64,
    /// Measured repetitions, after one that is discarded
    #[arg(long, value_name = "N", default_value = "10", value_parser = up_to(MOST_REPETITIONS))]
    iterations: NonZeroUsize,
    /// A quick look: 10,000 rows, two repetitions
    #[arg(long, conflicts_with_all = ["rows", "iterations"])]
    smoke: bool,
    /// Use wire compression with drivers that support it
    #[arg(long, conflicts_with_all = ["odbc", "adbc_driver"])]
    compress: bool,
    /// Connect through an emulated link
    #[arg(long, conflicts_with_all = ["odbc", "adbc_driver"])]
    link: bool,
    /// Round trip of the emulated link
    #[arg(long, value_name = "TIME", default_value = "40ms", requires = "link")]
    rtt: RoundTrip,
    /// Rate of the emulated link
    #[arg(long, value_name = "RATE", default_value = "50Mbit", requires = "link")]
    rate: Rate,
    /// Rows of a block, where an application binds columns
    #[arg(long, value_name = "N", default_value_t = BLOCK)]
    block: NonZeroUsize,
    /// Size limit of ODBC buffers per value
    #[arg(long, value_name = "BYTES", default_value_t = LONGEST)]
    longest: NonZeroUsize,
    /// Time limit for one repetition
    #[arg(long, value_name = "SECONDS", default_value_t = LIMIT)]
    limit: NonZeroU64,
    /// Any ODBC data source, with --sql: a connection string for unixODBC
    #[arg(long, value_name = "TEXT", conflicts_with = "url", requires = "sql")]
    odbc: Option<String>,
    /// Any ADBC driver, with --sql: its name or its path
    #[arg(long, value_name = "NAME|PATH", conflicts_with = "url", requires = "sql")]
    adbc_driver: Option<String>,
    /// An option of the ADBC driver's database; entrypoint=NAME if its function has a name of its own
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value, requires = "adbc_driver")]
    adbc_option: Vec<(String, String)>,
    /// firearrow's ODBC driver [default: beside this command]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    odbc_library: Option<PathBuf>,
    /// firearrow's ADBC driver [default: beside this command]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    adbc_library: Option<PathBuf>,
    /// Firebird's official ODBC driver
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    official_odbc: Option<PathBuf>,
    /// A Python in which rivals are installed
    #[arg(long, value_name = "PATH", value_hint = ValueHint::ExecutablePath, default_value = "python3")]
    python: PathBuf,
    /// The folder that scripts/driver-peers.sh has filled [default: driver-peers beside this command]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    peers: Option<PathBuf>,
    /// The client library (libfbclient): a reference, and what rivals load
    #[arg(long, alias = "client", value_name = "PATH", value_hint = ValueHint::FilePath)]
    reference_client: Option<PathBuf>,
    /// Write DIR/DATE-driver-PLATFORM/raw.jsonl and report.md
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    save: Option<PathBuf>,
    /// Write a page with charts
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Only {
    /// 22 columns
    Wide,
    /// Ten INTEGER
    Integers,
    /// An integer and nine decimals
    Decimals,
    /// Text BLOBs
    Blobs,
    /// The control: a table without rows
    Empty,
}

impl From<Only> for Shape {
    fn from(only: Only) -> Self {
        match only {
            Only::Wide => Self::Wide,
            Only::Integers => Self::Integers,
            Only::Decimals => Self::Decimals,
            Only::Blobs => Self::Blobs,
            Only::Empty => Self::Empty,
        }
    }
}

const SMOKE_ROWS: NonZeroU64 = NonZeroU64::new(10_000).expect("above 0");
const SMOKE_ITERATIONS: NonZeroUsize = NonZeroUsize::new(2).expect("above 0");
const BLOCK: NonZeroUsize = NonZeroUsize::new(1024).expect("above 0");
const LONGEST: NonZeroUsize = NonZeroUsize::new(32_768).expect("above 0");
const LIMIT: NonZeroU64 = NonZeroU64::new(600).expect("above 0");

pub(crate) fn run(args: &DriverArgs, json: bool) -> Result<()> {
    let host = CommandHost { quiet: json };
    writable(args.save.as_deref())?;
    args.output.as_deref().map_or(Ok(()), save::check_file)?;
    let mut bench = driver::Bench::prepare(&host, options(args)?)?;
    let name = bench.name().to_owned();
    let mut shown = 0;
    let (mut folder, mut kept) = (None, Ok(()));
    let done = bench.run(&mut |record| {
        if !json {
            let tables = Figures::of(record).tables;
            // A closed pipe ends the command elsewhere.
            tables[shown.min(tables.len())..].iter().for_each(|table| drop(print(&report::text(table))));
            shown = tables.len();
        }
        // What has been measured is kept, whatever ends the run.
        kept = keep(args, &name, &mut folder, record);
    });
    if let Some(folder) = &folder {
        terminal::remark(&format!("saved in {}", folder.display()));
    }
    let record = done?;
    kept?;
    for missing in record.end.iter().flat_map(|end| &end.missing) {
        terminal::remark(&format!("not measured: {missing}"));
    }
    if json { print_data(&record.text()) } else { Ok(()) }
}

/// Serves such a run as one of its contestants.
pub(crate) fn serve() -> Result<()> {
    let host = CommandHost { quiet: true };
    Ok(driver::serve(&host, &mut io::stdin().lock(), &mut io::stdout().lock())?)
}

fn options(args: &DriverArgs) -> Result<Options> {
    let source = match &args.url {
        Some(url) => Source::Firebird(Box::new(Firebird {
            config: crate::open::parse(url)?,
            compress: args.compress,
            link: args.link.then(|| Link::new(args.rtt.0, args.rate.0)),
            shapes: match (&args.sql, args.only.is_empty()) {
                (Some(_), _) => Vec::new(),
                (None, true) => Shape::ALL.to_vec(),
                (None, false) => args.only.iter().copied().map(Into::into).collect(),
            },
            sql: args.sql.clone(),
        })),
        None => Source::Other {
            odbc: args.odbc.clone(),
            adbc: args.adbc_driver.clone().map(|name| (name, args.adbc_option.iter().cloned().collect())),
            sql: args.sql.clone().unwrap_or_default(),
        },
    };
    let smoke = smoke_options(source)?;
    Ok(Options {
        rows: if args.smoke { SMOKE_ROWS } else { args.rows },
        iterations: if args.smoke { SMOKE_ITERATIONS } else { args.iterations },
        block: args.block,
        longest: args.longest,
        limit: Duration::from_secs(args.limit.get()),
        contestants: args.contestants.clone(),
        odbc_library: args.odbc_library.clone().or(smoke.odbc_library),
        adbc_library: args.adbc_library.clone().or(smoke.adbc_library),
        official: args.official_odbc.clone(),
        python: Some(args.python.clone()),
        peers: args.peers.clone().or(smoke.peers),
        reference: ReferenceChoice::Client(args.reference_client.clone()),
        ..smoke
    })
}

/// As much as with --smoke, with the libraries and programs beside this command.
pub(crate) fn smoke_options(source: Source) -> Result<Options> {
    let this = std::env::current_exe().map_err(|error| Failure::other(error.to_string()))?;
    Ok(Options {
        source,
        rows: SMOKE_ROWS,
        iterations: SMOKE_ITERATIONS,
        block: BLOCK,
        longest: LONGEST,
        limit: Duration::from_secs(LIMIT.get()),
        contestants: Vec::new(),
        this: (this, vec!["bench".into(), "driver-contestant".into()]),
        odbc_library: installed::library(installed::ODBC).ok(),
        adbc_library: installed::library(installed::ADBC).ok(),
        official: None,
        python: None,
        peers: installed::find("driver-peers"),
        reference: ReferenceChoice::Client(None),
    })
}

fn key_and_value(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
    pair.map(|(key, value)| (key.to_owned(), value.to_owned())).ok_or_else(|| "give KEY=VALUE".to_owned())
}

/// Writes the record to its folder, which is made when there is something to keep, and then the page.
fn keep(args: &DriverArgs, name: &str, folder: &mut Option<PathBuf>, record: &Record) -> Result<()> {
    if let Some(parent) = &args.save {
        let text = report::markdown(std::slice::from_ref(record));
        match folder.as_deref() {
            Some(folder) => save::update(folder, record, &text)?,
            None => *folder = Some(save::write(parent, name, record, &text)?),
        }
    }
    if let Some(path) = &args.output {
        let page = report::html(&record.head.title, std::slice::from_ref(record))?;
        save::file(path, page.as_bytes())?;
    }
    Ok(())
}
