//! The same work on databases that grow: for each size a new database is loaded, worked on and deleted.

use crate::disk;
use crate::input::Locality;
use crate::load::{self, Loaded};
use crate::run::{self, Run};
use crate::scale::Scale;
use crate::schema;
use firearrow::config::Config;
use firearrow::{Connection, Kind};
use firearrow_bench::{Environment, Error, Host, Reference, Result};
use serde::Serialize;

/// What a campaign does.
#[derive(Clone, Debug)]
pub struct Options {
    /// Sizes, in the order in which they are measured.
    pub scales: Vec<Scale>,
    /// Where terminals work, at each size.
    pub localities: Vec<Locality>,
    /// Runs of each locality at each size.
    pub repetitions: usize,
    /// How to load; the scale is that of the point.
    pub load: load::Options,
    /// How to run; the locality is that of the turn.
    pub run: run::Options,
}

/// What was measured at one size.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Point {
    /// Machine and server.
    pub environment: Environment,
    /// Loading.
    pub loaded: Loaded,
    /// The runs, in the order in which they were made: all localities, then the next repetition.
    pub runs: Vec<Run>,
}

/// Measures all sizes, and hands each to `done` as soon as it is complete. The database is deleted after each size.
///
/// # Errors
/// If the database exists and is not to be replaced, an error of loading or of running, an invalid run, and the errors of
/// `done`.
pub fn campaign(
    host: &dyn Host,
    config: &Config,
    options: &Options,
    done: &mut dyn FnMut(&Point) -> Result<()>,
) -> Result<()> {
    if options.scales.is_empty() || options.localities.is_empty() || options.repetitions == 0 {
        return Err(Error::usage("a campaign needs a size, a locality and a repetition"));
    }
    for scale in &options.scales {
        disk::check(config, *scale, 0)?;
    }
    vacate(host, config, options.load.replace)?;
    let mut config = config.clone();
    // Nobody else's database is to be taken for the one of this campaign.
    (config.create_if_missing, config.overwrite) = (false, false);
    config.page_size.get_or_insert(16384);
    for scale in &options.scales {
        let connection = host.create(&config)?;
        connection.execute(&format!("COMMENT ON DATABASE IS '{MADE_HERE}'"))?;
        connection.close()?;
        host.leaves(Some(LEFT.to_owned()));
        let point =
            point(host, &config, *scale, options, Some(LEFT), &mut |_| Ok(())).map_err(
                |error| match error {
                    Error::Stopped => error,
                    error => Error::other(format!("{error}\n{LEFT}")),
                },
            )?;
        // Kept first: deleting can fail, and then the figures must not be lost.
        done(&point)?;
        remove(host.open(&config)?)?;
        host.leaves(None);
    }
    Ok(())
}

const LEFT: &str =
    "the database of the campaign is left behind: delete it, or run the campaign again with --force";

/// Measures one size in a database that may hold other tables, and stays. `done` gets what has been measured after each run.
///
/// # Errors
/// As [`campaign`].
pub fn measure(
    host: &dyn Host,
    config: &Config,
    options: &Options,
    done: &mut dyn FnMut(&Point) -> Result<()>,
) -> Result<Point> {
    let scale = options.scales.first().ok_or_else(|| Error::usage("there is no size to measure"))?;
    point(host, config, *scale, options, None, done)
}

/// Loads a new database of this size, and runs every locality on it.
fn point(
    host: &dyn Host,
    config: &Config,
    scale: Scale,
    options: &Options,
    left: Option<&str>,
    done: &mut dyn FnMut(&Point) -> Result<()>,
) -> Result<Point> {
    host.note(&scale.in_words());
    let loaded = load::load(host, config, &load::Options { scale, ..options.load.clone() })?;
    host.leaves(left.map(str::to_owned));
    let info = host.open(config)?.info()?;
    let none = Reference::Absent("none is needed".to_owned());
    let environment = Environment::read(config, &info, &none, options.repetitions);
    let mut point = Point { environment, loaded, runs: Vec::new() };
    for repetition in 0..options.repetitions {
        // So that no locality always runs first.
        let mut localities = options.localities.clone();
        localities.rotate_left((scale.warehouses as usize + repetition) % options.localities.len());
        for locality in localities {
            let seed = options.run.seed.wrapping_add(repetition as u64);
            let run = run::run(host, config, &run::Options { locality, seed, ..options.run.clone() })?;
            if !run.is_valid() {
                let what = format!("{}, {}", scale.in_words(), locality.name());
                return Err(problems(&what, &run));
            }
            point.runs.push(run);
            done(&point)?;
        }
    }
    Ok(point)
}

/// An invalid run, as an error.
pub(crate) fn problems(what: &str, run: &Run) -> Error {
    Error::other(format!(
        "{what}: the run is invalid, so its figures are withheld:\n  {}",
        run.problems.join("\n  ")
    ))
}

/// The comment of a campaign's database. Others, such as that of `oltp load`, are not deleted.
const MADE_HERE: &str = "made by firearrow oltp campaign";

/// Deletes a database that a campaign has made, if nobody has put anything else into it.
fn remove(connection: Connection) -> Result<()> {
    let comment: Option<String> = connection
        .query("SELECT CAST(SUBSTRING(RDB$DESCRIPTION FROM 1 FOR 100) AS VARCHAR(100)) FROM RDB$DATABASE")?
        .value()?;
    if comment.as_deref() != Some(MADE_HERE) {
        return Err(Error::other(
            "the database was not made by a campaign, so it is not deleted: name one that does not exist",
        ));
    }
    if !schema::has_nothing_else(&connection)? {
        return Err(Error::other(
            "the database holds something else than this workload, so it is not deleted: name one that does not exist",
        ));
    }
    Ok(connection.drop_database()?)
}

/// Makes sure that there is no database, since one that has been used is larger and slower than a new one.
fn vacate(host: &dyn Host, config: &Config, replace: bool) -> Result<()> {
    let existing = Config { create_if_missing: false, ..config.clone() };
    let connection = match host.open(&existing) {
        // There is none, or creating it will say what is wrong.
        Err(error) if error.kind() == Kind::Database => return Ok(()),
        opened => opened?,
    };
    if !replace {
        return Err(Error::other(
            "the database exists, and a campaign makes a new one for each size: name one that does not exist, or add \
             --force to delete one that an earlier campaign left behind",
        ));
    }
    remove(connection)
}
