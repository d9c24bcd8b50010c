//! `firearrow copy` to a folder.

use super::args::CopyArgs;
use super::destination::{Destination, Ledger};
use super::part::Layout;
use super::plan::Plan;
use super::readers::{copy_part, on_each};
use super::resume;
use super::spellings::Spellings;
use super::tell_of_zones;
use crate::failure::{Failure, Result};
use crate::folder::Manifest;
use crate::folder::manifest::Part;
use crate::interrupt;
use crate::open::parse;
use crate::output;
use crate::progress::Progress;
use crate::terminal;
use firearrow::BatchLimits;
use firearrow::config::Config;
use firearrow_bench::text::{size, thousands};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

pub(super) fn run(args: &CopyArgs, json: bool) -> Result<()> {
    let started = Instant::now();
    let config = parse(&args.url)?;
    // First, so that what is there is reported before the server starts working.
    let mut destination = Destination::open(args)?;
    let earlier = destination.take_earlier();
    match Copying::begin(args, &config, &destination, earlier).inspect_err(|_| destination.leave())? {
        Begun::Copying(copying) => {
            if !args.quiet && !json {
                tell_of_zones(&copying.plan.schema);
            }
            let copied =
                copying.run(args, &config, &destination, json).inspect_err(|_| destination.leave())?;
            summarize(copied, started.elapsed().as_secs_f64(), args, json)
        }
        Begun::Complete { unknown } => {
            // The earlier run may have been killed before this.
            destination.succeed()?;
            say_complete(unknown.as_deref(), args, json)
        }
    }
}

/// What there is to do.
enum Begun<'a> {
    Copying(Box<Copying<'a>>),
    /// Nothing: an earlier copy is complete.
    Complete {
        /// Why it is not known whether it still has the rows of the table; `None` if it has.
        unknown: Option<String>,
    },
}

/// A copy that is planned.
struct Copying<'a> {
    plan: Plan,
    layout: Layout,
    ledger: Ledger<'a>,
    /// The parts that are not whole.
    missing: Vec<usize>,
    readers: usize,
    kept_rows: u64,
}

/// What the folder has, and what was done for it.
struct Copied {
    /// Rows and files in the folder, and rows that were there before.
    rows: u64,
    files: usize,
    bytes: u64,
    kept_rows: u64,
    readers: usize,
    read: String,
}

impl<'a> Copying<'a> {
    /// Plans the copy, and prepares the folder.
    fn begin(
        args: &CopyArgs,
        config: &Config,
        destination: &'a Destination,
        earlier: Option<Manifest>,
    ) -> Result<Begun<'a>> {
        let root = destination.root();
        let plan = Plan::new(args, config, earlier.as_ref().map(|earlier| earlier.pages.max(1)))?;
        let all = plan.parts().len();
        let readers = args.readers.filter(|readers| *readers > 0).unwrap_or_else(processors).min(all);
        let mut layout = Layout::new(args, root, &plan.schema, readers)?;
        let copy = plan.copy(layout.partition_by());
        let mut parts = Vec::new();
        if let Some(earlier) = earlier {
            resume::check_copy(&earlier.copy, &copy)?;
            parts = resume::whole_parts(root, &earlier, args.quiet)?;
            let is_complete = earlier.complete && parts.len() == earlier.parts.len();
            if is_complete && let Err(why) = resume::states(&plan, earlier.state.as_ref()) {
                return Ok(Begun::Complete { unknown: Some(why) });
            }
            resume::check_rows(config, readers, &plan, earlier.state.as_ref(), &parts)?;
            // A table that has grown has parts that the copy lacks.
            if is_complete && all <= parts.len() {
                return Ok(Begun::Complete { unknown: None });
            }
            // Those behind the end of the table had no rows.
            parts.retain(|part| part.part < all);
        }
        let missing = (0..all).filter(|part| parts.iter().all(|whole| whole.part != *part)).collect();
        let kept_rows = parts.iter().map(|part| part.rows).sum();
        let (pages, state) = (plan.pages, plan.state.clone());
        let manifest =
            Manifest { version: Manifest::VERSION, complete: false, copy, pages, state, parts, crc32: 0 };
        // First of all it says that the copy is not complete any more.
        let ledger = Ledger::begin(root, manifest)?;
        destination.clear(ledger.lock().files())?;
        layout.spellings = Spellings::of(root, ledger.lock().files())?;
        Ok(Begun::Copying(Box::new(Self { plan, layout, ledger, missing, readers, kept_rows })))
    }

    fn run(self, args: &CopyArgs, config: &Config, destination: &Destination, json: bool) -> Result<Copied> {
        let written = self.write(args, config, json);
        let ended = written.and_then(|()| self.ledger.complete()).and_then(|()| destination.succeed());
        interrupt::stays(None);
        if let Err(failure) = ended {
            return Err(self.left(failure, destination));
        }
        let manifest = self.ledger.lock();
        let read = match self.plan.why_plain() {
            Some(why) => format!("one reader: {why}"),
            None if self.readers == 1 => "one reader".to_owned(),
            None => format!("{} readers, {} connections", self.readers, self.readers + 1),
        };
        Ok(Copied {
            rows: manifest.parts.iter().map(|part| part.rows).sum(),
            files: manifest.files().count(),
            bytes: manifest.files().map(|file| file.bytes).sum(),
            kept_rows: self.kept_rows,
            readers: self.readers,
            read,
        })
    }

    /// Writes the parts that are missing.
    fn write(&self, args: &CopyArgs, config: &Config, json: bool) -> Result<()> {
        let bytes = (BATCHES / self.readers.max(1)).clamp(LEAST_BATCH, MOST_BATCH);
        let limits = BatchLimits::default().full(true).bytes(bytes);
        let limits = args.batch_rows.map_or(limits, |rows| limits.rows(rows.get()));
        let progress = Shown::new(args.quiet || json, &self.layout.written, self.missing.len());
        on_each(config, self.readers, &self.missing, |connection, part, failed| {
            let read = |rows| progress.read(rows);
            let whole = copy_part(connection, &self.plan, &self.layout, part, limits, (&read, failed))?;
            if let Some(whole) = whole {
                self.note(whole)?;
                progress.end_part();
            }
            Ok(())
        })
    }

    /// Notes a part that is whole, and what stays from now on if the command ends.
    fn note(&self, part: Part) -> Result<()> {
        self.ledger.add(part)?;
        if let Some(stays) = self.staying() {
            interrupt::stays(Some(stays));
        }
        Ok(())
    }

    /// What can be continued.
    fn staying(&self) -> Option<String> {
        let manifest = self.ledger.lock();
        let can_resume = manifest.state.is_some() && !manifest.parts.is_empty();
        let rows = manifest.parts.iter().map(|part| part.rows).sum();
        can_resume.then(|| {
            let whole = output::counted(manifest.files().count() as u64, "file", "");
            let rows = output::counted(rows, "row", "");
            format!("{whole} with {rows} are whole and stay; the same command with --resume continues")
        })
    }

    /// Says what stays after a failure, or removes it.
    fn left(&self, failure: Failure, destination: &Destination) -> Failure {
        match self.staying() {
            Some(stays) => Failure::WithOutcome(Box::new(failure), stays),
            None => {
                destination.give_up();
                failure
            }
        }
    }
}

