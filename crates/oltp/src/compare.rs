//! The same operations by firearrow, the client library and firebird-driver, in turns on one database.

use crate::campaign::problems;
use crate::rival::Rival;
use crate::run::{self, Client, Run};
use crate::way::Mode;
use firearrow::ServerInfo;
use firearrow::config::Config;
use firearrow_bench::{Environment, Error, Host, Reference, ReferenceChoice, Result, emulated};
use firearrow_wan::Link;
use serde::Serialize;
use std::path::PathBuf;

/// What is compared.
#[derive(Clone, Debug)]
pub struct Options {
    /// How to run; the mode is that of the turn.
    pub run: run::Options,
    /// Turns of each contestant.
    pub repetitions: usize,
    /// Whether to compare procedures as well as statements.
    pub procedures: bool,
    /// An emulated link, over which everything is measured as well.
    pub link: Option<Link>,
    /// The client library.
    pub reference: ReferenceChoice,
    /// A Python interpreter that has firebird-driver.
    pub python: Option<PathBuf>,
}

/// What has been compared so far.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// Machine and server.
    pub environment: Environment,
    /// The runs, in the order in which they were made.
    pub turns: Vec<Turn>,
    /// The versions of firebird-driver and of Python, if it takes part.
    pub rival: Option<String>,
    /// Who is missing, and why.
    pub missing: Vec<String>,
}

/// A run of one contestant.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Turn {
    /// What was to be done, and where from.
    pub case: String,
    /// Who did it, and how.
    pub contestant: &'static str,
    /// Counted from 0.
    pub repetition: usize,
    /// What was found.
    pub run: Run,
}

/// Who does the operations.
#[derive(Clone, Copy, Debug)]
enum Who {
    Firearrow,
    Library,
    Python,
}

/// Who takes part: a name, the client, and the mode.
type Contestant = (&'static str, Who, Mode);

/// Each case has a contestant that is called firearrow: the one that others are compared with.
const PROCEDURES: [Contestant; 3] = [
    ("firearrow", Who::Firearrow, Mode::Sp),
    ("libfbclient", Who::Library, Mode::Sp),
    ("firebird-driver", Who::Python, Mode::Sp),
];
const STATEMENTS: [Contestant; 4] = [
    ("firearrow", Who::Firearrow, Mode::SqlPipelined),
    ("firearrow, one by one", Who::Firearrow, Mode::Sql),
    ("libfbclient", Who::Library, Mode::Sql),
    ("firebird-driver", Who::Python, Mode::Sql),
];

/// Where everything is compared: directly, or over a link.
struct Place<'a> {
    name: &'static str,
    config: &'a Config,
    reference: Reference,
    rival: Option<Rival>,
}

impl<'a> Place<'a> {
    /// Also tells who is missing there, and why.
    fn new(
        name: &'static str,
        config: &'a Config,
        info: &ServerInfo,
        options: &Options,
    ) -> (Self, Vec<String>) {
        let reference = Reference::find(&options.reference, config, info);
        let library = match &options.reference {
            ReferenceChoice::Client(path) => path.as_deref(),
            ReferenceChoice::Nothing(_) => None,
        };
        let rival = Rival::find(options.python.as_deref(), library, config, info);
        let mut missing = Vec::new();
        if let Reference::Absent(reason) = &reference {
            missing.push(format!("libfbclient: {reason}"));
        }
        if let Err(reason) = &rival {
            missing.push(format!("firebird-driver: {reason}"));
        }
        (Self { name, config, reference, rival: rival.ok() }, missing)
    }

    fn client(&self, who: Who) -> Option<Client<'_>> {
        match who {
            Who::Firearrow => Some(Client::Firearrow),
            Who::Library => self.reference.peer().map(Client::Library),
            Who::Python => self.rival.as_ref().map(Client::Python),
        }
    }
}

/// Compares on a loaded database. `done` gets what has been compared after each run.
///
/// # Errors
/// An error of running, an invalid run, and the errors of `done`.
pub fn compare(
    host: &dyn Host,
    config: &Config,
    options: &Options,
    done: &mut dyn FnMut(&Comparison) -> Result<()>,
) -> Result<Comparison> {
    if options.repetitions == 0 {
        return Err(Error::usage("a comparison needs a repetition"));
    }
    let info = host.open(config)?.info()?;
    let (nearby, missing) = Place::new("nearby", config, &info, options);
    let environment = Environment::read(config, &info, &nearby.reference, options.repetitions);
    let rival = nearby.rival.as_ref().map(|rival| rival.version.clone());
    let mut comparison = Comparison { environment, turns: Vec::new(), rival, missing };
    // The link exists as long as the proxy.
    let over = options.link.map(|link| emulated(config, link)).transpose()?;
    let mut places = vec![nearby];
    if let Some((config, _)) = &over {
        places.push(Place::new("over the link", config, &info, options).0);
    }
    let wanted: &[(&str, &[Contestant])] = match options.procedures {
        true => &[("procedures", &PROCEDURES), ("statements", &STATEMENTS)],
        false => &[("statements", &STATEMENTS)],
    };
    for place in &places {
        for (what, contestants) in wanted {
            let case = format!("{what}, {}", place.name);
            for repetition in 0..options.repetitions {
                // So that nobody always works on the smallest database.
                let mut order = contestants.to_vec();
                order.rotate_left(repetition % contestants.len());
                for contestant in order {
                    let Some(client) = place.client(contestant.1) else { continue };
                    host.check()?;
                    host.note(&format!(
                        "{case}: {}, {} of {}",
                        contestant.0,
                        repetition + 1,
                        options.repetitions
                    ));
                    let run = one(host, place.config, options, contestant, repetition, client)?;
                    comparison.turns.push(Turn {
                        case: case.clone(),
                        contestant: contestant.0,
                        repetition,
                        run,
                    });
                    done(&comparison)?;
                }
            }
        }
    }
    Ok(comparison)
}

fn one(
    host: &dyn Host,
    config: &Config,
    options: &Options,
    (name, _, mode): Contestant,
    repetition: usize,
    client: Client<'_>,
) -> Result<Run> {
    // Everybody gets the same inputs in the same repetition.
    let seed = options.run.seed.wrapping_add(repetition as u64);
    let run = run::run_with(host, config, &run::Options { mode, seed, ..options.run.clone() }, client)?;
    match run.is_valid() {
        true => Ok(run),
        false => Err(problems(name, &run)),
    }
}
