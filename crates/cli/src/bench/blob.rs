//! `firearrow bench blob`

use crate::bench::args::{MOST_REPETITIONS, up_to};
use crate::bench::{CommandHost, announce, writable};
use crate::failure::Result;
use crate::output::{print, print_data};
use crate::terminal;
use crate::wan::{Rate, RoundTrip};
use clap::{Args, ValueEnum, ValueHint};
use firearrow_bench::{ReferenceChoice, blob, save};
use firearrow_report::{self as report, Figures, Record};
use firearrow_wan::Link;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow bench blob firebird://SYSDBA@localhost//data/blobs.fdb --only Q1,Q3
  firearrow bench blob firebird://SYSDBA@localhost//data/blobs.fdb --output report.html --save runs \\
      --reference-client /opt/firebird/lib/libfbclient.so.2

Repeats the measurements of Firebird's article on BLOBs over the wire: its
tables (126 MB, created if they are missing), its six queries, its link (12.5
ms, 71 Mbit/s), its statistics under its names, and its figures beside ours.
Rows and contents of every repetition are checked; if they are wrong, there is
no result and the exit status is 1.")]
pub(crate) struct BlobArgs {
    /// A database on a server; created if it does not exist
    #[arg(value_hint = ValueHint::Url)]
    url: String,
    /// Queries [default: all]: Q1 short BLOBs, Q2 VARCHAR, Q3 all BLOBs, Q4 and Q5 mixed, Q6 BLOBs that nobody reads
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Rows of each query, up to 5,884
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::new(blob::ARTICLE_ROWS).expect("above 0"))]
    rows: NonZeroUsize,
    /// Measured repetitions
    #[arg(long, value_name = "N", default_value = "5", value_parser = up_to(MOST_REPETITIONS))]
    repeat: NonZeroUsize,
    /// Repetitions of what takes a round trip for each BLOB
    #[arg(long, value_name = "N", default_value = "1", value_parser = up_to(MOST_REPETITIONS))]
    slow_repeat: NonZeroUsize,
    /// Round trip of the emulated link
    #[arg(long, value_name = "TIME", default_value = "12.5ms")]
    rtt: RoundTrip,
    /// Rate of the emulated link
    #[arg(long, value_name = "RATE", default_value = "71Mbit")]
    rate: Rate,
    /// Lengths up to which BLOBs come with their rows (Firebird 5.0.3 and later)
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_value = "65535")]
    inline: Vec<u32>,
    /// With and without compression
    #[arg(long, value_delimiter = ',', default_value = "off,on")]
    compression: Vec<Compression>,
    /// Also measure texts that cannot be compressed; another 126 MB
    #[arg(long)]
    random: bool,
    /// The client library (libfbclient) to compare with, of the server's version
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    reference_client: Option<PathBuf>,
    /// Do not compare with the client library
    #[arg(long, conflicts_with = "reference_client")]
    no_reference: bool,
    /// Write DIR/DATE-blob-PLATFORM/raw.jsonl and report.md
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    save: Option<PathBuf>,
    /// Write a page with charts
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Compression {
    Off,
    On,
}

pub(crate) fn run(args: &BlobArgs, json: bool) -> Result<()> {
    let config = crate::open::parse(&args.url)?;
    let options = blob::Options {
        rows: args.rows.get(),
        repetitions: args.repeat.get(),
        slow_repetitions: args.slow_repeat.get(),
        queries: args.only.clone(),
        contents: [Some(blob::Contents::Text), args.random.then_some(blob::Contents::Random)]
            .into_iter()
            .flatten()
            .collect(),
        compressions: args.compression.iter().map(|compression| *compression == Compression::On).collect(),
        inline: args.inline.clone(),
        link: Link::new(args.rtt.0, args.rate.0),
        reference: match args.no_reference {
            true => ReferenceChoice::Nothing("--no-reference".to_owned()),
            false => ReferenceChoice::Client(args.reference_client.clone()),
        },
    };
    let host = CommandHost { quiet: json };
    writable(args.save.as_deref())?;
    // Devices and pipes are no files in a folder.
    if let Some(path) = args.output.as_deref().filter(|path| !path.exists() || path.is_file()) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        writable(Some(folder.unwrap_or(Path::new("."))))?;
    }
    let bench = blob::Bench::prepare(&host, &config, options)?;
    announce(&bench.heading(), json, args.save.as_deref().or(args.output.as_deref()))?;
    let mut shown = 0;
    let mut last = None;
    let done = bench.run(&mut |record| {
        if !json {
            let tables = Figures::of(record).tables;
            // Whoever closes the pipe does not end what is to be kept.
            tables[shown.min(tables.len())..].iter().for_each(|table| drop(print(&report::text(table))));
            shown = tables.len();
        }
        last = Some(record.clone());
    });
    // What has been measured is kept, whatever ended the run.
    if let Some(record) = last.filter(|record| !record.samples.is_empty()) {
        keep(args, &bench, &record)?;
    }
    let record = done?;
    for missing in record.end.iter().flat_map(|end| &end.missing) {
        terminal::remark(&format!("not measured: {missing}"));
    }
    if json { print_data(&record.text()) } else { Ok(()) }
}

fn keep(args: &BlobArgs, bench: &blob::Bench<'_>, record: &Record) -> Result<()> {
    if let Some(path) = &args.output {
        let page = report::html(&record.head.title, std::slice::from_ref(record))?;
        save::file(path, page.as_bytes())?;
    }
    if let Some(folder) = &args.save {
        let environment = bench.environment();
        let name = format!("{}-blob-{}", environment.day(), environment.platform());
        let text = report::markdown(std::slice::from_ref(record));
        terminal::remark(&format!("saved in {}", save::write(folder, &name, record, &text)?.display()));
    }
    Ok(())
}
