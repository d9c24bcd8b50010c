//! `firearrow load`
//!
//! ```text
//!  input ─► record, csv ─┐
//!        ─► json ────────┼─► source: parts of rows ─► mapping: names and types of the table ─► feed ─┬─► write: ingestion
//!        ─► columnar ────┘   table, names, infer ─────────┘              convert, datetime ──┘        └─► reject
//! ```

mod args;
mod columnar;
mod convert;
mod csv;
mod csv_record;
mod date_order;
mod decimal_mark;
mod feed;
mod folder;
mod infer;
mod input;
mod json;
mod line_numbers;
mod mapping;
mod names;
mod notation;
mod reject;
mod skipped;
mod source;
mod table;
mod write;

pub(crate) use args::{LoadArgs, delimiter};
use date_order::DateOrder;
pub(crate) use decimal_mark::has_decimal_comma;

use crate::failure::{Failure, Result};
use crate::open::{open_session, warn_of_statements};
use crate::output::{self, Format};
use crate::progress::Progress;
use crate::{interrupt, terminal};
use args::LoadMode;
use feed::{Feed, Shown};
use firearrow::catalog::{Column, ConstraintKind, Index, Name, quoted};
use firearrow_bench::text::{size, thousands};
use firearrow_driver::{IngestNames, IngestOptions, Mode, Session, SessionOptions, TextAs, columns_of_table};
use folder::Folder;
use input::is_regular;
use mapping::Plan;
use reject::Counts;
use serde_json::json;
use skipped::Skipped;
use source::{Files, Reading};
use std::num::NonZeroUsize;
use std::panic;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use table::Table;
use write::Target;

pub(crate) fn run(args: &LoadArgs, json: bool) -> Result<()> {
    let args = &args.expanded()?;
    let inputs = Inputs::of(args)?;
    args.check(&inputs.paths)?;
    let format = source::format(args, inputs.folder.is_some())?;
    let config = crate::open::parse(&args.url)?;
    let started = Instant::now();
    let Inputs { paths, folder } = inputs;
    let reading = Reading::new(args, format, folder);
    // Read first, so that a wrong file is reported before the server starts working.
    let (files, total_rows) = interrupt::waiting(|| open_files(&paths, &reading))?;
    let is_manual = args.mode == Some(LoadMode::Replace) || args.reject.is_some();
    let options = SessionOptions { autocommit: !is_manual, ..SessionOptions::default() };
    let session = open_session(&config, options)?;
    let table = session.begin_task().run(|| {
        let catalog = session.connection()?.catalog()?;
        Table::find(&catalog, &args.into)
    })??;
    let mut loading = Loading::new(args, &session, &table, &files)?;
    if !args.quiet && !json {
        loading.plan.iter().for_each(|plan| remark_dates(plan, args.date_order));
    }
    let bytes = Arc::clone(&reading.read);
    let shown = progress(args, json, total_rows, &paths, &reading);
    let counts = match loading.plan.take() {
        Some(plan) => load(args, &loading.target, files, plan, shown)?,
        None => Counts::default(),
    };
    interrupt::stays(None);
    warn_of_statements(session.connection()?);
    if !counts.created.is_empty() && !args.quiet && !json {
        let columns = counts.created.join(", ");
        let by = if reading.is_text() { ", with types inferred from its first rows" } else { "" };
        terminal::remark(&format!("created {} ({columns}){by}", table.name));
    }
    let seconds = started.elapsed().as_secs_f64();
    let bytes = sizes(&paths).unwrap_or_else(|| bytes.load(Ordering::Relaxed));
    Loaded { counts, bytes, seconds, table: table.name }.summarize(args, json)
}

/// Tells of columns that become text, although they look like dates.
fn remark_dates(plan: &Plan, order: Option<DateOrder>) {
    for column in &plan.seeming_dates {
        let why = match order {
            None => "; --date-order dmy or mdy says whether the day or the month comes first",
            Some(DateOrder::Dmy) => ", but not all are day, month and year (--date-order dmy)",
            Some(DateOrder::Mdy) => ", but not all are month, day and year (--date-order mdy)",
        };
        terminal::remark(&format!("column {column} becomes text: its values look like dates{why}"));
    }
}

/// The files that the command line names, or those in the folder that it names.
struct Inputs {
    paths: Vec<PathBuf>,
    folder: Option<Arc<Folder>>,
}

impl Inputs {
    fn of(args: &LoadArgs) -> Result<Self> {
        let folders = args.files.iter().filter(|path| path.is_dir()).count();
        match (folders, args.files.as_slice()) {
            (0, _) if args.incomplete => Err(Failure::usage("--incomplete is for a folder")),
            (0, files) => Ok(Self { paths: files.to_vec(), folder: None }),
            _ if args.format.is_some_and(|format| format != Format::Parquet) => {
                Err(Failure::usage("of a folder, Parquet files are loaded; name the files of another format"))
            }
            (_, [path]) => {
                let folder = Folder::open(path, args.incomplete)?;
                Ok(Self { paths: folder.paths(), folder: Some(Arc::new(folder)) })
            }
            _ => Err(Failure::usage(
                "a folder is loaded by itself: load it and the other files one after the other",
            )),
        }
    }
}

