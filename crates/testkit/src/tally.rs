//! How the sessions of a campaign ended.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::worker::{Answer, Outcome};

/// Counts of sessions by outcome, and the seeds of those that failed.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    sessions: u64,
    ended: BTreeMap<String, u64>,
    /// Panics, deaths and hangs, and the seeds that lead there.
    failures: BTreeMap<String, Vec<u64>>,
    /// In KiB, and the seed.
    peak: (u64, u64),
    longest: (Duration, u64),
    /// Of the whole campaign.
    pub(crate) took: Duration,
}

impl Tally {
    /// How many sessions there were.
    pub fn sessions(&self) -> u64 {
        self.sessions
    }

    /// How many sessions ended in a way that begins with `text`.
    pub fn ended(&self, text: &str) -> u64 {
        self.ended.iter().filter(|(label, _)| label.starts_with(text)).map(|(_, count)| count).sum()
    }

    /// Panics, processes that died and sessions that did not end in time, each with the seeds that lead there.
    pub fn failures(&self) -> &BTreeMap<String, Vec<u64>> {
        &self.failures
    }

    /// How many sessions failed.
    pub fn failed(&self) -> usize {
        self.failures.values().map(Vec::len).sum()
    }

    /// The peak memory use of a worker, in bytes, and the seed of its session.
    pub fn peak(&self) -> (u64, u64) {
        (self.peak.0 << 10, self.peak.1)
    }

    /// The longest session, and its seed.
    pub fn longest(&self) -> (Duration, u64) {
        self.longest
    }

    /// Adds the counts of other sessions.
    pub fn merge(&mut self, other: Self) {
        self.sessions += other.sessions;
        for (label, count) in other.ended {
            *self.ended.entry(label).or_default() += count;
        }
        for (failure, seeds) in other.failures {
            self.failures.entry(failure).or_default().extend(seeds);
        }
        self.peak = self.peak.max(other.peak);
        self.longest = self.longest.max(other.longest);
        self.took += other.took;
    }

    pub(crate) fn add(&mut self, seed: u64, answer: Answer, took: Duration) {
        self.sessions += 1;
        self.peak = self.peak.max((answer.peak, seed));
        self.longest = self.longest.max((took, seed));
        let failure = match answer.outcome {
            Outcome::Ended(label) => {
                *self.ended.entry(label).or_default() += 1;
                return;
            }
            Outcome::Panicked(text) => format!("panic: {text}"),
            Outcome::Died(text) => format!("the process died: {text}"),
            Outcome::Hung => "no end in time".to_owned(),
        };
        self.failures.entry(failure).or_default().push(seed);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} sessions in {} s", self.sessions, self.took.as_secs())?;
        let mut ended: Vec<_> = self.ended.iter().collect();
        ended.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (label, count) in ended {
            writeln!(f, "{count:7}  {label}")?;
        }
        for (failure, seeds) in &self.failures {
            let some: Vec<String> = seeds.iter().take(8).map(u64::to_string).collect();
            let more = if seeds.len() > some.len() { ", …" } else { "" };
            writeln!(f, "{:7}  FAILED, {failure}; --seed {}{more}", seeds.len(), some.join(", "))?;
        }
        writeln!(f, "peak memory {} MiB (--seed {})", self.peak.0 >> 10, self.peak.1)?;
        write!(f, "longest session {:.1} s (--seed {})", self.longest.0.as_secs_f64(), self.longest.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_named_with_their_seeds() {
        let mut tally = Tally::default();
        let ended = |label: &str, peak| Answer { outcome: Outcome::Ended(label.into()), peak };
        tally.add(1, ended("ok", 2048), Duration::from_millis(100));
        tally.add(2, ended("ok", 4096), Duration::from_millis(200));
        tally.add(3, ended("Closed", 1024), Duration::from_millis(10));
        for seed in 10..20 {
            let outcome = Outcome::Panicked("src/x.rs:1 (text)".into());
            tally.add(seed, Answer { outcome, peak: 0 }, Duration::ZERO);
        }
        assert_eq!(
            tally.to_string(),
            "13 sessions in 0 s\n      2  ok\n      1  Closed\n     10  FAILED, panic: src/x.rs:1 (text); \
             --seed 10, 11, 12, 13, 14, 15, 16, 17, …\n\
             peak memory 4 MiB (--seed 2)\nlongest session 0.2 s (--seed 2)"
        );
        assert_eq!((tally.ended("ok"), tally.sessions(), tally.peak()), (2, 13, (4 << 20, 2)));
        assert_eq!(tally.failures()["panic: src/x.rs:1 (text)"].len(), 10);
        assert_eq!(tally.failed(), 10);
        tally.merge(tally.clone());
        assert_eq!((tally.ended("ok"), tally.sessions(), tally.peak()), (4, 26, (4 << 20, 2)));
        assert_eq!(tally.failures()["panic: src/x.rs:1 (text)"].len(), 20);
    }
}
