//! The same operations by firearrow, the client library and firebird-driver, in turns on one database.

use crate::campaign::problems;
use crate::rival::Rival;
use crate::run::{self, Client, Run};
use crate::schema;
use crate::way::Mode;
use firearrow::ServerInfo;
use firearrow::config::Config;
use firearrow_bench::{Blobs, Environment, Error, Host, Reference, ReferenceChoice, Result, emulated};
use firearrow_wan::Link;
use serde::Serialize;
use std::fmt;
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
    pub python: PathBuf,
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
    /// The emulated link.
    #[serde(skip)]
    pub link: Option<Link>,
    /// Who is missing, or has been dropped.
    pub missing: Vec<Missing>,
}

/// A client that does not take part, or does no more.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Missing {
    /// As [`Client::name`].
    pub client: &'static str,
    /// Where and how it would have worked, if it takes part elsewhere.
    pub case: Option<String>,
    /// Why not.
    pub reason: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.client)?;
        if let Some(case) = &self.case {
            write!(f, ", {case}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// A run of one contestant.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Turn {
    /// Where the operations came from.
    pub place: Place,
    /// Counted from 0.
    pub repetition: usize,
    /// What was found; also says who did it, and how.
    pub run: Run,
}

/// Where operations come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Directly.
    Nearby,
    /// Over the emulated link.
    Link,
}

/// Who does the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Firearrow,
    Library,
    Python,
}

/// Who takes part, and in which mode.
type Contestant = (Who, Mode);

const PROCEDURES: [Contestant; 3] =
    [(Who::Firearrow, Mode::Sp), (Who::Library, Mode::Sp), (Who::Python, Mode::Sp)];
const STATEMENTS: [Contestant; 4] = [
    (Who::Firearrow, Mode::SqlPipelined),
    (Who::Firearrow, Mode::Sql),
    (Who::Library, Mode::Sql),
    (Who::Python, Mode::Sql),
];

/// The clients, as they connect from one place.
struct Clients<'a> {
    place: Place,
    config: &'a Config,
    reference: Reference,
    rival: Option<Rival>,
}

impl<'a> Clients<'a> {
    /// Also tells who is missing there, and why: everybody else than firearrow connects once.
    fn find(
        host: &dyn Host,
        place: Place,
        config: &'a Config,
        info: &ServerInfo,
        options: &Options,
    ) -> Result<(Self, Vec<Missing>)> {
        let mut reference = Reference::find(&options.reference, config, info);
        if let Reference::Peer(peer) = &reference
            && let Err(error) = peer.fetch(host, "SELECT 1 FROM RDB$DATABASE", Blobs::Unread)
        {
            host.check()?;
            reference = Reference::Absent(error.to_string());
        }
        let library = match &options.reference {
            ReferenceChoice::Client(path) => path.as_deref(),
            ReferenceChoice::Nothing(_) => None,
        };
        let rival = Rival::find(host, &options.python, library, config, info);
        let mut missing = Vec::new();
        if let Reference::Absent(reason) = &reference {
            missing.push(Missing { client: "libfbclient", case: None, reason: reason.clone() });
        }
        if let Err(reason) = &rival {
            missing.push(Missing { client: "firebird-driver", case: None, reason: reason.clone() });
        }
        Ok((Self { place, config, reference, rival: rival.ok() }, missing))
    }

    fn client(&self, who: Who) -> Option<Client<'_>> {
        match who {
            Who::Firearrow => Some(Client::Firearrow),
            Who::Library => self.reference.peer().map(Client::Library),
            Who::Python => self.rival.as_ref().map(Client::Python),
        }
    }
}