/// What is loaded where, and how.
struct Loading<'a> {
    target: Target<'a>,
    /// `None` if there are neither columns nor rows.
    plan: Option<Plan>,
}

impl<'a> Loading<'a> {
    fn new(args: &LoadArgs, session: &'a Arc<Session>, table: &Table, files: &Files) -> Result<Self> {
        let mode = mode(args, table)?;
        let mut options = IngestOptions {
            table: table.name.clone(),
            mode,
            text: args.text_length.map_or(TextAs::Auto, TextAs::Varying),
            commit_rows: args.commit_rows.map_or(0, NonZeroUsize::get),
            names: IngestNames { key: "--key", commit_rows: "--commit-rows" },
            ..IngestOptions::default()
        };
        let schema = files.schema();
        let deletes = table.columns.is_some() && args.mode == Some(LoadMode::Replace);
        let connection = session.connection()?;
        let plan = match &table.columns {
            // A failed program also writes nothing.
            Some(_) if schema.fields().is_empty() && deletes => {
                return Err(Failure::other(format!(
                    "the input is empty, so --mode replace would delete every row of {}; if that is meant: DELETE FROM {0}",
                    quoted(&table.name)
                )));
            }
            // A file of JSON lines without any.
            Some(_) if schema.fields().is_empty() => None,
            Some(columns) => {
                let plan = Plan::into_table(table, &schema, files.is_text(), args.form())?;
                if mode == Mode::Upsert {
                    options.key = key(args, session, table, columns, &plan)?;
                }
                Some(plan)
            }
            None if args.no_header => {
                return Err(Failure::other(format!(
                    "there is no table {}, whose columns a file without header needs: create it first",
                    table.name
                )));
            }
            None => {
                if let [field] = schema.fields().as_ref()
                    && files.is_csv()
                    && args.delimiter.is_none()
                    && names::is_unseparated(field.name())
                {
                    return Err(Failure::other(format!(
                        "the file would have one column, {}: name the separator with --delimiter",
                        field.name()
                    )));
                }
                let modern = connection.has_firebird4();
                let plan =
                    Plan::new_table(table, &schema, files.ahead(), files.is_text(), args.form(), modern)?;
                // Errors of names and types, before anything is read.
                columns_of_table(&plan.schema, &options, modern, connection.dialect(), None)?;
                Some(plan)
            }
        };
        if table.columns.is_none() {
            let name = &table.name;
            interrupt::stays(Some(format!("the new table {name} may stay, without rows")));
        } else if options.commit_rows > 0 {
            interrupt::stays(Some("rows that were committed stay".to_owned()));
        }
        let target = Target { session, options, deletes, unit: files.unit() };
        Ok(Self { target, plan })
    }
}

/// Returns what the ingestion does to the table, which is there or not.
fn mode(args: &LoadArgs, table: &Table) -> Result<Mode> {
    let name = &table.name;
    let meant = table.similar.as_ref().map(|name| format!(" (did you mean {name}?)")).unwrap_or_default();
    let missing = || Err(Failure::other(format!("there is no table {name}{meant}; --mode create makes one")));
    match (args.mode, table.columns.is_some()) {
        (Some(LoadMode::Create), true) => {
            Err(Failure::other(format!("the table {name} exists; --mode append adds rows to it")))
        }
        (Some(LoadMode::Append | LoadMode::Upsert), false) => missing(),
        // A table cannot be filled in the transaction that creates it.
        (_, false) if args.reject.is_some() => Err(Failure::other(format!(
            "there is no table {name}{meant}; --reject is for one that exists: create it first"
        ))),
        (Some(LoadMode::Create | LoadMode::Replace) | None, false) => Ok(Mode::Create),
        (Some(LoadMode::Upsert), true) => Ok(Mode::Upsert),
        (Some(LoadMode::Append | LoadMode::Replace) | None, true) => Ok(Mode::Append),
    }
}

fn load(args: &LoadArgs, target: &Target<'_>, files: Files, plan: Plan, shown: Shown) -> Result<Counts> {
    let names = plan.schema.fields().iter().map(|field| field.name().as_str());
    // Rejected rows get a header, and with the table's names they can be loaded again.
    let schema = if args.no_header { source::texts(names) } else { files.schema() };
    let feed = Feed::start(files, plan, shown, args.reject.is_some())?;
    match &args.reject {
        Some(path) => target.load_accepted(feed, &schema, path),
        None => {
            let (loaded, created) = target.ingest(feed)?;
            Ok(Counts { loaded, created, ..Counts::default() })
        }
    }
}

