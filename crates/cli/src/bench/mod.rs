//! `firearrow bench`: passes options to the crate `firearrow-bench`, and prints its figures.

pub(crate) mod all;
pub(crate) mod args;
pub(crate) mod blob;
pub(crate) mod driver;
pub(crate) mod report;

use self::args::{AdbcBenchArgs, FetchArgs, InsertArgs, OdbcBenchArgs, OdbcPart, WireArgs, WirePart};
use crate::failure::{Failure, Result};
use crate::installed;
use crate::interrupt;
use crate::open;
use crate::output::{print, print_data};
use crate::progress;
use crate::terminal;
use firearrow::Connection;
use firearrow::config::Config;
use firearrow_bench::{
    Ending, Error, Goal, Host, Progress, ReferenceChoice, Table, adbc, fetch, insert, odbc, save, wire,
};
use firearrow_wan::Link;
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// Benchmarks reading whole tables.
pub(crate) fn fetch(args: &FetchArgs, json: bool) -> Result<()> {
    let config = crate::open::parse(&args.url)?;
    let subjects: Vec<fetch::Subject> = match &args.sql {
        Some(sql) => vec![fetch::Subject::query(sql)],
        None => distinct(args.tables.iter().map(|table| fetch::Subject::table(table))),
    };
    let options = fetch::Options {
        repetitions: args.repeat,
        batch_rows: args.batch_rows,
        consume: args.consume,
        reference: choice(args.no_reference, args.reference_client.as_deref()),
    };
    let host = CommandHost { quiet: json };
    let folder = args.save.as_deref();
    writable(folder)?;
    let bench = fetch::Bench::prepare(&host, &config, options)?;
    announce(&bench.heading(), json, folder)?;
    let mut failed = || terminal::status("");
    let results = subjects.iter().map(|subject| bench.measure(subject));
    let done = each(results, folder.is_some(), &mut failed, |done| match json {
        true => Ok(()),
        false => print(&done.text()),
    });
    if !done.results.is_empty() {
        keep(folder, |folder| bench.save(folder, &done.results, done.ending()))?;
    }
    if json {
        print_json(&bench.json(&done.results))?;
    }
    done.complete()
}

/// Benchmarks inserting many rows.
pub(crate) fn insert(args: &InsertArgs, json: bool) -> Result<()> {
    let config = crate::open::parse(&args.url)?;
    let options = insert::Options {
        rows: args.rows,
        repetitions: args.repeat,
        reference: choice(false, args.reference_client.as_deref()),
    };
    let report = insert::run(&CommandHost { quiet: json }, &config, &options)?;
    if json { print_json(&report.json()) } else { print(&report.text()) }
}

/// Benchmarks a server near and far.
pub(crate) fn wire(args: &WireArgs, json: bool) -> Result<()> {
    let config = crate::open::parse(&args.url)?;
    let usual = if args.quick { wire::Size::QUICK } else { wire::Size::FULL };
    let options = wire::Options {
        parts: args.only.iter().copied().map(Into::into).collect(),
        size: wire::Size {
            rows: args.rows.map_or(usual.rows, Into::into),
            link_rows: args.link_rows.map_or(usual.link_rows, Into::into),
            insert_rows: args.insert_rows.map_or(usual.insert_rows, Into::into),
            small_executions: args.executions.map_or(usual.small_executions, Into::into),
            repetitions: args.repeat.map_or(usual.repetitions, Into::into),
        },
        blob_reference_repetitions: args.blob_reference_repeat,
        link: Link::new(args.rtt.0, args.rate.0),
        reference: choice(args.no_reference, args.reference_client.as_deref()),
    };
    let host = CommandHost { quiet: json };
    writable(args.save.as_deref())?;
    let bench = wire::Bench::prepare(&host, &config, options)?;
    announce(&bench.heading(), json, args.save.as_deref())?;
    let write = |folder: &Path, tables: &[Table], ending| bench.save(folder, tables, ending);
    report(bench.tables(), json, |tables| bench.json(tables), args.save.as_deref().zip(Some(write)))
}

/// Benchmarks the ADBC driver.
pub(crate) fn adbc(args: &AdbcBenchArgs, json: bool) -> Result<()> {
    let config = crate::open::parse(&args.url)?;
    let options = adbc::Options {
        library: args.library.clone(),
        url: args.url.clone(),
        python: args.python.clone(),
        rows: args.rows,
        ingest_rows: args.ingest_rows,
        partitions: args.partitions,
        repetitions: args.repeat,
        reference: choice(false, args.reference_client.as_deref()),
    };
    let host = CommandHost { quiet: json };
    writable(args.save.as_deref())?;
    let bench = adbc::Bench::prepare(&host, &config, options)?;
    announce(&bench.heading(), json, args.save.as_deref())?;
    let write = |folder: &Path, tables: &[Table], ending| bench.save(folder, tables, ending);
    report(bench.tables(), json, |tables| bench.json(tables), args.save.as_deref().zip(Some(write)))
}

