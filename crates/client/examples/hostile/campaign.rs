//! The command line of a campaign.

use firearrow_testkit::{Campaign, Generation, Server, Tally, work};
use std::error::Error;
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Has the URL of the database in a worker, and nothing else where there is none.
const URL: &str = "FIREARROW_HOSTILE_URL";

/// Sessions that are played with one server.
const STRETCH: u64 = 500;

/// How a session ends that the server does not answer.
const SILENCE: &str = "Timeout (connecting)";

/// So few sessions tell nothing of the server.
const MOST_SILENT: u64 = 100;

/// How often a server may fall silent in a campaign.
const MOST_TIMES: u32 = 20;

/// What can be given on the command line.
struct Arguments {
    servers: Vec<Generation>,
    sessions: u64,
    seed: u64,
    parallel: usize,
    /// Seconds for a session.
    limit: u64,
    /// MiB that a worker may allocate.
    memory: u64,
    hostile_client: bool,
    verbose: bool,
}

/// Plays what the command line says, or is a worker.
pub(crate) fn main<E: Error + 'static>(
    create: fn(&str) -> Result<(), E>,
    play: fn(u64, u16, &str) -> String,
) -> Result<ExitCode, Box<dyn Error>> {
    if let Ok(url) = std::env::var(URL) {
        work(|seed, port| play(seed, port, &url));
        return Ok(ExitCode::SUCCESS);
    }
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let mut failed = false;
    for generation in &arguments.servers {
        let (mut tally, mut server_version, mut silent) = (Tally::default(), String::new(), 0);
        // A server may die of what a client makes of damaged answers, or be silent from then on.
        while tally.sessions() < arguments.sessions {
            let server = match Server::start(*generation) {
                Ok(server) => server,
                Err(skip) => {
                    eprintln!("skipped {skip}");
                    break;
                }
            };
            server.version().clone_into(&mut server_version);
            let url = server.url("hostile");
            create(&url)?;
            let played = arguments.play(&server, &url, tally.sessions())?;
            // Sessions that nobody answers try nothing. Servers have fallen silent with all of their threads waiting.
            let is_silent = played.ended(SILENCE) * 5 > played.sessions().max(MOST_SILENT);
            // What failed meanwhile counts in any case.
            if is_silent && played.failed() == 0 {
                silent += 1;
                eprintln!(
                    "Firebird {server_version} fell silent; the same sessions again with another server"
                );
                if silent > MOST_TIMES {
                    return Err(format!("Firebird {server_version} falls silent each time").into());
                }
                continue;
            }
            tally.merge(played);
            let (played, failed) = (tally.sessions(), tally.failed());
            eprintln!(
                "Firebird {server_version}: {played} of {} sessions, {failed} failed",
                arguments.sessions
            );
        }
        if tally.sessions() == 0 {
            continue;
        }
        println!("Firebird {server_version}, --seed {}: {tally}", arguments.seed);
        failed |= !tally.failures().is_empty();
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

impl Arguments {
    /// Plays a stretch of what is left after so many sessions.
    fn play(&self, server: &Server, url: &str, after: u64) -> std::io::Result<Tally> {
        let end = self.sessions.min(after + STRETCH);
        let campaign = Campaign {
            server: server.address(),
            server_process: Some(server.process_id()),
            seeds: self.seed + after..self.seed + end,
            parallel: self.parallel,
            limit: Duration::from_secs(self.limit),
            memory: self.memory << 20,
            hostile_client: self.hostile_client,
            verbose: self.verbose,
        };
        let program = std::env::current_exe()?;
        campaign.run(|| {
            let mut command = Command::new(&program);
            command.env(URL, url);
            command
        })
    }

    fn parse(mut given: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut arguments = Self {
            servers: Vec::new(),
            sessions: 1000,
            seed: 1,
            parallel: 4,
            limit: 30,
            memory: 512,
            hostile_client: false,
            verbose: false,
        };
        while let Some(name) = given.next() {
            let mut value = || given.next().ok_or_else(|| format!("{name} needs a value"));
            match name.as_str() {
                "--server" => {
                    let version = value()?;
                    let generation = Generation::ALL.into_iter().find(|each| each.number() == version);
                    arguments.servers.push(generation.ok_or("servers are 3.0, 4.0 and 5.0")?);
                }
                "--sessions" => arguments.sessions = value()?.parse()?,
                "--seed" => arguments.seed = value()?.parse()?,
                "--parallel" => arguments.parallel = value()?.parse()?,
                "--limit" => arguments.limit = value()?.parse()?,
                "--memory" => arguments.memory = value()?.parse()?,
                "--hostile-client" => arguments.hostile_client = true,
                "--verbose" => arguments.verbose = true,
                other => return Err(format!("{other} is not known; the source says what there is").into()),
            }
        }
        if arguments.servers.is_empty() {
            arguments.servers = Generation::ALL.to_vec();
        }
        Ok(arguments)
    }
}