fn progress(args: &LoadArgs, json: bool, rows: Option<u64>, paths: &[PathBuf], reading: &Reading) -> Shown {
    let quiet = args.quiet || json;
    let read = || Arc::clone(&reading.read);
    match (rows, sizes(paths)) {
        (Some(rows), _) => Shown::new(Progress::of(args.into.clone(), rows, quiet), None),
        (None, Some(bytes)) => Shown::new(Progress::of_bytes(bytes, quiet), Some(read())),
        (None, None) => Shown::new(Progress::endless(quiet, vec![read()]), None),
    }
}

/// Returns the size of all files; `None` for standard input and pipes.
fn sizes(paths: &[PathBuf]) -> Option<u64> {
    let size = |file: &PathBuf| {
        is_regular(file).then(|| file.metadata().ok()).flatten().map(|metadata| metadata.len())
    };
    paths.iter().map(size).sum()
}

/// Returns the columns that rows are found by, which the files must have.
fn key(
    args: &LoadArgs,
    session: &Session,
    table: &Table,
    columns: &[Column],
    plan: &Plan,
) -> Result<Vec<String>> {
    let key = match args.key.is_empty() {
        true => session.begin_task().run(|| {
            let constraints = session.connection()?.catalog()?.constraints(Name::Is(&table.name))?;
            let key = constraints.into_iter().find(|found| found.kind == ConstraintKind::PrimaryKey);
            Ok(key.map(|key| key.columns).unwrap_or_default())
        })?,
        false => table.key(&args.key, columns)?,
    };
    if key.is_empty() {
        let name = &table.name;
        return Err(Failure::usage(format!(
            "the table {name} has no primary key; name the columns that find rows with --key"
        )));
    }
    match key.iter().find(|name| plan.schema.index_of(name).is_err()) {
        Some(lacking) => {
            let is_skipped = Skipped::new(&args.skip_columns).has(lacking);
            let why = if is_skipped { ", which --skip-columns leaves out" } else { "" };
            Err(Failure::other(format!("the files lack the column {lacking} of the key{why}")))
        }
        None => {
            // A primary key has its index, and views have none.
            if !args.quiet && !args.key.is_empty() && !table.is_view {
                warn_without_index(session, &table.name, &key);
            }
            Ok(key)
        }
    }
}

/// Says so if no index finds the rows of a key: the server then reads the whole table for each row.
fn warn_without_index(session: &Session, table: &str, key: &[String]) {
    let indexes =
        session.begin_task().run(|| Ok(session.connection()?.catalog()?.indexes(Name::Is(table))?));
    // It is only a hint.
    let Ok(indexes) = indexes else { return };
    let finds = |index: &Index| {
        let first = index.segments.first();
        index.active && index.condition.is_none() && first.is_some_and(|first| key.contains(&first.column))
    };
    if !indexes.iter().any(finds) {
        let columns = key.iter().map(|column| quoted(column)).collect::<Vec<_>>().join(", ");
        terminal::remark(&format!(
            "no index begins with a column of the key, so each row searches the whole table; faster with \
             CREATE INDEX … ON {} ({columns})",
            quoted(table)
        ));
    }
}

/// Opens the files, and counts their rows if they say how many there are.
///
/// # Errors
/// Those of the files. The readers of Arrow panic at some that are damaged, and a shell must survive them.
fn open_files(paths: &[PathBuf], reading: &Reading) -> Result<(Files, Option<u64>)> {
    // The file is to blame, so nobody needs the place in the code.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    let opened = panic::catch_unwind(|| {
        let files = Files::open(reading.clone(), paths.to_vec())?;
        let rows = files.check()?;
        Ok((files, rows))
    });
    panic::set_hook(hook);
    opened.unwrap_or_else(|_| {
        let files: Vec<_> = paths.iter().map(|file| file.to_string_lossy()).collect();
        Err(Failure::other(format!("{}: the file is damaged", files.join(", "))))
    })
}

/// What was done.
struct Loaded {
    counts: Counts,
    bytes: u64,
    seconds: f64,
    table: String,
}

impl Loaded {
    fn summarize(self, args: &LoadArgs, json: bool) -> Result<()> {
        let Self { counts: Counts { loaded, rejected, created, .. }, bytes, seconds, table } = self;
        let rate = loaded as f64 / seconds;
        if json {
            let files: Vec<_> = args.files.iter().map(|file| file.to_string_lossy()).collect();
            let summary = json!({
                "table": table, "files": files, "rows": loaded, "rejected": rejected, "bytes": bytes,
                "seconds": seconds, "rows_per_second": rate, "created": Some(created).filter(|created| !created.is_empty())
            });
            return output::print_data(&format!("{summary}\n"));
        }
        if !args.quiet {
            let (rows, size, rate) =
                (output::counted(loaded, "row", ""), size(bytes), thousands(rate as u64));
            terminal::remark(&format!("{rows} into {table}, {size} in {seconds:.2} s, {rate} rows/s"));
        }
        if let Some(path) = args.reject.as_ref().filter(|_| rejected > 0) {
            terminal::remark(&format!(
                "{} refused: see {}",
                output::counted(rejected, "row", ""),
                path.display()
            ));
        }
        Ok(())
    }
}
