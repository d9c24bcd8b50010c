//! When terminals begin their operations: one after the other, after a pause, or at moments that are given beforehand.

use crate::input::Operation;
use crate::random::Random;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The pause before an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Think {
    /// None.
    #[default]
    None,
    /// Keying and thinking times of TPC-C 5.2.5.7: 18 s and then about 12 s for a new order.
    Tpcc,
    /// The same each time.
    Fixed(Duration),
}

/// When terminals begin their operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Pace {
    /// The pause before an operation.
    pub think: Think,
    /// Operations per second of all terminals together, whatever the server does; latency then counts from the moment at which an
    /// operation was due. `None` = a terminal begins when its last operation is done.
    pub rate: Option<f64>,
}

/// Seconds of keying before an operation, and the mean of the seconds of thinking after it.
const TPCC: [(f64, f64); 5] = [(18.0, 12.0), (3.0, 12.0), (2.0, 10.0), (2.0, 5.0), (2.0, 5.0)];

/// The pace of one terminal.
pub(crate) struct Beat {
    pace: Pace,
    random: Random,
    /// With a rate: when the next operation is due, and the time between two of them.
    due: Instant,
    every: Duration,
    last: Option<Operation>,
}

/// When an operation begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// Not before this.
    pub(crate) at: Instant,
    /// Whether its latency counts from then on, even if it begins later.
    pub(crate) is_intended: bool,
}

impl Beat {
    /// `terminal` counts from 0. With a rate, the terminals take turns.
    pub(crate) fn new(pace: Pace, seed: u64, terminal: usize, terminals: usize) -> Self {
        let rate = pace.rate.unwrap_or(1.0);
        let seconds = |count: usize| Duration::from_secs_f64(count as f64 / rate);
        Self {
            pace,
            random: Random::new(seed, &[98, terminal as u64]),
            due: Instant::now() + seconds(terminal),
            every: seconds(terminals),
            last: None,
        }
    }

    /// When the next operation begins.
    pub(crate) fn next(&mut self, operation: Operation) -> Start {
        if self.pace.rate.is_some() {
            let at = self.due;
            self.due += self.every;
            return Start { at, is_intended: true };
        }
        let pause = match self.pace.think {
            Think::None => Duration::ZERO,
            Think::Fixed(pause) => pause,
            Think::Tpcc => {
                let (keying, _) = TPCC[operation as usize];
                let mean = self.last.map_or(0.0, |last| TPCC[last as usize].1);
                // Negative exponential, at most ten times the mean.
                let thinking = -mean * self.random.fraction().max(f64::MIN_POSITIVE).ln();
                Duration::from_secs_f64(keying + thinking.min(10.0 * mean))
            }
        };
        self.last = Some(operation);
        Start { at: Instant::now() + pause, is_intended: false }
    }

    /// Operations that were due by then and have not begun, the one with this start included.
    pub(crate) fn backlog(&self, start: Start, then: Instant) -> u64 {
        let late = then.checked_duration_since(start.at);
        match late.filter(|_| start.is_intended) {
            Some(late) => 1 + (late.as_secs_f64() / self.every.as_secs_f64()) as u64,
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_kept_whatever_operations_take() {
        let mut beats: Vec<Beat> = (0..4)
            .map(|terminal| Beat::new(Pace { rate: Some(100.0), ..Pace::default() }, 1, terminal, 4))
            .collect();
        let first = beats[0].next(Operation::Payment);
        let second = beats[0].next(Operation::Payment);
        assert_eq!(second.at - first.at, Duration::from_millis(40));
        assert!(first.is_intended);
        // The terminals take turns.
        let other = beats[1].next(Operation::NewOrder);
        let apart = (other.at - first.at).as_secs_f64();
        assert!((0.01..0.02).contains(&apart), "{apart}");
        let now = Instant::now();
        let early = Start { at: now + Duration::from_secs(5), is_intended: true };
        assert_eq!(beats[0].backlog(early, now), 0);
        let late = Start { at: now - Duration::from_millis(90), is_intended: true };
        assert_eq!(beats[0].backlog(late, now), 3);
    }

    #[test]
    fn pauses_are_those_of_the_rules() {
        let pause = |beat: &mut Beat, operation| {
            beat.next(operation).at.saturating_duration_since(Instant::now()).as_secs_f64()
        };
        let mut none = Beat::new(Pace::default(), 1, 0, 1);
        assert!(pause(&mut none, Operation::NewOrder) < 0.001);
        let fixed = Pace { think: Think::Fixed(Duration::from_secs(2)), rate: None };
        assert!((1.9..=2.0).contains(&pause(&mut Beat::new(fixed, 1, 0, 1), Operation::Delivery)));
        let mut tpcc = Beat::new(Pace { think: Think::Tpcc, rate: None }, 1, 0, 1);
        assert!((17.9..=18.0).contains(&pause(&mut tpcc, Operation::NewOrder)));
        let pauses: Vec<f64> = (0..2000).map(|_| pause(&mut tpcc, Operation::NewOrder)).collect();
        let mean = pauses.iter().sum::<f64>() / 2000.0;
        assert!((28.5..31.5).contains(&mean), "{mean}");
        assert!(pauses.iter().all(|pause| (17.9..=138.0).contains(pause)));
    }
}
