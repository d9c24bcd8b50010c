//! `firearrow oltp campaign`

use super::work::{WayArgs, WorkArgs};
use super::{MOST_WORKERS, print_json, scale, workers};
use crate::args::TimeLimit;
use crate::bench::args::{MOST_REPETITIONS, up_to};
use crate::bench::{CommandHost, writable};
use crate::failure::{Failure, Result};
use crate::output::print;
use crate::terminal;
use clap::{Args, ValueEnum, ValueHint};
use firearrow_bench::text::{size, thousands};
use firearrow_bench::{Error, save};
use firearrow_oltp::{self as oltp, Locality, Point};
use firearrow_report as report;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow oltp campaign campaign.fdb --profile smoke --output report.html
  firearrow oltp campaign 'firebird://SYSDBA@localhost//data/campaign.fdb' --warehouses 4,8,16 --save runs

For each size a new database is loaded, worked on at home and everywhere, and
deleted. The page shows how operations per second, latency and reads from the
disk change with the size, and where the size is that of the page cache. Each
size is saved as soon as it is complete; an interrupted campaign keeps those.

For a meaningful curve, the server's own cache must replace the operating
system's: set DefaultDbCachePages, and UseFileSystemCache = false on Firebird 4
and newer.")]
pub(super) struct CampaignArgs {
    /// A database that does not exist yet
    #[arg(value_name = "FILE|URL", value_hint = ValueHint::AnyPath)]
    url: String,
    /// Sizes and times
    #[arg(long, default_value = "smoke")]
    profile: Profile,
    /// Other sizes than the profile's
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
    warehouses: Vec<NonZeroU32>,
    /// Where terminals work
    #[arg(long, value_delimiter = ',', default_value = "home,uniform")]
    locality: Vec<Locality>,
    /// Runs of each size and locality [default: the profile's]
    #[arg(long, value_name = "N", value_parser = up_to(MOST_REPETITIONS))]
    repeat: Option<NonZeroUsize>,
    /// Warm-up time, not measured [default: the profile's]
    #[arg(long, value_name = "TIME")]
    warm_up: Option<TimeLimit>,
    /// Measured time [default: the profile's]
    #[arg(long, value_name = "TIME")]
    measure: Option<TimeLimit>,
    #[command(flatten)]
    work: WorkArgs,
    #[command(flatten)]
    way: WayArgs,
    /// Connections that load side by side [default: processors]
    #[arg(long, value_name = "N", value_parser = up_to(MOST_WORKERS))]
    workers: Option<NonZeroUsize>,
    /// Delete a database that has nothing but this workload, as an interrupted campaign leaves it
    #[arg(long)]
    force: bool,
    /// Write DIR/DATE-oltp-campaign-PLATFORM/raw.jsonl and report.md
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    save: Option<PathBuf>,
    /// Write a page with charts
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// A hundredth of the rows, to try things out; figures mean nothing
    #[arg(long, hide = true)]
    tiny: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Profile {
    /// 1 and 2 warehouses, 20 s for each run
    Smoke,
    /// 4 to 20 warehouses (0.4 to 2.2 GB), 70 s for each run: about an hour
    Mini,
    /// 105 to 350 warehouses (11 to 37 GB), three times 6 min for each run
    Full,
    /// 21,000 warehouses (2.2 TB)
    Long,
}

impl Profile {
    fn warehouses(self) -> &'static [u32] {
        match self {
            Self::Smoke => &[1, 2],
            Self::Mini => &[4, 6, 8, 9, 10, 11, 12, 14, 16, 18, 20],
            Self::Full => &[105, 125, 150, 180, 200, 230, 250, 280, 300, 330, 350],
            Self::Long => &[21_000],
        }
    }

    /// Warm-up and measured time in seconds, and repetitions.
    fn times(self) -> (u64, u64, usize) {
        match self {
            Self::Smoke => (5, 15, 1),
            Self::Mini => (10, 60, 1),
            Self::Full | Self::Long => (60, 300, 3),
        }
    }
}

