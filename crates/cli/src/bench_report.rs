//! `firearrow bench report`: reads records, and writes reports of them.

use crate::failure::{Failure, Result};
use crate::output::print;
use crate::terminal;
use clap::{Args, ValueHint};
use firearrow_report::{self as report, Record};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow bench report runs/* -o report.html
  firearrow bench report run/raw.jsonl --markdown report.md --csv samples.csv --png charts
  firearrow bench report run/raw.jsonl --markdown -

A record is what `bench … --save` and `oltp … --save` write: JSON lines with every repetition. The page is one
file, needs no network, and follows the reader's choice of light or dark. Records of different machines or
versions may stand on one page; figures are compared only within one record.")]
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
    let mut records = Vec::new();
    for path in &args.records {
        match read(path) {
            Ok(record) => records.push(record),
            // One that cannot be read must not hide the others, nor be missed.
            Err(error) if args.records.len() > 1 => {
                error.report(false);
            }
            Err(error) => return Err(error),
        }
    }
    if records.is_empty() {
        return Err(Failure::other("none of these is a record"));
    }
    let left_out = args.records.len() - records.len();
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
        fs::create_dir_all(folder).map_err(|error| Failure::file(folder, &error))?;
        for picture in report::pictures(&records)? {
            write(&folder.join(picture.name).with_extension("png"), &picture.png)?;
        }
    }
    match left_out {
        0 => Ok(()),
        count => Err(Failure::other(format!("{count} of {} records are left out", args.records.len()))),
    }
}

fn read(path: &Path) -> Result<Record> {
    let path = if path.is_dir() { path.join("raw.jsonl") } else { path.to_owned() };
    let text = fs::read(&path).map_err(|error| Failure::file(&path, &error))?;
    Ok(Record::parse(&path.display().to_string(), &text)?)
}

fn write(path: &Path, contents: &[u8]) -> Result<()> {
    if path == Path::new("-") {
        return print(&String::from_utf8_lossy(contents));
    }
    fs::write(path, contents).map_err(|error| Failure::file(path, &error))?;
    terminal::remark(&format!("written: {}", path.display()));
    Ok(())
}
