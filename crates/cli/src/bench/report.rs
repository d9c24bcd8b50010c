//! `firearrow bench report`: reads records, and writes reports of them.

use crate::failure::{Failure, Result};
use crate::output::print;
use crate::terminal;
use clap::{Args, ValueHint};
use firearrow_bench::save;
use firearrow_report::{self as report, Record};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow bench report runs/* -o report.html
  firearrow bench report run/raw.jsonl --markdown report.md --csv samples.csv --png charts
  firearrow bench report run/raw.jsonl --markdown -

A record is what `bench … --save` and `oltp … --save` write: JSON lines with
every repetition. The page is one file, needs no network, and follows the
reader's choice of light or dark. Records of different machines or versions may
stand on one page; figures are compared only within one record.")]
pub(crate) struct ReportArgs {
    /// Records (raw.jsonl), or folders that have one
    #[arg(value_name = "RECORD", required = true, value_hint = ValueHint::AnyPath)]
    records: Vec<PathBuf>,
    /// Write a page with charts and tables
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Write tables as Markdown; - prints them
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    markdown: Option<PathBuf>,
    /// Write every repetition as CSV; - prints them
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    csv: Option<PathBuf>,
    /// Write a picture of each chart into a folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    png: Option<PathBuf>,
    /// Title of the page
    #[arg(long, value_name = "TEXT", default_value = "firearrow bench")]
    title: String,
}

pub(crate) fn run(args: &ReportArgs) -> Result<()> {
    let files =
        args.records.iter().map(|path| if path.is_dir() { path.join("raw.jsonl") } else { path.clone() });
    let files: Vec<PathBuf> = files.collect();
    refuse_inputs(args, &files)?;
    check_outputs(args)?;
    let mut records = Vec::new();
    for path in &files {
        match read(path) {
            Ok(record) => records.push(record),
            // One that cannot be read must not hide the others, nor be missed.
            Err(error) if files.len() > 1 => {
                error.report(false, false);
            }
            Err(error) => return Err(error),
        }
    }
    if records.is_empty() {
        return Err(Failure::other("no readable records"));
    }
    let skipped = files.len() - records.len();
    if args.output.is_none() && args.png.is_none() && args.csv.is_none() && args.markdown.is_none() {
        print(&report::markdown(&records))?;
    }
    if let Some(path) = &args.output {
        write(path, report::html(&args.title, &records)?.as_bytes())?;
    }
    if let Some(path) = &args.markdown {
        write(path, report::markdown(&records).as_bytes())?;
    }
    if let Some(path) = &args.csv {
        write(path, report::csv(&records).as_bytes())?;
    }
    if let Some(folder) = &args.png {
        for picture in report::pictures(&records)? {
            let path = folder.join(picture.name).with_extension("png");
            save::own_file(&path, &picture.png)?;
            written(&path);
        }
    }
    match skipped {
        0 => Ok(()),
        count => Err(Failure::other(format!("skipped {count} of {} records", files.len()))),
    }
}

/// Fails if a report cannot be written: better now than after some of them.
fn check_outputs(args: &ReportArgs) -> Result<()> {
    for path in [&args.output, &args.markdown, &args.csv].into_iter().flatten() {
        if path != Path::new("-") {
            save::check_file(path)?;
        }
    }
    Ok(args.png.as_deref().map_or(Ok(()), save::check)?)
}

/// Fails if a report would replace a record, or another report.
fn refuse_inputs(args: &ReportArgs, records: &[PathBuf]) -> Result<()> {
    let same = |one: &Path, other: &Path| match (dunce::canonicalize(one), dunce::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    };
    let mut targets: Vec<&PathBuf> = Vec::new();
    for target in [&args.output, &args.markdown, &args.csv].into_iter().flatten() {
        if records.iter().any(|record| same(record, target)) {
            return Err(Failure::usage(format!(
                "{} is a record: write the report to another file",
                target.display()
            )));
        }
        let is_device = fs::metadata(target).is_ok_and(|found| !found.is_file());
        if *target != Path::new("-") && !is_device && targets.iter().any(|known| same(known, target)) {
            return Err(Failure::usage(format!("{} is named for two reports", target.display())));
        }
        targets.push(target);
    }
    Ok(())
}

/// The longest run of this project has a few megabytes.
const LARGEST_RECORD: u64 = 64 * 1024 * 1024;

fn read(path: &Path) -> Result<Record> {
    let mut text = Vec::new();
    let file = File::open(path).map_err(|error| Failure::file(path, &error))?;
    file.take(LARGEST_RECORD + 1).read_to_end(&mut text).map_err(|error| Failure::file(path, &error))?;
    if text.len() as u64 > LARGEST_RECORD {
        let most = LARGEST_RECORD / 1024 / 1024;
        return Err(Failure::other(format!(
            "{}: larger than {most} MiB, and so not a record of a benchmark: pass raw.jsonl",
            path.display()
        )));
    }
    Ok(Record::parse(&path.display().to_string(), &text)?)
}

fn write(path: &Path, contents: &[u8]) -> Result<()> {
    if path == Path::new("-") {
        return print(&String::from_utf8_lossy(contents));
    }
    save::file(path, contents)?;
    written(path);
    Ok(())
}

fn written(path: &Path) {
    terminal::remark(&format!("written: {}", path.display()));
}