pub(super) fn run(args: &CampaignArgs, json: bool) -> Result<()> {
    let config = crate::open::parse(&args.url)?;
    let (warm_up, measure, repetitions) = args.profile.times();
    let time = |wanted: Option<TimeLimit>, usual| wanted.map_or(Duration::from_secs(usual), |limit| limit.0);
    let sizes: Vec<u32> = match args.warehouses.is_empty() {
        true => args.profile.warehouses().to_vec(),
        false => args.warehouses.iter().map(|warehouses| warehouses.get()).collect(),
    };
    let scales: Vec<_> = sizes.into_iter().map(|warehouses| scale(warehouses, args.tiny)).collect();
    let first = *scales.first().ok_or_else(|| Failure::usage("a campaign needs a size"))?;
    let options = oltp::CampaignOptions {
        scales,
        localities: args.locality.clone(),
        repetitions: args.repeat.map_or(repetitions, usize::from),
        load: oltp::LoadOptions {
            scale: first,
            seed: 42,
            workers: workers(args.workers),
            indexes_first: false,
            replace: args.force,
        },
        run: args.way.apply(args.work.options(
            Locality::Home,
            time(args.warm_up, warm_up),
            time(args.measure, measure),
        )),
    };
    // What cannot be written should be known before hours of measuring.
    writable(args.save.as_deref())?;
    args.output.as_deref().map_or(Ok(()), save::check_file)?;
    let host = CommandHost { quiet: json };
    let all = options.scales.len();
    let mut kept = Kept { args, points: Vec::new(), folder: None };
    let done = oltp::campaign(&host, &config, &options, &mut |point| {
        let is_first = kept.points.is_empty();
        kept.add(point, all).map_err(into_error)?;
        if json { Ok(()) } else { print(&lines(point, is_first)).map_err(into_error) }
    });
    if let Some(folder) = &kept.folder {
        terminal::remark(&format!("saved in {}", folder.display()));
    }
    if let Some(path) = args.output.as_deref().filter(|_| !kept.points.is_empty()) {
        terminal::remark(&format!("written: {}", path.display()));
    }
    done?;
    if json { print_json(&kept.points) } else { Ok(()) }
}

fn into_error(failure: Failure) -> Error {
    Error::other(failure.text(false))
}

/// What has been measured so far, and where it is kept.
struct Kept<'a> {
    args: &'a CampaignArgs,
    points: Vec<Point>,
    folder: Option<PathBuf>,
}

impl Kept<'_> {
    /// Keeps another point, so that whatever ends the campaign ends it after this point.
    fn add(&mut self, point: &Point, all: usize) -> Result<()> {
        self.points.push(point.clone());
        let Some(record) = oltp::campaign_record(&self.points, self.points.len() == all)? else {
            return Ok(());
        };
        if let Some(parent) = &self.args.save {
            let report = report::markdown(std::slice::from_ref(&record));
            match &self.folder {
                Some(folder) => save::update(folder, &record, &report)?,
                None => {
                    let environment = &point.environment;
                    let name = format!("{}-oltp-campaign-{}", environment.day(), environment.platform());
                    self.folder = Some(save::write(parent, &name, &record, &report)?);
                }
            }
        }
        if let Some(path) = &self.args.output {
            let title = record.head.title.clone();
            let page = report::html(&title, &[record])?;
            // The earlier page stays if this one cannot be written.
            save::file(path, page.as_bytes())?;
        }
        Ok(())
    }
}

/// The figures of a size, one line for each run.
fn lines(point: &Point, is_first: bool) -> String {
    let Point { environment, loaded, runs, .. } = point;
    let mut text = String::new();
    if let (true, Some(run)) = (is_first, runs.first()) {
        text += &format!(
            "Firebird {}, {}, cache {}\n\n",
            environment.engine,
            environment.transport,
            size(run.cache_bytes)
        );
        text += "warehouses        size      load   locality   operations/s   new orders/min   p99 ms   reads each\n";
    }
    for run in runs {
        text += &format!(
            "{:>10}  {:>10}  {:>8.0} s   {:8}   {:>12}   {:>14}  {:>7.1}   {:>10.2}\n",
            loaded.scale.warehouses,
            size(loaded.bytes),
            loaded.rows_s + loaded.indexes_s,
            run.locality.name(),
            thousands(run.per_second() as u64),
            thousands(run.new_orders_per_minute as u64),
            run.new_orders().percentile(99.0).unwrap_or(0) as f64 / 1000.0,
            run.reads_per_operation()
        );
    }
    text
}
