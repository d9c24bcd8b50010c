//! `firearrow oltp compare`

use super::print_json;
use super::work::WorkArgs;
use crate::args::TimeLimit;
use crate::bench::args::{MOST_REPETITIONS, up_to};
use crate::bench::{CommandHost, writable};
use crate::failure::Result;
use crate::output::print;
use crate::terminal;
use crate::wan::{Rate, RoundTrip};
use clap::{Args, ValueHint};
use firearrow_bench::{Error, ReferenceChoice, save};
use firearrow_oltp::{self as oltp, Comparison, Locality};
use firearrow_report::{self as report, Figures, Record};
use firearrow_wan::Link;
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow oltp compare firebird://SYSDBA@localhost//data/oltp.fdb --reference-client /opt/firebird/lib/libfbclient.so.2
  firearrow oltp compare firebird://SYSDBA@localhost//data/oltp.fdb --reference-client /opt/firebird/lib/libfbclient.so.2 \\
      --rtt 12.5ms --link-rate 71Mbit --repeat 5 --save runs --output report.html

On a database that `oltp load` has filled, firearrow, the client library and
Python's firebird-driver do the same operations in turns: statement by
statement, and firearrow also in its mode sql-pipelined; with --procedures by
stored procedures, too. With --rtt everything is measured over an emulated link
as well. Every turn is checked as `oltp run` does it.")]
pub(super) struct CompareArgs {
    /// The database
    #[arg(value_name = "FILE|URL", value_hint = ValueHint::AnyPath)]
    url: String,
    #[command(flatten)]
    work: WorkArgs,
    /// Where terminals work
    #[arg(long, default_value = "home")]
    locality: Locality,
    /// Warm-up time, not measured
    #[arg(long, value_name = "TIME", default_value = "5s")]
    warm_up: TimeLimit,
    /// Measured time
    #[arg(long, value_name = "TIME", default_value = "30s")]
    measure: TimeLimit,
    /// Turns of each contestant
    #[arg(long, value_name = "N", default_value = "5", value_parser = up_to(MOST_REPETITIONS))]
    repeat: NonZeroUsize,
    /// Compare procedures as well
    #[arg(long)]
    procedures: bool,
    /// Also compare over an emulated link with this round trip
    #[arg(long, value_name = "TIME")]
    rtt: Option<RoundTrip>,
    /// Rate of the emulated link
    #[arg(long, value_name = "RATE", default_value = "71Mbit", requires = "rtt")]
    link_rate: Rate,
    /// The client library (libfbclient) to compare with, of the server's version
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    reference_client: Option<PathBuf>,
    /// A Python in which firebird-driver is installed [default: python3]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::ExecutablePath)]
    python: Option<PathBuf>,
    /// Write DIR/DATE-oltp-compare-PLATFORM/raw.jsonl and report.md
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    save: Option<PathBuf>,
    /// Write a page with charts
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &CompareArgs, json: bool) -> Result<()> {
    let config = crate::open::parse(&args.url)?;
    writable(args.save.as_deref())?;
    args.output.as_deref().map_or(Ok(()), save::check_file)?;
    let options = oltp::CompareOptions {
        run: args.work.options(args.locality, args.warm_up.0, args.measure.0),
        repetitions: args.repeat.get(),
        procedures: args.procedures,
        link: args.rtt.map(|rtt| Link::new(rtt.0, args.link_rate.0)),
        reference: ReferenceChoice::Client(args.reference_client.clone()),
        python: args.python.clone().unwrap_or_else(|| "python3".into()),
    };
    let mut kept = Kept { args, folder: None, is_written: false };
    let done = oltp::compare(&CommandHost { quiet: json }, &config, &options, &mut |comparison| {
        refuse(args, comparison)?;
        kept.keep(comparison, false).map(drop).map_err(|failure| Error::other(failure.text(false)))
    });
    let comparison = match done {
        Ok(comparison) => comparison,
        Err(error) => {
            kept.tell();
            return Err(error.into());
        }
    };
    let record = kept.keep(&comparison, true)?;
    kept.tell();
    for missing in &comparison.missing {
        terminal::remark(&format!("not compared: {missing}"));
    }
    if json {
        return print_json(&comparison);
    }
    let text = record
        .iter()
        .flat_map(|record| Figures::of(record).tables.iter().map(report::text).collect::<Vec<_>>());
    print(&text.collect::<String>())
}

/// Who was named must take part.
fn refuse(args: &CompareArgs, comparison: &Comparison) -> Result<(), Error> {
    let is_named = |client| match client {
        "libfbclient" => args.reference_client.is_some(),
        "firebird-driver" => args.python.is_some(),
        _ => false,
    };
    let begins = comparison.turns.is_empty();
    match comparison
        .missing
        .iter()
        .find(|missing| begins && missing.case.is_none() && is_named(missing.client))
    {
        Some(missing) => Err(Error::usage(missing.to_string())),
        None => Ok(()),
    }
}

/// Where the comparison is kept, run by run.
struct Kept<'a> {
    args: &'a CompareArgs,
    folder: Option<PathBuf>,
    is_written: bool,
}

impl Kept<'_> {
    fn keep(&mut self, comparison: &Comparison, is_complete: bool) -> Result<Option<Record>> {
        let Some(record) = oltp::comparison_record(comparison, is_complete)? else { return Ok(None) };
        if let Some(parent) = &self.args.save {
            let text = report::markdown(std::slice::from_ref(&record));
            match &self.folder {
                Some(folder) => save::update(folder, &record, &text)?,
                None => {
                    let environment = &comparison.environment;
                    let name = format!("{}-oltp-compare-{}", environment.day(), environment.platform());
                    self.folder = Some(save::write(parent, &name, &record, &text)?);
                }
            }
        }
        if let Some(path) = &self.args.output {
            let page = report::html(&record.head.title, std::slice::from_ref(&record))?;
            save::file(path, page.as_bytes())?;
            self.is_written = true;
        }
        Ok(Some(record))
    }

    fn tell(&self) {
        if let Some(folder) = &self.folder {
            terminal::remark(&format!("saved in {}", folder.display()));
        }
        if let Some(path) = self.args.output.as_deref().filter(|_| self.is_written) {
            terminal::remark(&format!("written: {}", path.display()));
        }
    }
}
