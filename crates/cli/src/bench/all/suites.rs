//! The suites of `firearrow bench all`. Another one is another line of [`SUITES`].

use super::size::Size;
use crate::bench::CommandHost;
use crate::bench::driver::smoke_options;
use crate::installed;
use firearrow::config::{Config, Target};
use firearrow_bench::driver::{self, Firebird, Shape, Source};
use firearrow_bench::{
    Ending, Error, Host, ReferenceChoice, Result, adbc, blob, demo, fetch, insert, odbc, wire,
};
use firearrow_oltp::{self as oltp, Locality, Mix, Mode, Scale};
use firearrow_report::Record;
use firearrow_wan::Link;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

/// What all suites get.
pub(super) struct Setup<'a> {
    pub(super) host: &'a CommandHost,
    pub(super) config: &'a Config,
    pub(super) url: &'a str,
    pub(super) size: Size,
    pub(super) reference: ReferenceChoice,
    /// The Python whose drivers are compared.
    pub(super) python: &'a Path,
}

/// A suite hands over its record whenever it has come further.
pub(super) type Keep<'a> = &'a mut dyn FnMut(Record) -> Result<()>;

pub(super) struct Suite {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) run: fn(&Setup<'_>, Keep<'_>) -> Result<Outcome>,
}

/// How a suite ended that has not failed.
pub(super) enum Outcome {
    Measured {
        /// What has failed within it.
        missing: Vec<String>,
    },
    /// It cannot run here, and why not.
    Unavailable(String),
}

/// All suites, in the order in which they run.
pub(super) const SUITES: [Suite; 8] = [
    Suite { name: "fetch", title: "Reading whole results", run: fetch },
    Suite { name: "insert", title: "Inserting many rows", run: insert },
    Suite { name: "wire", title: "A server near and far", run: wire },
    Suite { name: "odbc", title: "The ODBC driver", run: odbc },
    Suite { name: "adbc", title: "The ADBC driver", run: adbc },
    Suite { name: "blob", title: "BLOBs over a slow network", run: blob },
    Suite { name: "driver", title: "Drivers beside each other", run: driver },
    Suite { name: "oltp", title: "Terminals on a TPC-C-like database", run: oltp },
];

const ALL_MEASURED: Outcome = Outcome::Measured { missing: Vec::new() };

fn fetch(setup: &Setup<'_>, keep: Keep<'_>) -> Result<Outcome> {
    demo::complete(setup.host, setup.config, setup.size.rows.get())?;
    let options = fetch::Options {
        repetitions: setup.size.repetitions,
        batch_rows: None,
        consume: false,
        reference: setup.reference.clone(),
    };
    let bench = fetch::Bench::prepare(setup.host, setup.config, options)?;
    let tables = demo::TABLES.iter().map(|table| fetch::Subject::table(table.name));
    let results = tables.map(|subject| bench.measure(&subject));
    step_by_step(setup, results, &|done, ending| bench.record(done, ending), keep)
}

fn insert(setup: &Setup<'_>, keep: Keep<'_>) -> Result<Outcome> {
    let options = insert::Options {
        rows: setup.size.insert_rows,
        repetitions: setup.size.repetitions,
        reference: setup.reference.clone(),
    };
    keep(insert::run(setup.host, setup.config, &options)?.record()?)?;
    Ok(ALL_MEASURED)
}

fn wire(setup: &Setup<'_>, keep: Keep<'_>) -> Result<Outcome> {
    if let Some(reason) = no_network(setup.config) {
        return Ok(reason);
    }
    let options = wire::Options {
        parts: Vec::new(),
        size: setup.size.wire,
        blob_reference_repetitions: NonZeroUsize::MIN,
        link: link(),
        reference: setup.reference.clone(),
    };
    let bench = wire::Bench::prepare(setup.host, setup.config, options)?;
    step_by_step(setup, bench.tables(), &|done, ending| bench.record(done, ending), keep)
}

fn odbc(setup: &Setup<'_>, keep: Keep<'_>) -> Result<Outcome> {
    let library = match installed::library(installed::ODBC) {
        Ok(library) => library,
        Err(reason) => return Ok(Outcome::Unavailable(reason)),
    };
    let options = odbc::Options {
        parts: Vec::new(),
        library,
        url: setup.url.to_owned(),
        other: None,
        rows: setup.size.rows,
        insert_rows: setup.size.insert_rows,
        repetitions: setup.size.repetitions,
        reference: setup.reference.clone(),
    };
    let bench = odbc::Bench::prepare(setup.host, setup.config, options)?;
    step_by_step(setup, bench.tables(), &|done, ending| bench.record(done, ending), keep)
}

fn adbc(setup: &Setup<'_>, keep: Keep<'_>) -> Result<Outcome> {
    let library = match installed::library(installed::ADBC) {
        Ok(library) => library,
        Err(reason) => return Ok(Outcome::Unavailable(reason)),
    };
    let options = adbc::Options {
        library,
        url: setup.url.to_owned(),
        python: None,
        rows: setup.size.rows,
        ingest_rows: setup.size.insert_rows,
        partitions: NonZeroUsize::new(2).expect("above 0"),
        repetitions: setup.size.repetitions,
        reference: setup.reference.clone(),
    };
    let bench = adbc::Bench::prepare(setup.host, setup.config, options)?;
    step_by_step(setup, bench.tables(), &|done, ending| bench.record(done, ending), keep)
}

