//! The same operations by firearrow and by the client library, in turns on one database.

use crate::campaign::problems;
use crate::run::{self, Client, Run};
use crate::way::Mode;
use firearrow::config::Config;
use firearrow_bench::{Environment, Error, Host, Peer, Reference, ReferenceChoice, Result, emulated};
use firearrow_wan::Link;
use serde::Serialize;

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
}

/// What has been compared so far.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// Machine and server.
    pub environment: Environment,
    /// The runs, in the order in which they were made.
    pub turns: Vec<Turn>,
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

/// Who takes part: a name, whether it is the client library, and the mode.
type Contestant = (&'static str, bool, Mode);

/// Each case has a contestant that is called firearrow: the one that others are compared with.
const PROCEDURES: [Contestant; 2] = [("firearrow", false, Mode::Sp), ("libfbclient", true, Mode::Sp)];
const STATEMENTS: [Contestant; 3] = [
    ("firearrow", false, Mode::SqlPipelined),
    ("firearrow, one by one", false, Mode::Sql),
    ("libfbclient", true, Mode::Sql),
];

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
    let reference = Reference::find(&options.reference, config, &info);
    let environment = Environment::read(config, &info, &reference, options.repetitions);
    let mut comparison = Comparison { environment, turns: Vec::new(), missing: Vec::new() };
    if let Reference::Absent(reason) = &reference {
        comparison.missing.push(format!("libfbclient: {reason}"));
    }
    // The link exists as long as the proxy.
    let over = options.link.map(|link| emulated(config, link)).transpose()?;
    let mut places = vec![("nearby", config, reference)];
    if let Some((config, _)) = &over {
        let reference = Reference::find(&options.reference, config, &info);
        places.push(("over the link", config, reference));
    }
    let wanted: &[(&str, &[Contestant])] = match options.procedures {
        true => &[("procedures", &PROCEDURES), ("statements", &STATEMENTS)],
        false => &[("statements", &STATEMENTS)],
    };
    for (place, config, reference) in &places {
        for (what, contestants) in wanted {
            let case = format!("{what}, {place}");
            for repetition in 0..options.repetitions {
                // So that nobody always works on the smallest database.
                let mut order = contestants.to_vec();
                order.rotate_left(repetition % contestants.len());
                for contestant in order {
                    let Some(client) = client(contestant, reference.peer()) else { continue };
                    host.check()?;
                    host.note(&format!(
                        "{case}: {}, {} of {}",
                        contestant.0,
                        repetition + 1,
                        options.repetitions
                    ));
                    let run = one(host, config, options, contestant, repetition, client)?;
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

fn client<'a>((_, is_library, _): Contestant, peer: Option<&'a Peer>) -> Option<Client<'a>> {
    if is_library { peer.map(Client::Library) } else { Some(Client::Firearrow) }
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