/// The progress of all parts.
struct Shown {
    progress: Progress,
    rows: AtomicU64,
    ended: AtomicU64,
    parts: usize,
}

impl Shown {
    fn new(quiet: bool, written: &Arc<AtomicU64>, parts: usize) -> Self {
        let counters = vec![Arc::clone(written)];
        let progress = match parts {
            ..2 => Progress::endless(quiet, counters),
            _ => Progress::of_share(quiet, counters),
        };
        Self { progress, rows: AtomicU64::new(0), ended: AtomicU64::new(0), parts }
    }

    fn read(&self, rows: u64) {
        let all = self.rows.fetch_add(rows, Ordering::Relaxed) + rows;
        match self.parts {
            ..2 => self.progress.add(rows),
            parts => self.progress.share(self.ended.load(Ordering::Relaxed) as f64 / parts as f64, all),
        }
    }

    fn end_part(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
        self.read(0);
    }
}

/// Says that nothing was done.
fn say_complete(unknown: Option<&str>, args: &CopyArgs, json: bool) -> Result<()> {
    let folder = args.output.to_string_lossy();
    if json {
        let summary = json!({ "folder": folder, "complete_before": true, "compared": unknown.is_none() });
        return output::print_data(&format!("{summary}\n"));
    }
    if !args.quiet {
        let state = match unknown {
            None => "still has the rows of the table".to_owned(),
            Some(why) => format!("was not compared with the database ({why}); --force copies anew"),
        };
        terminal::remark(&format!("{folder} is complete, and {state}"));
    }
    Ok(())
}

fn summarize(copied: Copied, seconds: f64, args: &CopyArgs, json: bool) -> Result<()> {
    let folder = args.output.to_string_lossy();
    let Copied { rows, files, bytes, kept_rows, readers, read } = copied;
    let rate = (rows - kept_rows) as f64 / seconds;
    if json {
        let summary = json!({
            "folder": folder, "rows": rows, "kept_rows": kept_rows, "files": files, "bytes": bytes, "seconds": seconds,
            "rows_per_second": rate, "readers": readers, "read": read
        });
        return output::print_data(&format!("{summary}\n"));
    }
    if !args.quiet {
        let kept = match kept_rows {
            0 => String::new(),
            kept => format!(" ({} kept)", thousands(kept)),
        };
        let (rows, files) = (output::counted(rows, "row", &kept), output::counted(files as u64, "file", ""));
        let (size, rate) = (size(bytes), thousands(rate as u64));
        terminal::remark(&format!("{rows} in {files}, {size} in {seconds:.2} s, {rate} rows/s, {read}"));
    }
    Ok(())
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get()).min(MOST_READERS)
}

/// Bytes of the batches of all readers. Three of them are in memory for each.
const BATCHES: usize = 8 << 20;
const LEAST_BATCH: usize = 256 << 10;
const MOST_BATCH: usize = 4 << 20;
const MOST_READERS: usize = 64;