fn blob(setup: &Setup<'_>, keep: Keep<'_>) -> Result<Outcome> {
    if let Some(reason) = no_network(setup.config) {
        return Ok(reason);
    }
    let options = blob::Options {
        rows: setup.size.blob_rows,
        repetitions: setup.size.blob_repetitions,
        slow_repetitions: 1,
        queries: setup.size.blob_queries.iter().map(|name| (*name).to_owned()).collect(),
        contents: vec![blob::Contents::Text],
        compressions: vec![false, true],
        inline: vec![65_535],
        link: link(),
        reference: setup.reference.clone(),
    };
    let bench = blob::Bench::prepare(setup.host, setup.config, options)?;
    record_by_record(|done| bench.run(done).map(drop), keep)
}

fn driver(setup: &Setup<'_>, keep: Keep<'_>) -> Result<Outcome> {
    let source = Source::Firebird(Box::new(Firebird {
        config: setup.config.clone(),
        compress: false,
        link: None,
        shapes: Shape::ALL.to_vec(),
        sql: None,
    }));
    let options = driver::Options {
        rows: setup.size.rows,
        iterations: setup.size.repetitions,
        python: Some(setup.python.to_owned()),
        reference: setup.reference.clone(),
        ..smoke_options(source).map_err(|failure| Error::other(failure.text(false)))?
    };
    let mut bench = driver::Bench::prepare(setup.host, options)?;
    // Who is missing is in the record; the run fails only if one of firearrow's own does.
    record_by_record(|done| bench.run(done).map(drop), keep)
}

fn oltp(setup: &Setup<'_>, keep: Keep<'_>) -> Result<Outcome> {
    let size = &setup.size;
    let scale = if size.is_tiny { Scale::tiny(size.warehouses) } else { Scale::of(size.warehouses) };
    let options = oltp::CampaignOptions {
        scales: vec![scale],
        localities: vec![Locality::Home, Locality::Uniform],
        repetitions: size.runs,
        load: oltp::LoadOptions {
            scale,
            seed: 42,
            workers: std::thread::available_parallelism().map_or(1, usize::from),
            indexes_first: false,
            replace: true,
        },
        run: oltp::RunOptions {
            terminals: size.terminals,
            mode: Mode::Sp,
            locality: Locality::Home,
            mix: Mix::Tpcc,
            isolation: None,
            pace: oltp::Pace::default(),
            connections: oltp::Connections::Threads,
            warm_up: size.warm_up,
            measure: size.measure,
            seed: 42,
            full_check: false,
        },
    };
    let mut keep_some = |record: Option<Record>| record.map_or(Ok(()), &mut *keep);
    let point = oltp::measure(setup.host, setup.config, &options, &mut |point| {
        keep_some(oltp::point_record(point, false)?)
    })?;
    keep_some(oltp::point_record(&point, true)?)?;
    let options = oltp::CompareOptions {
        run: options.run,
        repetitions: size.runs,
        procedures: false,
        link: None,
        reference: setup.reference.clone(),
        python: setup.python.to_owned(),
    };
    let comparison = oltp::compare(setup.host, setup.config, &options, &mut |comparison| {
        keep_some(oltp::comparison_record(comparison, false)?)
    })?;
    keep_some(oltp::comparison_record(&comparison, true)?)?;
    Ok(ALL_MEASURED)
}

/// The link of Firebird's article on BLOBs.
fn link() -> Link {
    Link::new(Duration::from_secs_f64(blob::ARTICLE_ROUND_TRIP_MS / 1000.0), Some(blob::ARTICLE_RATE))
}

fn no_network(config: &Config) -> Option<Outcome> {
    let is_embedded = matches!(config.target, Target::Embedded { .. });
    is_embedded.then(|| {
        Outcome::Unavailable("it measures servers: an engine in this process has no network".to_owned())
    })
}

/// Runs a benchmark that hands over its record after each step, to a callback that cannot fail.
fn record_by_record(
    run: impl FnOnce(&mut dyn FnMut(&Record)) -> Result<()>,
    keep: Keep<'_>,
) -> Result<Outcome> {
    let mut kept = Ok(());
    run(&mut |record| {
        if kept.is_ok() {
            kept = keep(record.clone());
        }
    })?;
    kept.map(|()| ALL_MEASURED)
}

/// Measures one thing after the other, and hands over the record after each. What fails is named.
fn step_by_step<T>(
    setup: &Setup<'_>,
    results: impl Iterator<Item = Result<T>>,
    record: &dyn Fn(&[T], Ending) -> Result<Record>,
    keep: Keep<'_>,
) -> Result<Outcome> {
    let (mut done, mut missing) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(result) => {
                done.push(result);
                keep(record(&done, Ending::Stopped)?)?;
            }
            Err(error) => {
                setup.host.check()?;
                missing.push(error.to_string());
            }
        }
    }
    if done.is_empty() {
        return Err(Error::other(missing.join("; ")));
    }
    keep(record(&done, Ending::Measured { missing: missing.clone() })?)?;
    Ok(Outcome::Measured { missing })
}