/// Benchmarks the ODBC driver.
pub(crate) fn odbc(args: &OdbcBenchArgs, json: bool) -> Result<()> {
    let config = crate::open::parse(&args.url)?;
    let library = match &args.driver {
        Some(path) => path.clone(),
        None => installed::library(installed::ODBC)
            .map_err(|reason| Failure::other(format!("{reason}; --driver names another one")))?,
    };
    let options = odbc::Options {
        parts: args.only.iter().copied().map(Into::into).collect(),
        library,
        url: args.url.clone(),
        other: args
            .other
            .clone()
            .zip(args.other_keywords.clone())
            .map(|(library, keywords)| odbc::Other { library, keywords }),
        rows: args.rows,
        insert_rows: args.insert_rows,
        repetitions: args.repeat,
        reference: choice(args.no_reference, args.reference_client.as_deref()),
    };
    let host = CommandHost { quiet: json };
    writable(args.save.as_deref())?;
    let bench = odbc::Bench::prepare(&host, &config, options)?;
    announce(&bench.heading(), json, args.save.as_deref())?;
    let write = |folder: &Path, tables: &[Table], ending| bench.save(folder, tables, ending);
    report(bench.tables(), json, |tables| bench.json(tables), args.save.as_deref().zip(Some(write)))
}

impl From<OdbcPart> for odbc::Part {
    fn from(part: OdbcPart) -> Self {
        match part {
            OdbcPart::Fetch => Self::Fetch,
            OdbcPart::Cells => Self::Cells,
            OdbcPart::Describe => Self::Describe,
            OdbcPart::Insert => Self::Insert,
            OdbcPart::Other => Self::Other,
        }
    }
}

impl From<WirePart> for wire::Part {
    fn from(part: WirePart) -> Self {
        match part {
            WirePart::Fetch => Self::Fetch,
            WirePart::Link => Self::Link,
            WirePart::Blobs => Self::Blobs,
            WirePart::Insert => Self::Insert,
            WirePart::Statements => Self::Statements,
            WirePart::Small => Self::Small,
        }
    }
}

/// This command as the host of a benchmark: signals end it, and the terminal shows its progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandHost {
    /// Whether to show no progress.
    pub(crate) quiet: bool,
}

impl Host for CommandHost {
    fn open(&self, config: &Config) -> firearrow::Result<Connection> {
        open::attach(config)
    }

    fn create(&self, config: &Config) -> firearrow::Result<Connection> {
        open::create(config)
    }

    fn start(&self, command: &mut Command) -> io::Result<Child> {
        interrupt::start(command)
    }

    fn ended(&self, id: u32) {
        interrupt::ended(id);
    }

    fn check(&self) -> Result<(), Error> {
        if interrupt::reason().is_some() { Err(Error::Stopped) } else { Ok(()) }
    }

    fn leaves(&self, text: Option<String>) {
        interrupt::stays(text);
    }

    fn progress(&self, goal: Goal<'_>) -> Box<dyn Progress> {
        Box::new(match goal {
            Goal::Rows { table, rows } => progress::Progress::of(table.to_owned(), rows, self.quiet),
            Goal::Turns(turns) => progress::Progress::turns(turns, self.quiet),
        })
    }

    fn note(&self, text: &str) {
        terminal::remark(text);
    }

    fn status(&self, text: &str) {
        terminal::status(text);
    }
}

impl Progress for progress::Progress {
    fn tell(&self, what: &str) {
        self.tell(what);
    }

    fn add(&self, count: u64) {
        self.add(count);
    }
}

fn choice(no_reference: bool, client: Option<&Path>) -> ReferenceChoice {
    match no_reference {
        true => ReferenceChoice::Nothing("--no-reference".to_owned()),
        false => ReferenceChoice::Client(client.map(Path::to_owned)),
    }
}

/// Each of them once, where it comes first.
fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for item in items {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    all
}

/// Fails if nothing can be saved: better now than after measuring.
pub(crate) fn writable(folder: Option<&Path>) -> Result<()> {
    Ok(folder.map_or(Ok(()), save::check)?)
}

