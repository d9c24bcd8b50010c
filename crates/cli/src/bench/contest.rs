//! Ours and the reference, turn by turn.

use super::sample::Sample;
use super::server::Server;
use super::table::Case;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::progress::Progress;

/// One repetition.
pub(super) type Turn<'a> = Box<dyn FnMut() -> Result<Sample> + 'a>;

/// Who runs against whom, and how many rows each must have dealt with.
pub(super) struct Contest<'a> {
    name: String,
    link: Option<firearrow_wan::Link>,
    ours: (Turn<'a>, u64),
    rival: &'static str,
    reference: Option<(Turn<'a>, u64)>,
    reference_turns: usize,
}

impl<'a> Contest<'a> {
    /// Ours alone, perhaps over an emulated link.
    pub(super) fn new(
        name: impl Into<String>,
        link: Option<firearrow_wan::Link>,
        rows: u64,
        ours: impl FnMut() -> Result<Sample> + 'a,
    ) -> Self {
        Self {
            name: name.into(),
            link,
            ours: (Box::new(ours), rows),
            rival: "",
            reference: None,
            reference_turns: usize::MAX,
        }
    }

    /// Against a reference of this name, if there is one.
    pub(super) fn against(
        mut self,
        rival: &'static str,
        rows: u64,
        reference: Option<impl FnMut() -> Result<Sample> + 'a>,
    ) -> Self {
        self.rival = rival;
        self.reference = reference.map(|turn| (Box::new(turn) as Turn<'a>, rows));
        self
    }

    /// Because it takes long.
    pub(super) fn reference_turns(mut self, turns: usize) -> Self {
        self.reference_turns = turns;
        self
    }
}

/// Where contests take place.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    pub(super) repetitions: usize,
    pub(super) server: &'a Server,
    pub(super) quiet: bool,
}

impl Stage<'_> {
    /// All contests of a table take turns, so that its lines can be compared as well as ours with the reference. Who begins
    /// changes from turn to turn: whoever is second finds server and machine warmer.
    pub(super) fn run(&self, table: &str, mut contests: Vec<Contest<'_>>) -> Result<Vec<Case>> {
        let new = |contest: &Contest<'_>| Case {
            name: contest.name.clone(),
            link: contest.link,
            rival: contest.rival,
            ..Case::default()
        };
        let mut cases: Vec<Case> = contests.iter().map(new).collect();
        let progress = Progress::turns((self.repetitions * contests.len()) as u64, self.quiet);
        for repetition in 0..self.repetitions {
            for (contest, case) in contests.iter_mut().zip(&mut cases) {
                let Contest { name, link, ours, reference, reference_turns, .. } = contest;
                progress.tell(&format!("{table}, {name}"));
                // Threads of this process carry the link, so that its processor time is not the client's.
                let has_cpu = link.is_none();
                match reference.as_mut().filter(|_| repetition < *reference_turns) {
                    None => case.ours.push(self.turn(name, ours, has_cpu)?),
                    Some(reference) if repetition % 2 == 0 => {
                        case.ours.push(self.turn(name, ours, has_cpu)?);
                        case.reference.push(self.turn(name, reference, has_cpu)?);
                    }
                    Some(reference) => {
                        case.reference.push(self.turn(name, reference, has_cpu)?);
                        case.ours.push(self.turn(name, ours, has_cpu)?);
                    }
                }
                progress.add(1);
            }
        }
        Ok(cases)
    }

    fn turn(&self, name: &str, (turn, rows): &mut (Turn<'_>, u64), has_cpu: bool) -> Result<Sample> {
        interrupt::check()?;
        let before = self.server.cpu_seconds()?;
        let mut sample = turn()?;
        if sample.rows != *rows {
            let text = format!("{name}: {} rows, not {rows}; the figures are withheld", sample.rows);
            return Err(Failure::other(text));
        }
        let after = self.server.cpu_seconds()?;
        sample.server_cpu_s = before.zip(after).map(|(before, after)| after - before);
        sample.cpu_s = sample.cpu_s.filter(|_| has_cpu);
        Ok(sample)
    }
}