/// Compares on a loaded database. `done` gets what has been compared: before the first run, and after each.
///
/// A client other than firearrow that fails, and a run that was too short to be worth anything, are dropped and named in
/// [`Comparison::missing`]; the others go on.
///
/// # Errors
/// An error of firearrow's own, a database that does not show what was done, the errors of `done`, and if nobody is left.
pub fn compare(
    host: &dyn Host,
    config: &Config,
    options: &Options,
    done: &mut dyn FnMut(&Comparison) -> Result<()>,
) -> Result<Comparison> {
    if options.repetitions == 0 {
        return Err(Error::usage("a comparison needs a repetition"));
    }
    let connection = host.open(config)?;
    let info = connection.info()?;
    // A database that is not loaded should be known before other clients are looked for.
    schema::meta(&connection)?;
    drop(connection);
    let (nearby, missing) = Clients::find(host, Place::Nearby, config, &info, options)?;
    let environment = Environment::read(config, &info, &nearby.reference, options.repetitions);
    let rival = nearby.rival.as_ref().map(|rival| rival.version.clone());
    let mut comparison = Comparison { environment, turns: Vec::new(), rival, link: options.link, missing };
    for missing in &comparison.missing {
        host.note(&format!("not compared: {missing}"));
    }
    // The link exists as long as the proxy.
    let over = options.link.map(|link| emulated(config, link)).transpose()?;
    let mut places = vec![nearby];
    if let Some((config, _)) = &over {
        let (clients, missing) = Clients::find(host, Place::Link, config, &info, options)?;
        for missing in missing {
            // Who is missing everywhere has been named.
            if !comparison.missing.iter().any(|known| known.client == missing.client) {
                let missing = Missing { case: Some(Place::Link.name().to_owned()), ..missing };
                host.note(&format!("not compared: {missing}"));
                comparison.missing.push(missing);
            }
        }
        places.push(clients);
    }
    done(&comparison)?;
    let wanted: &[&[Contestant]] = match options.procedures {
        true => &[&PROCEDURES, &STATEMENTS],
        false => &[&STATEMENTS],
    };
    for clients in &places {
        for contestants in wanted {
            let mut contestants = contestants.to_vec();
            for repetition in 0..options.repetitions {
                for contestant in contestants.clone() {
                    let (who, mode) = contestant;
                    let Some(client) = clients.client(who) else { continue };
                    host.check()?;
                    let name = client.name();
                    let case = format!("{}, {}", mode.name(), clients.place.name());
                    host.note(&format!("{name}, {case}: {} of {}", repetition + 1, options.repetitions));
                    match one(host, clients.config, options, mode, repetition, client)? {
                        Ok(run) => comparison.turns.push(Turn { place: clients.place, repetition, run }),
                        Err(reason) => {
                            let missing = Missing { client: name, case: Some(case), reason };
                            host.note(&format!("not compared: {missing}"));
                            comparison.missing.push(missing);
                            contestants.retain(|each| *each != contestant);
                            // Figures of fewer turns than others had would look like theirs.
                            comparison.turns.retain(|Turn { place, run, .. }| {
                                (*place, run.driver, run.mode) != (clients.place, name, mode)
                            });
                        }
                    }
                    done(&comparison)?;
                }
                // So that nobody always works on the smallest database.
                if !contestants.is_empty() {
                    contestants.rotate_left(1);
                }
            }
        }
    }
    match comparison.turns.is_empty() {
        true => {
            let reasons: Vec<String> =
                comparison.missing.iter().map(|missing| format!("\n  {missing}")).collect();
            Err(Error::other(format!("nothing was compared:{}", reasons.concat())))
        }
        false => Ok(comparison),
    }
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Self::Nearby => "nearby",
            Self::Link => "over the link",
        }
    }
}

/// A run, or why it is worth nothing.
fn one(
    host: &dyn Host,
    config: &Config,
    options: &Options,
    mode: Mode,
    repetition: usize,
    client: Client<'_>,
) -> Result<std::result::Result<Run, String>> {
    // Everybody gets the same inputs in the same repetition.
    let seed = options.run.seed.wrapping_add(repetition as u64);
    let name = client.name();
    match run::run_with(host, config, &run::Options { mode, seed, ..options.run.clone() }, client) {
        Ok(run) if run.is_valid() => Ok(Ok(run)),
        Ok(run) if run.is_exact => Ok(Err(run.problems.join("; "))),
        Ok(run) => Err(problems(name, &run)),
        Err(Error::Stopped) => Err(Error::Stopped),
        Err(error) if matches!(client, Client::Firearrow) => Err(error),
        // A server that does not answer is nobody's fault.
        Err(error) => host.open(config).map(|_| Err(error.to_string())).map_err(Error::from),
    }
}