/// Prints what stands above the figures. What is to be saved is measured even if nobody reads.
pub(crate) fn announce(heading: &str, json: bool, kept: Option<&Path>) -> Result<()> {
    match if json { Ok(()) } else { print(heading) } {
        Err(Failure::PipeClosed) if kept.is_some() => Ok(()),
        shown => shown,
    }
}

/// What came of measuring several things.
struct Done<T> {
    results: Vec<T>,
    /// What could not be measured, and why.
    missing: Vec<String>,
    /// Why the command is to end before everything was measured.
    stopped: Option<Error>,
    /// Why results were not shown.
    unshown: Option<Failure>,
}

impl<T> Done<T> {
    fn ending(&self) -> Ending {
        let mut missing = self.missing.clone();
        match self.stopped {
            None => Ending::Measured { missing },
            Some(_) if missing.is_empty() => Ending::Stopped,
            Some(_) => {
                missing.push("the rest: the run was interrupted".to_owned());
                Ending::Measured { missing }
            }
        }
    }

    /// Fails if anything could not be measured, or shown.
    fn complete(self) -> Result<()> {
        match (self.stopped, self.missing.len(), self.unshown) {
            (Some(error), ..) => Err(error.into()),
            (None, 0, None) => Ok(()),
            (None, 0, Some(failure)) => Err(failure),
            (None, count, _) => {
                let all = count + self.results.len();
                Err(Failure::other(format!("{count} of {all} could not be measured")))
            }
        }
    }
}

/// Shows results and reports failures; continues until the command is to end. A reader who has gone ends it, too, unless
/// the results are kept.
fn each<T>(
    results: impl Iterator<Item = Result<T, Error>>,
    are_kept: bool,
    failed: &mut dyn FnMut(),
    show: impl Fn(&T) -> Result<()>,
) -> Done<T> {
    let mut done = Done { results: Vec::new(), missing: Vec::new(), stopped: None, unshown: None };
    for result in results {
        match result {
            Ok(result) => {
                if done.unshown.is_none() {
                    done.unshown = show(&result).err();
                }
                done.results.push(result);
                if done.unshown.is_some() && !are_kept {
                    break;
                }
            }
            Err(error) if interrupt::reason().is_some() => {
                done.stopped = Some(error);
                break;
            }
            Err(error) => {
                failed();
                done.missing.push(error.to_string());
                Failure::from(error).report(false, false);
            }
        }
    }
    done
}

/// Prints tables as they are measured, and saves them.
fn report(
    tables: impl Iterator<Item = Result<Table, Error>>,
    json: bool,
    to_json: impl FnOnce(&[Table]) -> Value,
    saving: Option<(&Path, impl FnOnce(&Path, &[Table], Ending) -> firearrow_bench::Result<PathBuf>)>,
) -> Result<()> {
    let done = each(tables, saving.is_some(), &mut || (), |table| show(table, json));
    if let Some((folder, write)) = saving.filter(|_| !done.results.is_empty()) {
        keep(Some(folder), |folder| write(folder, &done.results, done.ending()))?;
    }
    if json {
        print_json(&to_json(&done.results))?;
    }
    done.complete()
}

fn show(table: &Table, json: bool) -> Result<()> {
    if json { Ok(()) } else { print(&table.text()) }
}

fn print_json(value: &Value) -> Result<()> {
    print_data(&format!("{value:#}\n"))
}

fn keep(folder: Option<&Path>, write: impl FnOnce(&Path) -> firearrow_bench::Result<PathBuf>) -> Result<()> {
    if let Some(folder) = folder {
        terminal::remark(&format!("saved in {}", write(folder)?.display()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_who_has_gone_ends_only_what_is_not_kept() {
        let gone = |_: &i32| Err(Failure::PipeClosed);
        for (are_kept, measured) in [(true, 3), (false, 1)] {
            let done = each([1, 2, 3].map(Ok).into_iter(), are_kept, &mut || (), gone);
            assert_eq!(done.results.len(), measured);
            assert!(matches!(done.complete(), Err(Failure::PipeClosed)));
        }
    }

    #[test]
    fn what_failed_before_an_interruption_is_kept() {
        let done =
            |stopped| Done { results: vec![1], missing: vec!["T: gone".into()], stopped, unshown: None };
        let Ending::Measured { missing } = done(Some(Error::Stopped)).ending() else { panic!("no end") };
        assert_eq!(missing, ["T: gone", "the rest: the run was interrupted"]);
        let failure = done(None).complete().unwrap_err();
        assert_eq!(failure.text(false), "1 of 2 could not be measured");
    }

    #[test]
    fn what_is_named_twice_is_measured_once() {
        assert_eq!(distinct(["b", "a", "b"]), ["b", "a"]);
    }
}
