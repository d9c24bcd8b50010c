//! A tournament: everybody reads the same, turn by turn.

use super::entry::{Entry, LIBRARY};
use super::hash::Found;
use super::job::{Done, Job, of_wire};
use super::process::Process;
use super::subject::Subject;
use crate::error::{Error, Result};
use crate::host::{Host, Progress};
use crate::reference::{Blobs, Peer, Reference};
use crate::server::Server;
use crate::subprocess::Limits;
use firearrow_report::SampleLine;
use std::collections::BTreeMap;
use std::time::Duration;

/// What a tournament needs besides what is read.
pub(super) struct Tournament<'a> {
    pub(super) host: &'a dyn Host,
    pub(super) entries: &'a [Entry],
    pub(super) reference: &'a Reference,
    pub(super) server: &'a Server,
    pub(super) case: &'a str,
    pub(super) iterations: usize,
    pub(super) limit: Duration,
}

/// What came of a tournament.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) samples: Vec<SampleLine>,
    /// Who is missing or has failed, and why.
    pub(super) missing: Vec<(&'static str, String)>,
    /// What drivers say they are.
    pub(super) versions: BTreeMap<String, String>,
    /// Whether anybody who has samples has hashed the cells.
    pub(super) is_hashed: bool,
}

/// Somebody who takes part.
struct Player<'a> {
    name: &'static str,
    is_ours: bool,
    counts_only: bool,
    means: Means<'a>,
    samples: Vec<SampleLine>,
    /// Why it has no figures.
    failed: Option<String>,
}

enum Means<'a> {
    Process(Process<'a>),
    Library(&'a Peer),
}

impl<'a> Tournament<'a> {
    /// One discarded repetition, then the measured ones. Only those who never failed have samples. What was measured before an
    /// error is there as well.
    ///
    /// # Errors
    /// What goes wrong with firearrow's own contestants, and [`Host::check`].
    pub(super) fn run(&self, subject: &mut Subject, progress: &dyn Progress) -> (Outcome, Result<()>) {
        let (mut outcome, mut players) = (Outcome::default(), Vec::new());
        let mut played = self.play(subject, progress, &mut outcome, &mut players);
        for player in players {
            let Player { name, is_ours, counts_only, means, samples, mut failed } = player;
            if let (Means::Process(process), None, Ok(())) = (means, &failed, &played)
                && let Err(error) = process.finish()
            {
                failed = Some(error.to_string());
                played = told(subject, name, is_ours, error).map(drop);
            }
            match failed {
                None => {
                    outcome.is_hashed |= !counts_only && !samples.is_empty();
                    outcome.samples.extend(samples);
                }
                Some(reason) => outcome.missing.push((name, reason)),
            }
        }
        (outcome, played)
    }

    fn play(
        &self,
        subject: &mut Subject,
        progress: &dyn Progress,
        outcome: &mut Outcome,
        players: &mut Vec<Player<'a>>,
    ) -> Result<()> {
        for entry in self.entries {
            progress.tell(&format!("{}, {}: starting", subject.id, entry.name));
            match self.start(entry, subject) {
                Ok((player, version)) => {
                    if !version.is_empty() {
                        outcome.versions.insert(entry.name.to_owned(), version);
                    }
                    players.push(player);
                }
                Err(error) => {
                    let is_fatal = entry.must_start && entry.program.is_ok();
                    outcome.missing.push((entry.name, told(subject, entry.name, is_fatal, error)?));
                }
            }
            // Whoever comes first says what the columns are, if nobody knows, so the others start later.
            if let Some(player) = players.last_mut().filter(|player| player.name == entry.name) {
                self.turn(player, subject, 0)?;
            }
            progress.add(1);
        }
        match self.library() {
            Ok(mut library) => {
                let turned = self.turn(&mut library, subject, 0);
                players.push(library);
                turned?;
            }
            Err(reason) => outcome.missing.extend(reason.map(|reason| (LIBRARY.1, reason))),
        }
        progress.add(1);
        for repetition in 1..=self.iterations {
            for turn in 0..players.len() {
                // The first one changes from repetition to repetition.
                let at = (repetition + turn) % players.len();
                let player = &mut players[at];
                progress.tell(&format!("{}, {}", subject.id, player.name));
                if player.failed.is_none() {
                    self.turn(player, subject, repetition)?;
                }
                progress.add(1);
            }
        }
        Ok(())
    }

    fn start(&self, entry: &Entry, subject: &Subject) -> Result<(Player<'a>, String)> {
        self.host.check()?;
        let (program, job) = entry.program.as_ref().map_err(Error::other)?;
        let job = Job { sql: subject.sql.clone(), columns: subject.columns.clone(), ..job.clone() };
        let (process, version) = Process::start(self.host, program, &job, self.limit)?;
        let player = Player {
            name: entry.name,
            is_ours: entry.is_ours,
            counts_only: entry.counts_only,
            means: Means::Process(process),
            samples: Vec::new(),
            failed: None,
        };
        Ok((player, version))
    }

    /// The client library, or why it does not take part; without a reason, nobody has asked for it.
    fn library(&self) -> Result<Player<'a>, Option<String>> {
        let peer = match self.reference {
            Reference::Peer(peer) => peer,
            Reference::Absent(reason) => return Err((reason != NOT_WANTED).then(|| reason.clone())),
        };
        Ok(Player {
            name: LIBRARY.1,
            is_ours: false,
            counts_only: true,
            means: Means::Library(peer),
            samples: Vec::new(),
            failed: None,
        })
    }

    /// One repetition, which is kept unless its number is 0. What goes wrong is noted.
    fn turn(&self, player: &mut Player<'a>, subject: &mut Subject, repetition: usize) -> Result<()> {
        self.host.check()?;
        let before = self.server.cpu_seconds()?;
        let done = match &mut player.means {
            Means::Process(process) => process.turn(),
            Means::Library(peer) => by_library(self.host, peer, subject, self.limit),
        };
        let checked = done.and_then(|done| {
            subject.check(done.found()?, &done.columns, player.counts_only)?;
            Ok(done)
        });
        match checked {
            Ok(_) if repetition == 0 => {}
            Ok(done) => {
                let mut values = done.values(subject.cells());
                let after = self.server.cpu_seconds()?;
                if let Some((before, after)) = before.zip(after) {
                    values.insert("server_cpu_s".to_owned(), after - before);
                }
                if subject.is_empty {
                    values.insert("wall_per_claimed_row_s".to_owned(), done.wall_s() / CLAIMED_ROWS);
                }
                player.samples.push(SampleLine::new(
                    subject.id,
                    self.case,
                    player.name,
                    repetition - 1,
                    values,
                ));
            }
            Err(Error::Stopped) => return Err(Error::Stopped),
            Err(error) => {
                // Whatever becomes of the run, it has no figures.
                player.failed = Some(error.to_string());
                told(subject, player.name, player.is_ours, error)?;
            }
        }
        Ok(())
    }
}

