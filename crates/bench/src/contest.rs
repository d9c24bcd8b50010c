//! Firearrow and the reference, turn by turn.

use super::sample::Sample;
use super::server::Server;
use super::table::Case;
use crate::error::{Error, Result};
use crate::host::{Goal, Host};

/// Does the work of one repetition and returns its cost.
pub type Turn<'a> = Box<dyn FnMut() -> Result<Sample> + 'a>;

/// Two ways to do the same work in turns, and how many rows each must process.
pub struct Contest<'a> {
    name: String,
    link: Option<firearrow_wan::Link>,
    ours: (Turn<'a>, u64),
    rival: &'static str,
    reference: Option<(Turn<'a>, u64)>,
    reference_turns: usize,
}

impl<'a> Contest<'a> {
    /// Creates a contest of `ours` alone, perhaps over an emulated link. A turn with a number of rows other than `rows`
    /// is an error.
    pub fn new(
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

    /// Adds a reference, if there is one, under this name in tables. It must process `rows` rows.
    #[must_use]
    pub fn against(
        mut self,
        rival: &'static str,
        rows: u64,
        reference: Option<impl FnMut() -> Result<Sample> + 'a>,
    ) -> Self {
        self.rival = rival;
        self.reference = reference.map(|turn| (Box::new(turn) as Turn<'a>, rows));
        self
    }

    /// Limits the turns of a slow reference.
    #[must_use]
    pub fn reference_turns(mut self, turns: usize) -> Self {
        self.reference_turns = turns;
        self
    }
}

/// Runs contests and measures the server at the same time.
pub struct Stage<'a> {
    /// Shows the progress, and can stop the run.
    pub host: &'a dyn Host,
    /// The server whose processor time is measured.
    pub server: Server,
    /// Turns per contestant.
    pub repetitions: usize,
}

impl Stage<'_> {
    /// Runs all contests of a table, turn by turn, and returns a case for each. `table` is its name for the progress.
    ///
    /// The contests take turns as well, so that the lines of a table are comparable. The first contestant changes from
    /// turn to turn, because the second one finds server and machine warmed up.
    ///
    /// # Errors
    /// The errors of the turns, and [`Error::Other`] if a turn processes a wrong number of rows.
    pub fn run(&self, table: &str, mut contests: Vec<Contest<'_>>) -> Result<Vec<Case>> {
        let new = |contest: &Contest<'_>| Case {
            name: contest.name.clone(),
            link: contest.link,
            rival: contest.rival,
            ..Case::default()
        };
        let mut cases: Vec<Case> = contests.iter().map(new).collect();
        let progress = self.host.progress(Goal::Turns((self.repetitions * contests.len()) as u64));
        for repetition in 0..self.repetitions {
            for (contest, case) in contests.iter_mut().zip(&mut cases) {
                let Contest { name, link, ours, reference, reference_turns, .. } = contest;
                progress.tell(&format!("{table}, {name}"));
                // Threads of this process emulate the link, so its processor time is not that of the client.
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
        self.host.check()?;
        let before = self.server.cpu_seconds()?;
        let mut sample = turn()?;
        if sample.rows != *rows {
            let text = format!("{name}: {} rows, not {rows}; the figures are withheld", sample.rows);
            return Err(Error::other(text));
        }
        let after = self.server.cpu_seconds()?;
        sample.server_cpu_s = before.zip(after).map(|(before, after)| after - before);
        sample.cpu_s = sample.cpu_s.filter(|_| has_cpu);
        Ok(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Standalone;
    use std::cell::RefCell;

    fn stage(repetitions: usize) -> Stage<'static> {
        Stage { host: &Standalone, server: Server::Unknown("a test".to_owned()), repetitions }
    }

    #[test]
    fn contestants_take_turns_and_change_places() {
        let order = RefCell::new(String::new());
        let turn = |name: char| {
            order.borrow_mut().push(name);
            Ok(Sample { rows: 7, wall_s: 1.0, ..Sample::default() })
        };
        let contest = Contest::new("a", None, 7, || turn('o')).against("r", 7, Some(|| turn('r')));
        let cases = stage(4).run("t", vec![contest.reference_turns(3)]).unwrap();
        assert_eq!((cases[0].ours.len(), cases[0].reference.len()), (4, 3));
        assert_eq!(*order.borrow(), "orrooro");
    }

    #[test]
    fn a_turn_with_other_rows_has_no_figures() {
        let turn = |rows| move || Ok(Sample { rows, wall_s: 1.0, ..Sample::default() });
        let error = stage(1).run("t", vec![Contest::new("a", None, 7, turn(6))]).unwrap_err();
        assert_eq!(error.to_string(), "a: 6 rows, not 7; the figures are withheld");
        let contest = Contest::new("a", None, 7, turn(7)).against("r", 8, Some(turn(7)));
        assert!(stage(1).run("t", vec![contest]).is_err());
    }
}