/// The rows that a published benchmark divides the time of an empty table by.
pub(super) const CLAIMED_ROWS: f64 = 10_000.0;

/// The reason when the client library was not asked for.
pub(super) const NOT_WANTED: &str = "not wanted";

/// A failure for the list of the missing, or an error that ends the run.
fn told(subject: &Subject, name: &str, is_fatal: bool, error: Error) -> Result<String> {
    match error {
        Error::Stopped => Err(Error::Stopped),
        error if is_fatal => Err(Error::other(format!("{}, {name}: {error}", subject.id))),
        error => Ok(error.to_string()),
    }
}

/// A loop over the rows that makes nothing of them; BLOBs are read one by one.
fn by_library(host: &dyn Host, peer: &Peer, subject: &Subject, limit: Duration) -> Result<Done> {
    let blobs = if subject.may_have_blobs() { Blobs::Read } else { Blobs::Unread };
    let (run, seen) = peer.timed(host, &subject.sql, blobs, Limits::within(limit))?;
    let done = Done {
        connect_s: run.connect.wall_s,
        execute_s: run.execute.wall_s,
        drain_s: run.fetch(),
        release_s: run.release.wall_s,
        cpu_s: run.cpu(),
        peak_rss_bytes: run.peak_rss_bytes,
        more: run.wire.map(of_wire).unwrap_or_default(),
        ..Done::default()
    };
    // Loading the library and the engine come first, so there is no lower limit.
    done.check(seen)?;
    Ok(done.with(&Found { rows: run.rows, sums: Vec::new() }))
}
